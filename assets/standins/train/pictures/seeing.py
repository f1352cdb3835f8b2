"""First stage: tower and resampler learn to see, through heads that are thrown away afterwards."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from . import network, optimizing, patches, scene, start

BATCH = 48
"""Pictures a step, every one drawn anew: seen again, they would soon be known by heart."""
MARKS, ATTENTION, EMPTY = 4.0, 0.3, 0.15
"""Weights of the losses beside the fields' own, and of the cells in which nothing lies."""
SHOWN = 50


def labels(what: scene.Scene) -> list[int]:
    """Return the classes of the fields of FIELDS."""
    digits = [int(digit) for digit in what.number]
    return [
        list(scene.COLOURS).index(what.colour),
        list(scene.BACKGROUNDS).index(what.background),
        scene.SHAPES.index(what.shape) if what.shape else len(scene.SHAPES),
        what.count,
        *digits,
        *[10] * (scene.LONGEST - len(digits)),
    ]


FIELDS = (
    len(scene.COLOURS),
    len(scene.BACKGROUNDS),
    len(scene.SHAPES) + 1,
    scene.MOST + 1,
    *[11] * scene.LONGEST,
)
"""Classes of: colour, background, shape (or none), count, each digit (or none)."""
POOLED = 4
"""So many of the first fields are read from the mean of the tokens too."""


class Heads(nn.Module):
    """Classifiers of the fields: behind a query each that reads the visual tokens, and behind their
    mean; and of what lies in each cell.
    """

    def __init__(self) -> None:
        """Build them untrained."""
        super().__init__()
        self.query = nn.Parameter(torch.randn(len(FIELDS), network.HIDDEN))
        self.place = nn.Parameter(0.3 * torch.randn(network.QUERIES, network.HIDDEN))
        self.attn = nn.MultiheadAttention(network.HIDDEN, 4, batch_first=True)
        self.inner = nn.Linear(network.HIDDEN, 2 * network.HIDDEN)
        self.out = nn.ModuleList(nn.Linear(2 * network.HIDDEN, size) for size in FIELDS)
        self.mean = nn.ModuleList(nn.Linear(network.HIDDEN, size) for size in FIELDS[:POOLED])
        self.cell = nn.Linear(network.HIDDEN, len(patches.CELL_NAMES))
        self.cell_order = nn.Linear(network.HIDDEN, scene.LONGEST + 1)

    def pooled(self, tokens: torch.Tensor) -> list[torch.Tensor]:
        """Return the scores of the first fields, read from the mean of the visual tokens.

        A language model attends evenly at its start; what the mean holds it reads at once.
        """
        mean = tokens.mean(1)
        return [out(mean) for out in self.mean]

    def forward(self, tokens: torch.Tensor) -> list[torch.Tensor]:
        """Return the scores of each field."""
        keys = tokens + self.place
        query = self.query.unsqueeze(0).expand(len(tokens), -1, -1)
        read = F.gelu(self.inner(self.attn(query, keys, keys, need_weights=False)[0]))
        return [out(read[:, index]) for index, out in enumerate(self.out)]


@dataclass(frozen=True)
class Losses:
    """The losses of a step, and the share of right answers of each field."""

    fields: torch.Tensor
    marks: torch.Tensor
    attention: torch.Tensor
    right: torch.Tensor

    def total(self) -> torch.Tensor:
        """Return what is minimised."""
        return self.fields + MARKS * self.marks + ATTENTION * self.attention


def losses(
    heads: Heads,
    seen: list[patches.Seen],
    tokens: torch.Tensor,
    attention: torch.Tensor,
) -> Losses:
    """Return the losses over a batch: the fields, each cell, and where each query looks.

    Args:
        seen: pictures of one slice each.
        tokens, attention: what the model sees in them.
    """
    wanted = torch.tensor([labels(one.scene) for one in seen])
    there = torch.tensor([one.cells for one in seen]).flatten()
    order = torch.tensor([one.order for one in seen]).flatten()
    with torch.autocast("cpu", torch.bfloat16):
        scores, pooled = heads(tokens), heads.pooled(tokens)
        cells, places = heads.cell(tokens), heads.cell_order(tokens)
    longest, grids = attention.shape[-1], [one.grids[0] for one in seen]
    look = torch.stack(
        [F.pad(network.spread(grid), (0, longest - grid[0] * grid[1])) for grid in grids]
    )
    rare = torch.tensor([EMPTY] + [1.0] * (len(patches.CELL_NAMES) - 1))
    by_field = [
        F.cross_entropy(one.float(), wanted[:, i])
        for both in (scores, pooled)
        for i, one in enumerate(both)
    ]
    right = [(one.argmax(-1) == wanted[:, i]).float().mean() for i, one in enumerate(scores)]
    return Losses(
        torch.stack(by_field).sum(),
        F.cross_entropy(cells.float().flatten(0, 1), there, weight=rare)
        + 0.5
        * F.cross_entropy(
            places.float().flatten(0, 1), order, weight=rare[: scene.LONGEST + 1].contiguous()
        ),
        -(look * attention).sum(-1).mean(),
        torch.stack(right),
    )


def train(model: network.Model, heads: Heads, steps: int, seed: int) -> None:
    """Train tower, resampler and heads in place."""
    started = time.monotonic()
    optimizers = optimizing.build([(model.vpm, 1.0), (model.resampler, 1.0), (heads, 1.0)])
    trained = nn.ModuleList([model.vpm, model.resampler, heads])
    rng = random.Random(seed)
    start.prepare(model, patches.batch([patches.draw_one(rng) for _ in range(BATCH)]).patches)
    right = torch.zeros(len(FIELDS))
    for step in range(1, steps + 1):
        seen = [patches.draw_one(rng) for _ in range(BATCH)]
        with torch.autocast("cpu", torch.bfloat16):
            tokens, attention = model.see(patches.batch(seen))
        found = losses(heads, seen, tokens, attention)
        found.total().backward()
        nn.utils.clip_grad_norm_(trained.parameters(), 1.0)
        optimizing.step(optimizers, optimizing.share(step, steps))
        right += found.right
        if step % SHOWN == 0:
            shares = " ".join(f"{value:.2f}" for value in (right / SHOWN).tolist())
            print(
                f"seeing {step}  fields {float(found.fields.detach()):.3f}  "
                f"marks {float(found.marks.detach()):.3f}  right {shares}  "
                f"{time.monotonic() - started:.0f} s",
                flush=True,
            )
            right.zero_()
