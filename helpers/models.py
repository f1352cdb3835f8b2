"""Which checkpoint a lab serves, and whether the directory can be served at all. Downloads nothing
(`download` will).
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from helpers import catalog, messages, paths
from helpers.errors import LabError, ModelEmpty, ModelMissing, ModelNoConfig, ModelNoWeights

WEIGHTS = ("*.safetensors", "*.bin", "*.gguf")


@dataclass(frozen=True)
class Model:
    """One checkpoint on disk.

    Attributes:
        path: its directory; None for a model that a remote server holds.
        name: the served model name that the course uses for it.
        stand_in: True where it is the course's own small model; an answer from it is always
            labelled so.
        max_context: `max_position_embeddings` of its config.json, in tokens, or None.
        bytes: size of its weight files.
    """

    path: Path | None
    name: str
    stand_in: bool = False
    max_context: int | None = None
    bytes: int = 0

    def __str__(self) -> str:
        where = paths.shown(self.path) if self.path else "remote"
        label = messages.text("model.stand_in") if self.stand_in else ""
        return f"{self.name} · {where} · {self.bytes / 1e6:,.1f} MB {label}".rstrip()


def find(lab_id: str, engine_name: str, model_dir: str = "", served_model_name: str = "") -> Model:
    """Return the checkpoint that a lab serves on an engine.

    MODEL_DIR if given; else, on Ascend, the first complete copy in the catalogue's search list; on
    the CPU the stand-in.

    Args:
        lab_id: key of the catalogue.
        engine_name: "ascend", "cpu" or "remote".
        model_dir: directory of a checkpoint, or "" to search.
        served_model_name: name in requests; "" takes the catalogue's.
    Raises:
        ModelMissing, ModelEmpty, ModelNoConfig, ModelNoWeights: the directory given, or all that
            were searched.
    """
    entry = catalog.lab(lab_id)
    name = served_model_name or entry["model"]
    if engine_name == "remote":
        return Model(None, name)
    if model_dir:
        return inspect(Path(model_dir).expanduser().absolute(), name)
    searched = [_expanded(place) for place in entry["model_dirs"].get(engine_name, [])]
    for place in searched:
        try:
            return inspect(place, name)
        except LabError:
            continue
    listed = "\n".join(f"{paths.shown(place)}: {_state(place)}" for place in searched)
    raise ModelMissing(
        path=paths.shown(searched[0]) if searched else "MODEL_DIR", evidence=listed or None
    )


def inspect(path: Path, name: str) -> Model:
    """Return the checkpoint in a directory, after the checks that vLLM would need half a minute
    for.

    Raises:
        ModelMissing: no such directory, or it cannot be read.
        ModelEmpty: nothing in it.
        ModelNoConfig: no config.json that can be read.
        ModelNoWeights: a config.json without weights beside it.
    """
    shown = paths.shown(path)
    try:
        entries = sorted(entry.name for entry in path.iterdir())
    except OSError as error:
        raise ModelMissing(path=shown, original=paths.shown(error)) from error
    listing = "\n".join(entries[:20])
    if not entries:
        raise ModelEmpty(path=shown)
    try:
        config = json.loads((path / "config.json").read_text(encoding="utf-8"))
        if not isinstance(config, dict):
            raise ValueError(f"config.json: {type(config).__name__}")
    except (OSError, ValueError) as error:
        raise ModelNoConfig(path=shown, original=paths.shown(error), evidence=listing) from error
    weights = [file for pattern in WEIGHTS for file in path.glob(pattern)]
    if not weights:
        raise ModelNoWeights(path=shown, evidence=listing)
    for file in weights:
        if _is_pointer(file):
            first = file.read_text(encoding="utf-8", errors="replace").strip()
            raise ModelNoWeights(path=shown, evidence=listing, original=f"{file.name}: {first}")
    return Model(
        path=path,
        name=name,
        stand_in=bool(config.get("stand_in")),
        max_context=config.get("max_position_embeddings"),
        bytes=sum(file.stat().st_size for file in weights),
    )


def _is_pointer(file: Path) -> bool:
    """Return True for what git leaves in place of a large file that git-lfs has not fetched."""
    marker = b"version https://git-lfs.github.com/spec/"
    with file.open("rb") as opened:
        return opened.read(len(marker)) == marker


def _expanded(place: str) -> Path:
    path = Path(os.path.expandvars(place)).expanduser()
    return path if path.is_absolute() else paths.ROOT / path


def _state(place: Path) -> str:
    try:
        inspect(place, "")
    except LabError as error:
        return error.what
    return "ok"
