"""Qwen3's forward pass written out, in bf16: several questions about the same pictures in one row.

The pictures stand once at the start of a row; behind them come the branches, each a conversation
that sees the pictures and itself but no other branch, at the positions that it would have alone.
It computes what transformers' Qwen3 does, in fewer passes over memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from transformers import Qwen3ForCausalLM

HALF = torch.bfloat16


@dataclass(frozen=True)
class Layout:
    """Where each token of a batch stands, both (rows, tokens).

    `branches`: 0 for what all branches share, their number from 1, -1 for padding.
    """

    positions: torch.Tensor
    branches: torch.Tensor

    def mask(self) -> torch.Tensor:
        """Return (rows, 1, tokens, tokens): 0 where a token may look, very negative elsewhere."""
        length = self.branches.shape[1]
        own = self.branches[:, :, None] == self.branches[:, None, :]
        shared = (self.branches == 0)[:, None, :]
        earlier = torch.ones(length, length, dtype=torch.bool).tril()
        hidden = ~((own | shared) & earlier)
        return hidden.unsqueeze(1).to(HALF) * -1e4


def _linear(x: torch.Tensor, layer: nn.Linear) -> torch.Tensor:
    return F.linear(x, layer.weight.to(HALF))


def _norm(x: torch.Tensor, layer: nn.Module) -> torch.Tensor:
    return F.rms_norm(x, (x.shape[-1],), layer.weight.to(HALF), layer.variance_epsilon)


def _turned(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, -1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)


def _angles(positions: torch.Tensor, size: int, theta: float) -> tuple[torch.Tensor, torch.Tensor]:
    frequencies = theta ** (-torch.arange(0, size, 2, dtype=torch.float32) / size)
    angles = (positions[..., None] * frequencies).unsqueeze(1)
    return angles.cos().to(HALF), angles.sin().to(HALF)


def hidden(model: Qwen3ForCausalLM, embedded: torch.Tensor, layout: Layout) -> torch.Tensor:
    """Return the last hidden states, normed, (rows, tokens, hidden)."""
    config = model.config
    heads, shared, size = (
        config.num_attention_heads,
        config.num_key_value_heads,
        config.head_dim,
    )
    cos, sin = _angles(layout.positions, size, config.rope_parameters["rope_theta"])
    mask, x = layout.mask(), embedded.to(HALF)
    rows, length = x.shape[:2]
    for layer in model.model.layers:
        own = layer.self_attn
        h = _norm(x, layer.input_layernorm)
        query = _norm(_linear(h, own.q_proj).view(rows, length, heads, size), own.q_norm)
        key = _norm(_linear(h, own.k_proj).view(rows, length, shared, size), own.k_norm)
        value = _linear(h, own.v_proj).view(rows, length, shared, size).transpose(1, 2)
        query = _turned(query.transpose(1, 2), cos, sin)
        key = _turned(key.transpose(1, 2), cos, sin)
        group = query.reshape(rows, shared, heads // shared * length, size)
        scores = (group @ key.transpose(-1, -2)).view(rows, heads, length, length)
        weights = (scores * size**-0.5 + mask).softmax(-1).view(rows, shared, -1, length)
        mixed = (weights @ value).view(rows, heads, length, size).transpose(1, 2)
        x = x + _linear(mixed.reshape(rows, length, heads * size), own.o_proj)
        h = _norm(x, layer.post_attention_layernorm)
        gate = F.silu(_linear(h, layer.mlp.gate_proj)) * _linear(h, layer.mlp.up_proj)
        x = x + _linear(gate, layer.mlp.down_proj)
    return _norm(x, model.model.norm)
