"""The network, as vLLM's MiniCPM-V 4.5 class computes it: SigLIP tower, resampler, Qwen3.

The parameters carry the names of a MiniCPM-V checkpoint.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from transformers import Qwen3Config, Qwen3ForCausalLM

HIDDEN, FFN, LAYERS, HEADS, KV_HEADS, HEAD_DIM = 128, 320, 3, 4, 2, 32
TOWER_HIDDEN, TOWER_FFN, TOWER_LAYERS, TOWER_HEADS = 96, 384, 4, 3
SCALE, PATCH, QUERIES = 448, 56, 64
"""Pixels of a slice's side, pixels of a patch's side, visual tokens a slice."""
POOL = 4
"""Training sees pixels averaged POOL × POOL; the exported filters do the same averaging."""
SIDE = SCALE // PATCH


class Attention(nn.Module):
    """Multi-headed attention over patches; padded patches are masked."""

    def __init__(self) -> None:
        """Name the four projections as SigLIP does."""
        super().__init__()
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            self.add_module(name, nn.Linear(TOWER_HIDDEN, TOWER_HIDDEN))

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        """Return the attention's output for (batch, patches, hidden)."""
        split = (*x.shape[:2], TOWER_HEADS, -1)
        query, key, value = (
            layer(x).view(split).transpose(1, 2)
            for layer in (self.q_proj, self.k_proj, self.v_proj)
        )
        # On a CPU the fused attention is slower in its backward pass than the plain one.
        scores = (query @ key.transpose(-1, -2)) * query.shape[-1] ** -0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e4)
        out = scores.softmax(-1).to(value.dtype) @ value
        return self.out_proj(out.transpose(1, 2).reshape(x.shape))


class Layer(nn.Module):
    """One layer of the tower."""

    def __init__(self) -> None:
        """Name the parts as SigLIP does."""
        super().__init__()
        self.self_attn = Attention()
        self.layer_norm1 = nn.LayerNorm(TOWER_HIDDEN, eps=1e-6)
        self.layer_norm2 = nn.LayerNorm(TOWER_HIDDEN, eps=1e-6)
        self.mlp = nn.ModuleDict(
            {"fc1": nn.Linear(TOWER_HIDDEN, TOWER_FFN), "fc2": nn.Linear(TOWER_FFN, TOWER_HIDDEN)}
        )

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        """Return the layer's output."""
        x = x + self.self_attn(self.layer_norm1(x), mask)
        inner = F.gelu(self.mlp["fc1"](self.layer_norm2(x)), approximate="tanh")
        return x + self.mlp["fc2"](inner)


