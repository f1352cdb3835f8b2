"""The course's models as the memory formula needs them: from models.yml before a download, from a
directory's config.json and weight files afterwards.

Not for finding a checkpoint; `helpers.models` does.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import yaml

from helpers.doctor import memory
from helpers.doctor.memory import Shape


@dataclass(frozen=True)
class Known:
    """A model of the course as models.yml has it, before it is downloaded."""

    name: str
    shape: Shape
    download_bytes: int
    source: str


@lru_cache(maxsize=1)
def all_known() -> tuple[Known, ...]:
    """Return the course's models in the order of models.yml."""
    loaded = yaml.safe_load(Path(__file__).with_name("models.yml").read_text(encoding="utf-8"))
    return tuple(
        Known(
            name=entry["name"],
            shape=memory.shape_of(entry["config"], entry["download_bytes"]),
            download_bytes=entry["download_bytes"],
            source=entry["source"],
        )
        for entry in loaded
    )


def shape_in(directory: str | Path) -> Shape:
    """Return the shape of a model that is on disk, by its config.json and its weight files.

    Raises:
        OSError, ValueError, KeyError: no config.json that says enough.
    """
    folder = Path(directory)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    size = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
    return memory.shape_of(config, size or None)
