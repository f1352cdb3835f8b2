"""The optimizers of both stages: Muon for the matrices inside, AdamW for everything else.

At this size Muon needs about half of the steps that AdamW alone does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import nn

ADAM_RATE, MUON_RATE = 2e-3, 0.02
_OUTSIDE = ("embed", "lm_head", "query", "place", "out.", "mean", "cell")


def build(parts: Iterable[tuple[nn.Module, float]]) -> list[torch.optim.Optimizer]:
    """Return the optimizers over the parts, each with its share of the learning rates."""
    inside, outside = [], []
    for part, share in parts:
        for name, weight in part.named_parameters():
            matrix = weight.dim() == 2 and not any(word in name for word in _OUTSIDE)
            peak = share * (MUON_RATE if matrix else ADAM_RATE)
            (inside if matrix else outside).append({"params": [weight], "lr": peak, "peak": peak})
    return [
        torch.optim.Muon(inside, lr=MUON_RATE, weight_decay=0.01, momentum=0.95),
        torch.optim.AdamW(outside, lr=ADAM_RATE, betas=(0.9, 0.98), weight_decay=0.01),
    ]


def share(step: int, steps: int) -> float:
    """Return the share of the peak rates: a short rise, then a cosine to two percent."""
    return min(1.0, step / 60) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * step / steps)))


def step(optimizers: list[torch.optim.Optimizer], part: float) -> None:
    """Take a step with `part` of the peak rates, and clear the gradients."""
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = group["peak"] * part
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
