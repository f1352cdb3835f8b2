"""Which checkpoint a lab serves, and whether the directory can be served at all. Downloads nothing
(`download` will).
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers import catalog, messages, paths
from helpers.errors import LabError, ModelEmpty, ModelMissing, ModelNoConfig, ModelNoWeights

CAPABILITIES = ("thinking", "tools", "images", "course_facts")
"""thinking: the chat template knows enable_thinking; tools: it knows tools; images: the model has a
vision tower; course_facts: it is the stand-in, or of the course's own family (whose template knows
thinking).
"""

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
        capabilities: of CAPABILITIES those that it has; a checkpoint that needs another is skipped.
            None where nobody can tell, as of a remote server before it was asked.
    """

    path: Path | None
    name: str
    stand_in: bool = False
    max_context: int | None = None
    bytes: int = 0
    capabilities: frozenset[str] | None = None

    @property
    def origin(self) -> str:
        """Return what a report calls it: the course's name for its own checkpoints, else the name
        of the directory, since SERVED_MODEL_NAME may say anything.
        """
        return self.name if self.path is None or self.stand_in else self.path.name

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
        if is_pointer(file):
            first = file.read_text(encoding="utf-8", errors="replace").strip()
            raise ModelNoWeights(path=shown, evidence=listing, original=f"{file.name}: {first}")
    return Model(
        path=path,
        name=name,
        stand_in=bool(config.get("stand_in")),
        max_context=config.get("max_position_embeddings"),
        bytes=sum(file.stat().st_size for file in weights),
        capabilities=_capabilities(path, config),
    )


def _capabilities(path: Path, config: dict[str, Any]) -> frozenset[str]:
    """Return what the checkpoint's chat template and config.json show that it has."""
    template = _chat_template(path)
    found = {"thinking"} if "enable_thinking" in template else set()
    if "tools" in template:
        found.add("tools")
    if "vision_config" in config:
        found.add("images")
    if config.get("stand_in") or "thinking" in found:
        found.add("course_facts")
    return frozenset(found)


def _chat_template(path: Path) -> str:
    """Return the chat template beside the weights, or "" where there is none to be read."""
    try:
        return (path / "chat_template.jinja").read_text(encoding="utf-8")
    except (OSError, ValueError):
        pass
    try:
        config = json.loads((path / "tokenizer_config.json").read_text(encoding="utf-8"))
        return json.dumps(config.get("chat_template") or "")
    except (OSError, ValueError, AttributeError):
        return ""


def is_pointer(file: Path) -> bool:
    """Return True for what git leaves in place of a large file that git-lfs has not fetched, False
    also for a file that cannot be read.
    """
    marker = b"version https://git-lfs.github.com/spec/"
    try:
        with file.open("rb") as opened:
            return opened.read(len(marker)) == marker
    except OSError:
        return False


def _expanded(place: str) -> Path:
    path = Path(os.path.expandvars(place)).expanduser()
    return path if path.is_absolute() else paths.ROOT / path


def _state(place: Path) -> str:
    try:
        inspect(place, "")
    except LabError as error:
        return error.what
    return "ok"
