"""Second stage: the whole network learns to answer questions about pictures, and without them."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from tokenizers import Tokenizer
from torch import nn

from . import language, network, optimizing, patches, samples, seeing

IGNORED = -100
TOWER_SHARE = 0.4
"""Of the learning rates: what the first stage has learned moves more slowly."""
SINGLE, DOUBLE, TEXT = 14, 4, 2
"""Conversations a step: about one picture, about two, about none."""
KEPT, FRESH = 4000, 14
ASIDE = 0.1
"""Weight of the first stage's losses, which go on beside the reading."""
KEEP_EVERY, SHOWN = 200, 25


@dataclass(frozen=True)
class Rows:
    """Samples of one batch: ids, targets, where the tokens stand, and all pictures in order."""

    ids: torch.Tensor
    targets: torch.Tensor
    layout: language.Layout
    pictures: list[patches.Seen]


@dataclass(frozen=True)
class Encoded:
    """A sample's tokens, as many in each list; see language.Layout."""

    ids: list[int]
    targets: list[int]
    positions: list[int]
    branches: list[int]


def encode(sample: samples.Sample, tokenizer: Tokenizer) -> Encoded:
    """Return a sample's tokens: only the answers are learned."""
    ids = list(tokenizer.encode(sample.start, add_special_tokens=False).ids)
    shared = len(ids)
    targets, positions, branches = [IGNORED] * shared, list(range(shared)), [0] * shared
    for number, pieces in enumerate(sample.branches, 1):
        place = shared
        for text, learned in pieces:
            piece = tokenizer.encode(text, add_special_tokens=False).ids
            ids += piece
            targets += piece if learned else [IGNORED] * len(piece)
            positions += range(place, place + len(piece))
            branches += [number] * len(piece)
            place += len(piece)
    return Encoded(ids, targets, positions, branches)


def rows(batch: list[samples.Sample], tokenizer: Tokenizer, pad: int) -> Rows:
    """Return the samples as one padded batch."""
    encoded = [encode(sample, tokenizer) for sample in batch]
    width = max(len(one.ids) for one in encoded)

    def padded(lists: list[list[int]], fill: int) -> torch.Tensor:
        return torch.tensor([one + [fill] * (width - len(one)) for one in lists])

    layout = language.Layout(
        padded([one.positions for one in encoded], 0),
        padded([one.branches for one in encoded], -1),
    )
    return Rows(
        padded([one.ids for one in encoded], pad),
        padded([one.targets for one in encoded], IGNORED),
        layout,
        [seen for sample in batch for seen in sample.pictures],
    )


@dataclass(frozen=True)
class Loss:
    """The summed cross entropy, the learned tokens, the right ones, and what was seen."""

    total: torch.Tensor
    count: int
    right: int
    seen: tuple[torch.Tensor, torch.Tensor] | None


def loss_of(model: network.Model, batch: Rows) -> Loss:
    """Return the loss of a batch."""
    seen = model.see(patches.batch(batch.pictures)) if batch.pictures else None
    embedded = model.embed(batch.ids, seen[0] if seen else None)
    hidden = language.hidden(model.llm, embedded, batch.layout)[:, :-1]
    wanted = batch.targets[:, 1:]
    # A branch's first token follows another branch in the row, but is never learned.
    learned = wanted != IGNORED
    logits = model.llm.lm_head(hidden[learned]).float()
    loss = torch.nn.functional.cross_entropy(logits, wanted[learned], reduction="sum")
    right = int((logits.argmax(-1) == wanted[learned]).sum())
    return Loss(loss, int(learned.sum()), right, seen)


@dataclass
class Tally:
    """Loss, learned tokens and right ones, summed up."""

    loss: float = 0.0
    count: int = 0
    right: int = 0

    def add(self, loss: float, count: int, right: int) -> None:
        """Add a batch's or a step's sums."""
        self.loss += loss
        self.count += count
        self.right += right

    def __str__(self) -> str:
        """Return the means."""
        return f"loss {self.loss / self.count:.4f}  right {self.right / self.count:.3f}"


class Source:
    """Draws pictures and makes the batches of each step."""

    def __init__(self, tokenizer: Tokenizer, pad: int, seed: int) -> None:
        """Start with a small stock of drawn pictures."""
        self.tokenizer, self.pad, self.rng = tokenizer, pad, random.Random(seed)
        self.kept = [patches.draw_one(self.rng) for _ in range(3 * FRESH)]

    def _pick(self, count: int) -> tuple[patches.Seen, ...]:
        return tuple(self.rng.sample(self.kept, count))

    def _fill(self) -> None:
        fresh = [patches.draw_one(self.rng) for _ in range(FRESH)]
        self.kept = (self.kept + fresh)[-KEPT:]

    def _pair(self) -> tuple[patches.Seen, ...]:
        """Return two pictures, half of the time of the same kind, so that both must be read."""
        first, second = self._pick(2)
        if self.rng.random() < 0.5:
            for other in self._pick(6):
                if bool(other.scene.number) == bool(first.scene.number):
                    return first, other
        return first, second

    def step(self) -> list[Rows]:
        """Return the batches of one step, that about single pictures first.

        Each step has a large picture, and a row of three to ten small ones.
        """
        self._fill()
        batches = [
            [samples.about_one(one, self.rng) for one in self.kept[-SINGLE:]],
            [samples.about_several(self._pair(), self.rng) for _ in range(DOUBLE)],
            [samples.without_pictures(self.rng) for _ in range(TEXT)],
        ]
        large = patches.draw_one(self.rng, large=True)
        batches.append([samples.about_one(large, self.rng)])
        several = self._pick(self.rng.randint(3, 10))
        batches.append([samples.about_several(several, self.rng)])
        return [rows(batch, self.tokenizer, self.pad) for batch in batches]


def _one_step(model: network.Model, heads: seeing.Heads, batches: list[Rows]) -> Tally:
    """Add the gradients of a step; the first batch also keeps the tower's own task alive."""
    taken = Tally()
    for index, batch in enumerate(batches):
        with torch.autocast("cpu", torch.bfloat16):
            found = loss_of(model, batch)
        total = found.total
        if index == 0 and found.seen is not None:
            aside = seeing.losses(heads, batch.pictures, *found.seen).total()
            total = total + ASIDE * found.count * aside
        total.backward()
        taken.add(float(found.total.detach()), found.count, found.right)
    return taken


def train(
    model: network.Model,
    heads: seeing.Heads,
    tokenizer: Tokenizer,
    steps: int,
    seed: int,
    keep: Callable[[], None],
) -> None:
    """Train everything in place; `keep` is called every KEEP_EVERY steps."""
    parts = [model.vpm, model.resampler, heads]
    optimizers = optimizing.build([*((part, TOWER_SHARE) for part in parts), (model.llm, 1.0)])
    trained = nn.ModuleList([*parts, model.llm])
    source = Source(tokenizer, model.llm.config.pad_token_id, seed)
    started, shown = time.monotonic(), Tally()
    for step in range(1, steps + 1):
        taken = _one_step(model, heads, source.step())
        for weight in trained.parameters():
            if weight.grad is not None:
                weight.grad.div_(taken.count)
        nn.utils.clip_grad_norm_(trained.parameters(), 1.0)
        optimizing.step(optimizers, optimizing.share(step, steps))
        shown.add(taken.loss, taken.count, taken.right)
        if step % SHOWN == 0:
            print(f"reading {step}  {shown}  {time.monotonic() - started:.0f} s", flush=True)
            shown = Tally()
        if step % KEEP_EVERY == 0:
            keep()
