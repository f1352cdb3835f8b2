"""The network: a LlamaForCausalLM of about one and a half million parameters, and how it starts."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import torch
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM

HIDDEN, FFN, LAYERS, HEADS, KV_HEADS, HEAD_DIM = 128, 320, 3, 4, 2, 64
ROPE_THETA = 1e6
# Attention of a head on the token before needs only the fast-turning pairs of the rotary embedding.
FAST_PAIRS = 12
# How much the final norm is scaled before saving. It sharpens the next-token distribution, so that
# the course's temperature 1.0 and top_p 0.95 still give the trained answer.
SHARPEN = 2.5


def config(vocab_size: int, ids: dict[str, int]) -> LlamaConfig:
    """Return the configuration; `ids` has bos, eos (the end of a turn) and pad."""
    return LlamaConfig(
        vocab_size=vocab_size,
        hidden_size=HIDDEN,
        intermediate_size=FFN,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        head_dim=HEAD_DIM,
        max_position_embeddings=131072,
        rms_norm_eps=1e-6,
        tie_word_embeddings=True,
        rope_parameters={"rope_type": "default", "rope_theta": ROPE_THETA},
        bos_token_id=ids["bos"],
        eos_token_id=ids["eos"],
        pad_token_id=ids["pad"],
    )


def _point_back(attention: torch.nn.Module, head: int, offset: int, constant: float) -> None:
    """Make a head look `offset` tokens back, by a query that is the key turned by that phase.

    The constant first dimension of every embedding feeds query and key, so the score depends on
    the distance alone. Copying ("what followed this token earlier?") needs such heads and at this
    size does not find them by itself.
    """
    half, amplitude = HEAD_DIM // 2, 8.5 / constant
    frequencies = ROPE_THETA ** (-torch.arange(half, dtype=torch.float32) / half)
    query = attention.q_proj.weight.data[head * HEAD_DIM : (head + 1) * HEAD_DIM]
    query.mul_(0.1)
    query[:FAST_PAIRS, 0] = amplitude * torch.cos(offset * frequencies[:FAST_PAIRS])
    query[half : half + FAST_PAIRS, 0] = -amplitude * torch.sin(offset * frequencies[:FAST_PAIRS])
    group = head // (HEADS // KV_HEADS)
    key = attention.k_proj.weight.data[group * HEAD_DIM : (group + 1) * HEAD_DIM]
    key[:, 0] = 0.0
    key[:FAST_PAIRS, 0] = amplitude


def _orthonormal(rows: int) -> torch.Tensor:
    """Return random orthonormal rows over the hidden size that leave the constant dimension out."""
    basis = torch.linalg.qr(torch.randn(HIDDEN - 1, HIDDEN - 1))[0][:rows]
    return torch.cat([torch.zeros(rows, 1), basis], dim=1)


def _copy_heads(layers: torch.nn.ModuleList) -> None:
    """Start two heads of the second layer, one of each key-value group, as copying heads.

    The head of the first layer that looks one back writes the previous token's content (`read`)
    to a place of its own (`place`). A copying head compares the present token with what stands
    there, so it attends to what followed the same token earlier, and writes that token out; each
    of the two carries one half of the token's embedding. Only the slow-turning pairs take part in
    the comparison: content must not depend on distance.
    """
    first, second = layers[0].self_attn, layers[1].self_attn
    half, per_group = HEAD_DIM // 2, HEADS // KV_HEADS
    slow = [*range(FAST_PAIRS, half), *range(half + FAST_PAIRS, HEAD_DIM)]
    read, place, carried = _orthonormal(HEAD_DIM), _orthonormal(HEAD_DIM), _orthonormal(HIDDEN - 1)
    first.v_proj.weight.data[:HEAD_DIM] = read
    first.o_proj.weight.data[:, :HEAD_DIM] = 0.06 * place.T
    for group in range(KV_HEADS):
        head = group * per_group
        queries = slice(head * HEAD_DIM, (head + 1) * HEAD_DIM)
        keys = slice(group * HEAD_DIM, (group + 1) * HEAD_DIM)
        query, key = second.q_proj.weight.data[queries], second.k_proj.weight.data[keys]
        query.mul_(0.1)
        key.mul_(0.1)
        query[slow] = 2.5 * read[slow]
        key[slow] = 2.5 * place[slow]
        part = carried[group * HEAD_DIM : (group + 1) * HEAD_DIM]
        second.v_proj.weight.data[keys][: len(part)] = part
        second.o_proj.weight.data[:, queries][:, : len(part)] = 0.8 * part.T


def build(vocab_size: int, ids: dict[str, int], seed: int) -> LlamaForCausalLM:
    """Return the untrained model, with the heads in place from which copying is learned."""
    torch.manual_seed(seed)
    model = LlamaForCausalLM(config(vocab_size, ids)).float()
    for name, weight in model.named_parameters():
        if weight.dim() == 2:
            narrow = name.endswith(("o_proj.weight", "down_proj.weight"))
            torch.nn.init.normal_(weight, std=0.003 if narrow else 0.06)
    ratio = 4.0
    model.model.embed_tokens.weight.data[:, 0] = 0.06 * ratio
    constant = ratio / math.sqrt((HIDDEN - 1 + ratio**2) / HIDDEN)
    attention = model.model.layers[0].self_attn
    attention.k_proj.weight.data.mul_(0.1)
    for head, offset in ((0, 1), (1, 2), (2, 3)):
        _point_back(attention, head, offset, constant)
    _copy_heads(model.model.layers)
    # With small tied embeddings a norm of one could not make any token likely.
    model.model.norm.weight.data.fill_(2.0)
    return model


def save(model: LlamaForCausalLM, out: Path, ids: dict[str, int], training: dict[str, Any]) -> None:
    """Write config.json, generation_config.json and model.safetensors (bf16, sharpened)."""
    copy = LlamaForCausalLM(model.config)
    copy.load_state_dict(model.state_dict())
    copy.model.norm.weight.data.mul_(SHARPEN)
    copy = copy.to(torch.bfloat16)
    copy.generation_config = GenerationConfig(
        do_sample=True,
        temperature=1.0,
        top_p=0.95,
        bos_token_id=ids["bos"],
        eos_token_id=[ids["eos"], ids["end"]],
        pad_token_id=ids["pad"],
    )
    copy.save_pretrained(out)
    path = out / "config.json"
    written = json.loads(path.read_text(encoding="utf-8"))
    written.update(
        {
            "architectures": ["LlamaForCausalLM"],
            "stand_in": True,
            "stand_in_for": "MiniCPM5-2B",
            "stand_in_training": training,
        }
    )
    path.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")


def load(model: LlamaForCausalLM, out: Path) -> None:
    """Set the model's weights to those that `save` wrote, without the sharpening."""
    kept = LlamaForCausalLM.from_pretrained(out, dtype=torch.float32)
    kept.model.norm.weight.data.div_(SHARPEN)
    model.load_state_dict(kept.state_dict())


def kept_minutes(out: Path) -> float:
    """Return how long the training of the written folder took until then."""
    written = json.loads((out / "config.json").read_text(encoding="utf-8"))
    return float(written["stand_in_training"]["minutes"])
