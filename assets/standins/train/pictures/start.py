"""How tower and resampler start: looking at neighbouring patches, which they would learn late.

A transformer that starts at random must first discover that patches have neighbours. Here CODE
dimensions of the tower's hidden state hold a code of the patch's place, the first layers' heads
look at fixed offsets by turning that code, and each query of the resampler looks at its own cell.
"""

from __future__ import annotations

import math

import torch

from . import network

CODE = 32
"""Dimensions of the place code: half for the column, half for the row."""
OFFSETS = (((0, -1), (-1, 0), (-1, -1)), ((0, 1), (1, 0), (1, 1)), ((0, -2), (-2, 0), (0, 2)))
"""(rows, columns) that the heads of the first layers look away from their own patch."""
CONTENT = network.TOWER_HIDDEN - CODE


def _waves() -> torch.Tensor:
    return 2 * math.pi / (2 * network.SIDE) * torch.arange(1, CODE // 4 + 1, dtype=torch.float32)


def code(rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """Return (places, CODE): cosines and sines of the column, then of the row."""
    parts = []
    for position in (columns, rows):
        angles = position[:, None].float() * _waves()
        parts += [angles.cos(), angles.sin()]
    return torch.cat(parts, dim=1)


def _turn(offset: int) -> torch.Tensor:
    """Return the matrix that turns the code of one axis into the code `offset` further."""
    cos, sin = torch.diag((offset * _waves()).cos()), torch.diag((offset * _waves()).sin())
    return torch.cat([torch.cat([cos, -sin], 1), torch.cat([sin, cos], 1)])


def cosine_filters(count: int) -> torch.Tensor:
    """Return (count, values of a patch): waves over the patch, slow ones first, two thirds in
    brightness and the rest in two colour differences.

    Random filters would start with little of a shape's outline in them; these keep nearly all.
    """
    side = network.PATCH // network.POOL
    steps = torch.arange(side, dtype=torch.float32)
    waves = torch.cos(math.pi * (2 * steps[None, :] + 1) * steps[:, None] / (2 * side))
    order = sorted((u * u + v * v, u, v) for u in range(side) for v in range(side))
    planes = torch.stack([torch.outer(waves[u], waves[v]) for _, u, v in order])
    mixes = torch.tensor([[1.0, 1.0, 1.0], [1.0, 0.0, -1.0], [-0.5, 1.0, -0.5]])
    sixth = count // 6
    parts = [
        torch.einsum("c,nyx->ncyx", mix, planes[:size])
        for mix, size in zip(mixes, (count - 2 * sixth, sixth, sixth), strict=True)
    ]
    return torch.cat(parts).reshape(count, -1)


def _embeddings(embeddings: network.Embeddings, patches: torch.Tensor) -> None:
    filters = cosine_filters(CONTENT)
    found = patches.flatten(0, 1) @ filters.T
    spread = found.std(0).clamp(min=0.05 * float(found.std()))
    embeddings.patch_embedding.weight.zero_()
    embeddings.patch_embedding.bias.zero_()
    embeddings.patch_embedding.weight[:CONTENT] = filters / spread[:, None]
    embeddings.patch_embedding.bias[:CONTENT] = -found.mean(0) / spread
    place = torch.arange(network.SIDE**2)
    table = embeddings.position_embedding.weight
    table.normal_(std=0.05)
    table[:, CONTENT:] = 1.2 * code(place // network.SIDE, place % network.SIDE)


def _heads(layer: network.Layer, offsets: tuple[tuple[int, int], ...]) -> None:
    size = network.TOWER_HIDDEN // network.TOWER_HEADS
    query, key = layer.self_attn.q_proj, layer.self_attn.k_proj
    for part in (query, key):
        part.weight.mul_(0.07)
        part.bias.zero_()
    for head, (rows, columns) in enumerate(offsets):
        own = slice(head * size, head * size + CODE)
        turned = torch.block_diag(_turn(columns), _turn(rows))
        query.weight[own, CONTENT:] = 1.6 * turned
        key.weight[own, CONTENT:] = 1.6 * torch.eye(CODE)


def _resampler(resampler: network.Resampler) -> None:
    """Let the place code through to the keys, in dimensions that the fixed code leaves constant."""
    half = network.HIDDEN // 2
    open_ = [*range(half // 4, half // 2), *range(half + half // 4, half + half // 2)]
    side = math.isqrt(network.QUERIES)
    cell = torch.arange(network.QUERIES)
    middle = (network.SIDE / side) * (torch.stack([cell // side, cell % side]) + 0.5) - 0.5
    resampler.kv_proj.weight.mul_(1.7)
    resampler.kv_proj.weight[open_] = 0.0
    resampler.kv_proj.weight[open_, CONTENT:] = torch.eye(CODE)
    weight = resampler.attn.in_proj_weight
    hidden = network.HIDDEN
    weight[: 2 * hidden] *= 0.05
    resampler.query.normal_(std=0.3)
    resampler.query[:, open_] = code(middle[0], middle[1])
    for part in (weight[:hidden], weight[hidden : 2 * hidden]):
        part[open_] = 0.0
        part[open_, open_] = 3.0


def prepare(model: network.Model, patches: torch.Tensor) -> None:
    """Set the start in place.

    Args:
        patches: (slices, patches, values), from which the filters' scale is taken.
    """
    with torch.no_grad():
        _embeddings(model.vpm.embeddings, patches)
        for layer, offsets in zip(model.vpm.encoder["layers"], OFFSETS, strict=False):
            _heads(layer, offsets)
        _resampler(model.resampler)