class Embeddings(nn.Module):
    """Patches, as flat vectors of averaged pixels, and where they lie in the picture."""

    def __init__(self) -> None:
        """Hold the filters in their averaged form; see `exported`."""
        super().__init__()
        self.patch_embedding = nn.Linear(3 * (PATCH // POOL) ** 2, TOWER_HIDDEN)
        self.position_embedding = nn.Embedding(SIDE * SIDE, TOWER_HIDDEN)

    def forward(self, patches: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """Return (batch, patches, hidden)."""
        return self.patch_embedding(patches) + self.position_embedding(places)


def places(rows: int, columns: int) -> torch.Tensor:
    """Return the position of each patch of a grid in the table of SIDE × SIDE."""
    row = (torch.arange(rows) * SIDE) // rows
    column = (torch.arange(columns) * SIDE) // columns
    return (row[:, None] * SIDE + column[None, :]).flatten()


class Tower(nn.Module):
    """The vision tower."""

    def __init__(self) -> None:
        """Name the parts as SigLIP does."""
        super().__init__()
        self.embeddings = Embeddings()
        self.encoder = nn.ModuleDict(
            {"layers": nn.ModuleList(Layer() for _ in range(TOWER_LAYERS))}
        )
        self.post_layernorm = nn.LayerNorm(TOWER_HIDDEN, eps=1e-6)

    def forward(self, pictures: Pictures) -> torch.Tensor:
        """Return (slices, patches, hidden)."""
        x = self.embeddings(pictures.patches, pictures.places)
        mask = None if pictures.padding is None else ~pictures.padding[:, None, None, :]
        for layer in self.encoder["layers"]:
            x = layer(x, mask)
        return self.post_layernorm(x)


@dataclass
class Pictures:
    """A batch of slices: patches (slices, most patches, values), places, padding, grids."""

    patches: torch.Tensor
    places: torch.Tensor
    padding: torch.Tensor | None
    grids: list[tuple[int, int]]


def _sincos(size: int, positions: int) -> torch.Tensor:
    omega = 1.0 / 10000 ** (torch.arange(size // 2, dtype=torch.float32) / (size / 2.0))
    angles = torch.arange(positions, dtype=torch.float32)[:, None] * omega
    return torch.cat([angles.sin(), angles.cos()], dim=1)


def _position_code(rows: int, columns: int) -> torch.Tensor:
    """Return (rows × columns, HIDDEN), the resampler's fixed code: first the column, then the row.

    Source: vLLM 0.32, model_executor/layers/resampler.py, get_2d_sincos_pos_embed.
    """
    across, down = _sincos(HIDDEN // 2, columns), _sincos(HIDDEN // 2, rows)
    grid = torch.cat(
        [across[None].expand(rows, -1, -1), down[:, None].expand(-1, columns, -1)], dim=-1
    )
    return grid.reshape(rows * columns, HIDDEN)


class Resampler(nn.Module):
    """QUERIES learned queries that read a slice's patches: MiniCPM-V's resampler, one head."""

    def __init__(self) -> None:
        """Name the parts as the checkpoint does."""
        super().__init__()
        self.query = nn.Parameter(torch.randn(QUERIES, HIDDEN))
        self.proj = nn.Parameter(HIDDEN**-0.5 * torch.randn(HIDDEN, HIDDEN))
        self.kv_proj = nn.Linear(TOWER_HIDDEN, HIDDEN, bias=False)
        self.attn = nn.MultiheadAttention(HIDDEN, HIDDEN // 128)
        self.ln_q = nn.LayerNorm(HIDDEN, eps=1e-6)
        self.ln_kv = nn.LayerNorm(HIDDEN, eps=1e-6)
        self.ln_post = nn.LayerNorm(HIDDEN, eps=1e-6)

    def forward(self, x: torch.Tensor, pictures: Pictures) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the visual tokens (slices, QUERIES, HIDDEN) and the logarithm of the attention."""
        x = self.ln_kv(self.kv_proj(x))
        codes = [_position_code(*grid) for grid in pictures.grids]
        code = nn.utils.rnn.pad_sequence(codes, batch_first=True)
        wq, wk, wv = self.attn.in_proj_weight.chunk(3)
        bq, bk, bv = self.attn.in_proj_bias.chunk(3)
        query = F.linear(self.ln_q(self.query), wq, bq)
        key, value = F.linear(x + code, wk, bk), F.linear(x, wv, bv)
        scores = (query @ key.transpose(1, 2)).float() / math.sqrt(HIDDEN)
        if pictures.padding is not None:
            scores = scores.masked_fill(pictures.padding[:, None, :], -1e9)
        seen = scores.log_softmax(-1)
        out = self.attn.out_proj(seen.exp().to(value.dtype) @ value)
        return self.ln_post(out) @ self.proj, seen


def _cover(cells: int, length: int) -> torch.Tensor:
    """Return (cells, length): which share of each cell lies on each of `length` patches."""
    start = torch.arange(cells)[:, None] / cells
    low = torch.arange(length)[None, :] / length
    overlap = torch.minimum(start + 1 / cells, low + 1 / length) - torch.maximum(start, low)
    return overlap.clamp(min=0) * cells


def spread(grid: tuple[int, int]) -> torch.Tensor:
    """Return (QUERIES, patches): each query looks at its own cell of the picture."""
    side = math.isqrt(QUERIES)
    down, across = _cover(side, grid[0]), _cover(side, grid[1])
    return torch.einsum("ih,jw->ijhw", down, across).reshape(QUERIES, -1)


class Model(nn.Module):
    """The whole network: `vpm`, `resampler`, `llm`."""

    def __init__(self, vocab_size: int, ids: dict[str, int]) -> None:
        """Build it untrained; `ids` has bos, eos, pad and image (the token of a visual token)."""
        super().__init__()
        self.vpm, self.resampler = Tower(), Resampler()
        self.image_id = ids["image"]
        self.llm = Qwen3ForCausalLM(llm_config(vocab_size, ids)).float()

    def see(self, pictures: Pictures) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the visual tokens of a batch of slices, and the resampler's log attention."""
        return self.resampler(self.vpm(pictures), pictures)

    def embed(self, ids: torch.Tensor, tokens: torch.Tensor | None) -> torch.Tensor:
        """Return the embedded ids, the visual tokens in the places that stand for them."""
        embedded = self.llm.model.embed_tokens(ids)
        if tokens is None:
            return embedded
        here = (ids == self.image_id).unsqueeze(-1).expand_as(embedded)
        return embedded.masked_scatter(here, tokens.to(embedded.dtype))


def llm_config(vocab_size: int, ids: dict[str, int]) -> Qwen3Config:
    """Return the language model's configuration."""
    return Qwen3Config(
        vocab_size=vocab_size,
        hidden_size=HIDDEN,
        intermediate_size=FFN,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        head_dim=HEAD_DIM,
        max_position_embeddings=8192,
        rms_norm_eps=1e-6,
        tie_word_embeddings=False,
        rope_parameters={"rope_type": "default", "rope_theta": 1e6},
        bos_token_id=ids["bos"],
        eos_token_id=ids["eos"],
        pad_token_id=ids["pad"],
    )


def exported(weight: torch.Tensor) -> torch.Tensor:
    """Return the filters for whole pixels: averaging and the trained filters in one."""
    small = weight.view(TOWER_HIDDEN, 3, PATCH // POOL, PATCH // POOL)
    return small.repeat_interleave(POOL, 2).repeat_interleave(POOL, 3) / POOL**2
