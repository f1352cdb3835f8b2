"""A copy of a model with one weight file cut in half, as a broken download leaves it. The model
itself is never touched: every other file of the copy is a link to it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from helpers import paths
from helpers.models import WEIGHTS, Model

CHUNK = 1 << 20


def place(model: Model) -> Path:
    """Return the folder of the copy, below the state directory."""
    assert model.path is not None
    return paths.state_dir() / "faults" / model.path.name


def cut_in_half(model: Model, copy: Model) -> Path:
    """Make the copy in its folder and return the file that was cut: the smallest of the weights.

    Args:
        model: the whole one.
        copy: has the folder; what an earlier call left there is replaced.
    """
    assert model.path is not None and copy.path is not None
    remove(copy)
    copy.path.mkdir(parents=True)
    weights = [file for pattern in WEIGHTS for file in model.path.glob(pattern)]
    chosen = min(weights, key=lambda file: (file.stat().st_size, file.name))
    for file in model.path.iterdir():
        if file != chosen:
            (copy.path / file.name).symlink_to(file.resolve())
    target = copy.path / chosen.name
    left = chosen.stat().st_size // 2
    with chosen.open("rb") as source, target.open("wb") as sink:
        while left > 0 and (data := source.read(min(CHUNK, left))):
            sink.write(data)
            left -= len(data)
    return target


def remove(copy: Model) -> None:
    """Remove a copy; what its links lead to stays."""
    assert copy.path is not None
    shutil.rmtree(copy.path, ignore_errors=True)
