"""Second stage: the whole network learns to answer questions about pictures, and without them."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from tokenizers import Tokenizer

from . import network, optimizing, patches, samples

IGNORED = -100
TOWER_SHARE = 0.25
"""Of the learning rates: what the first stage has learned moves more slowly."""
SINGLE, DOUBLE, TEXT = 14, 4, 6
"""Conversations a step: about one picture, about two, about none."""
KEPT, FRESH = 4000, 14
KEEP_EVERY, SHOWN = 200, 25


@dataclass(frozen=True)
class Rows:
    """Conversations of one batch: ids, targets, and all their pictures in order."""

    ids: torch.Tensor
    targets: torch.Tensor
    pictures: list[patches.Seen]


def encode(sample: samples.Sample, tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """Return token ids and targets: only the answers are learned."""
    ids: list[int] = []
    targets: list[int] = []
    for text, learned in sample.pieces:
        piece = tokenizer.encode(text, add_special_tokens=False).ids
        ids += piece
        targets += piece if learned else [IGNORED] * len(piece)
    return ids, targets


def rows(batch: list[samples.Sample], tokenizer: Tokenizer, pad: int) -> Rows:
    """Return the conversations as one padded batch."""
    encoded = [encode(sample, tokenizer) for sample in batch]
    width = max(len(ids) for ids, _ in encoded)
    ids = torch.tensor([ids + [pad] * (width - len(ids)) for ids, _ in encoded])
    targets = torch.tensor([t + [IGNORED] * (width - len(t)) for _, t in encoded])
    return Rows(ids, targets, [seen for sample in batch for seen in sample.pictures])


def loss_sum(model: network.Model, batch: Rows) -> tuple[torch.Tensor, int, int]:
    """Return the summed cross entropy, the learned tokens, and how many of them are right."""
    packed = patches.batch(batch.pictures) if batch.pictures else None
    hidden = model.hidden(batch.ids, packed)[:, :-1]
    wanted = batch.targets[:, 1:]
    learned = wanted != IGNORED
    logits = model.llm.lm_head(hidden[learned]).float()
    loss = torch.nn.functional.cross_entropy(logits, wanted[learned], reduction="sum")
    return loss, int(learned.sum()), int((logits.argmax(-1) == wanted[learned]).sum())


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

    def step(self, index: int) -> list[Rows]:
        """Return the batches of one step; every fourth has large pictures or many."""
        self._fill()
        newest = self.kept[-FRESH:] + list(self._pick(max(0, SINGLE - FRESH)))
        batches = [
            [samples.about_one(one, self.rng) for one in newest[:SINGLE]],
            [samples.about_several(self._pair(), self.rng) for _ in range(DOUBLE)],
            [samples.without_pictures(self.rng) for _ in range(TEXT)],
        ]
        if index % 4 == 0:
            large = [patches.draw_one(self.rng, large=True) for _ in range(2)]
            batches.append([samples.about_one(one, self.rng) for one in large])
        if index % 4 == 2:
            several = self._pick(self.rng.randint(3, 10))
            batches.append([samples.about_several(several, self.rng)])
        return [rows(batch, self.tokenizer, self.pad) for batch in batches]


def train(
    model: network.Model, tokenizer: Tokenizer, steps: int, seed: int, keep: Callable[[], None]
) -> None:
    """Train everything in place; `keep` is called every KEEP_EVERY steps."""
    optimizers = optimizing.build(
        [(model.vpm, TOWER_SHARE), (model.resampler, TOWER_SHARE), (model.llm, 1.0)]
    )
    source = Source(tokenizer, model.llm.config.pad_token_id, seed)
    started, shown = time.monotonic(), Tally()
    for step in range(1, steps + 1):
        taken = Tally()
        for batch in source.step(step):
            with torch.autocast("cpu", torch.bfloat16):
                loss, count, right = loss_sum(model, batch)
            loss.backward()
            taken.add(float(loss.detach()), count, right)
        for weight in model.parameters():
            if weight.grad is not None:
                weight.grad.div_(taken.count)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizing.step(optimizers, optimizing.share(step, steps))
        shown.add(taken.loss, taken.count, taken.right)
        if step % SHOWN == 0:
            print(f"reading {step}  {shown}  {time.monotonic() - started:.0f} s", flush=True)
            shown = Tally()
        if step % KEEP_EVERY == 0:
            keep()
