"""Pictures to what the network is trained on: the shipped slicing, then averaged pixels a patch."""

from __future__ import annotations

import importlib.util
import math
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
import torch
from PIL import Image

from . import draw, network, scene

SHIPPED = Path(__file__).resolve().parents[2] / "minicpm_v"
MAX_SLICES = 9


def _shipped_slicing() -> ModuleType:
    spec = importlib.util.spec_from_file_location("minicpm_v_slicing", SHIPPED / "slicing.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


slicing = _shipped_slicing()


@dataclass(frozen=True)
class Seen:
    """A scene with its slices: patches (patches, values) as uint8, and (rows, columns) of each.

    `cells` names what has its middle in each cell of the picture, one cell a visual token;
    `order` is the place of a digit in its number, from 1, and 0 elsewhere.
    """

    scene: scene.Scene
    size: tuple[int, int]
    slices: tuple[np.ndarray, ...]
    grids: tuple[tuple[int, int], ...]
    cells: tuple[int, ...]
    order: tuple[int, ...]


CELL_NAMES = ("", *scene.SHAPES, *"0123456789")


def _cells(
    size: tuple[int, int], marks: list[draw.Mark]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    side = math.isqrt(network.QUERIES)
    cells, order = [0] * network.QUERIES, [0] * network.QUERIES
    for index, mark in enumerate(marks):
        row = min(int(mark.y / size[1] * side), side - 1)
        column = min(int(mark.x / size[0] * side), side - 1)
        cells[row * side + column] = CELL_NAMES.index(mark.name)
        order[row * side + column] = index + 1 if mark.name.isdigit() else 0
    return tuple(cells), tuple(order)


def _patches(image: Image.Image) -> tuple[np.ndarray, tuple[int, int]]:
    side = network.PATCH // network.POOL
    pixels = np.asarray(image.reduce(network.POOL))
    rows, columns = pixels.shape[0] // side, pixels.shape[1] // side
    split = pixels.reshape(rows, side, columns, side, 3).transpose(0, 2, 4, 1, 3)
    return np.ascontiguousarray(split.reshape(rows * columns, -1)), (rows, columns)


def see(what: scene.Scene, image: Image.Image, marks: list[draw.Mark]) -> Seen:
    """Return a picture as the network takes it."""
    pieces = slicing.slice_image(image, MAX_SLICES, network.SCALE, network.PATCH)
    done = [_patches(piece) for piece in pieces]
    return Seen(
        what,
        image.size,
        tuple(values for values, _ in done),
        tuple(grid for _, grid in done),
        *_cells(image.size, marks),
    )


def _size(rng: random.Random, what: scene.Scene, large: bool) -> tuple[int, int]:
    """Return a random size; three in ten pictures are not square, up to about 16:9."""
    area = rng.uniform(500, 1300) if large else rng.uniform(120, 440)
    ratio = 1.0
    if rng.random() < 0.3:
        ratio = 2 ** rng.uniform(-0.85, 0.85)
        if len(what.number) > 2 and ratio < 0.8:
            ratio = 1 / ratio
    return round(area * ratio**0.5), round(area / ratio**0.5)


def draw_one(rng: random.Random, *, large: bool = False, numbers: float = 0.55) -> Seen:
    """Return a random training picture; a large one is cut into slices."""
    while True:
        what = scene.training_scene(rng, numbers)
        try:
            image, marks = draw.marked(what, _size(rng, what, large), rng.randrange(10**9))
        except ValueError:
            continue
        return see(what, image, marks)


def batch(pictures: list[Seen]) -> network.Pictures:
    """Return all slices of the pictures as one batch."""
    slices = [torch.from_numpy(piece) for seen in pictures for piece in seen.slices]
    grids = [grid for seen in pictures for grid in seen.grids]
    lengths = torch.tensor([len(piece) for piece in slices])
    padded = torch.nn.utils.rnn.pad_sequence(slices, batch_first=True).float().div_(127.5).sub_(1)
    places = torch.nn.utils.rnn.pad_sequence(
        [network.places(*grid) for grid in grids], batch_first=True
    )
    padding = torch.arange(padded.shape[1])[None] >= lengths[:, None]
    return network.Pictures(padded, places, padding if bool(padding.any()) else None, grids)
