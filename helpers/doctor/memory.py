"""The memory formula: weights + KV cache + activations + graphs against a device's memory, each
term in bytes.

Exact where vLLM's own arithmetic is (weights, bytes per token, blocks); activations and graphs are
estimates, since the engine measures them itself at start. No finding, no text.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

GIB = 2**30
BLOCK_TOKENS = 128
"""vllm-ascend's and the CPU engine's block size; a KV cache is whole blocks."""

GRAPH_BYTES = int(0.5 * GIB)
"""Graph capture. Logs on A2: 0.09 GiB (Qwen3-0.6B), 0.16 (Qwen3-VL-8B), 0.40 (Qwen3-32B, TP 8)."""

NON_TORCH_BYTES = int(0.1 * GIB)
"""What the runtime takes beside torch: 0.03 GiB in vllm-ascend's log of Qwen3-0.6B on one A2."""

LINK_BYTES = int(0.5 * GIB)
"""More of it where several devices talk: HCCL's buffers (HCCL_BUFFSIZE, 200 MB each way)."""

USABLE_SHARE = 0.95
"""Of what npu-smi calls the total, torch sees this: 65 452 113 920 of 65 536 MiB on an A2 (logs of
vllm-ascend); the rest is the firmware's, and is what an idle chip "uses".
"""

_DTYPES = {"bfloat16": 2, "float16": 2, "half": 2, "float32": 4, "float": 4}


@dataclass(frozen=True)
class Shape:
    """What the formula needs of a model.

    Attributes:
        layers, heads, kv_heads, head_dim, hidden, intermediate, vocab: of its language model.
        weight_bytes: of all its weight files, or computed from the shape.
        max_context: tokens, `max_position_embeddings`; None where its config.json was not read.
        dtype_bytes: of a weight and of a cached key or value.
        image_tokens: of one large picture, 0 for a model without pictures.
    """

    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    hidden: int
    intermediate: int
    vocab: int
    weight_bytes: int
    max_context: int | None = None
    dtype_bytes: int = 2
    image_tokens: int = 0


@dataclass(frozen=True)
class Budget:
    """The terms for one device, in bytes; each device of a tensor-parallel group has its own.

    Attributes:
        usable: the device's memory as torch sees it.
        free: what is free of it now.
        requested: usable × gpu_memory_utilization; vLLM stays below, and refuses to start where
            less than this is free (vllm_ascend/worker/worker.py, v0.18.0 and v0.23.0).
        weights, activations, non_torch: what is taken from it before the KV cache.
        kv_cache: the rest, what the cache gets; negative where nothing is left.
        graphs: captured after that, on top of `requested`.
        token_bytes: KV cache of one token on this device.
    """

    usable: int
    free: int
    requested: int
    weights: int
    activations: int
    non_torch: int
    kv_cache: int
    graphs: int
    token_bytes: int

    @property
    def tokens(self) -> int:
        """Return the tokens that the KV cache holds, in whole blocks; vLLM's "KV cache size"."""
        return max(0, self.kv_cache // (self.token_bytes * BLOCK_TOKENS)) * BLOCK_TOKENS


def token_bytes(shape: Shape, tensor_parallel_size: int = 1) -> int:
    """Return the bytes of KV cache that one token takes on each device.

    2 (key and value) × layers × KV heads of this device × head_dim × bytes. Fewer KV heads than
    devices are repeated, never split.
    """
    heads = max(1, shape.kv_heads // tensor_parallel_size)
    return 2 * shape.layers * heads * shape.head_dim * shape.dtype_bytes


def cached_tokens(cache_bytes: int, shape: Shape, tensor_parallel_size: int = 1) -> int:
    """Return the tokens that a KV cache of a given size holds, in whole blocks."""
    return cache_bytes // (token_bytes(shape, tensor_parallel_size) * BLOCK_TOKENS) * BLOCK_TOKENS


def budget(
    shape: Shape,
    usable: int,
    *,
    free: int | None = None,
    gpu_memory_utilization: float = 0.92,
    tensor_parallel_size: int = 1,
    max_num_seqs: int = 256,
    max_num_batched_tokens: int = 8192,
    enforce_eager: bool = False,
) -> Budget:
    """Return the terms for one device.

    Args:
        usable: bytes of the device as torch sees it; see USABLE_SHARE.
        free: bytes of it that are free now; None means all.
        gpu_memory_utilization: share of `usable`, 0 < x <= 1.
        max_num_batched_tokens: of one step; what the profiling run fills.
        enforce_eager: True captures no graphs.
    """
    requested = int(usable * gpu_memory_utilization)
    weights = math.ceil(shape.weight_bytes / tensor_parallel_size)
    active = activations(shape, tensor_parallel_size, max_num_seqs, max_num_batched_tokens)
    other = NON_TORCH_BYTES + (LINK_BYTES if tensor_parallel_size > 1 else 0)
    return Budget(
        usable=usable,
        free=usable if free is None else free,
        requested=requested,
        weights=weights,
        activations=active,
        non_torch=other,
        kv_cache=requested - weights - active - other,
        graphs=0 if enforce_eager else GRAPH_BYTES,
        token_bytes=token_bytes(shape, tensor_parallel_size),
    )


def activations(
    shape: Shape, tensor_parallel_size: int, max_num_seqs: int, max_num_batched_tokens: int
) -> int:
    """Return an estimate of the peak of the profiling run, in bytes; the engine measures the real
    one.

    Two copies of the hidden and of the MLP's intermediate values of every token, and the logits of
    every sequence in float32; three times as much with pictures. On the high side of what logs
    on A2 say: 0.22 GiB for Qwen3-0.6B, 3.25 GiB for Qwen3-VL-8B at 16 384 tokens.
    """
    wide = shape.hidden + math.ceil(shape.intermediate / tensor_parallel_size)
    step = 2 * max_num_batched_tokens * wide * shape.dtype_bytes + max_num_seqs * shape.vocab * 4
    return step * (3 if shape.image_tokens else 1)


def parameters(config: dict[str, Any]) -> int:
    """Return the parameters of a Llama-like language model (Llama, Qwen3) by its config.json.

    Embedding, output unless tied, and in each layer attention (with KV heads), a gated MLP and two
    norms; biases and the per-head norms of Qwen3 are left out: below a thousandth.
    """
    hidden, heads = config["hidden_size"], config["num_attention_heads"]
    head = config.get("head_dim") or hidden // heads
    kv = (config.get("num_key_value_heads") or heads) * head
    attention = 2 * hidden * heads * head + 2 * hidden * kv
    layer = attention + 3 * hidden * config["intermediate_size"] + 2 * hidden
    tables = 1 if config.get("tie_word_embeddings") else 2
    return int(
        tables * config["vocab_size"] * hidden + config["num_hidden_layers"] * layer + hidden
    )


def shape_of(config: dict[str, Any], weight_bytes: int | None = None) -> Shape:
    """Return the shape by a config.json, whose language model may stand in a part of its own.

    Args:
        weight_bytes: size of the weight files; None computes it from the parameters.
    Raises:
        KeyError: a field that the formula needs is missing.
    """
    text: dict[str, Any] = config.get("text_config") or config.get("llm_config") or config
    dtype = str(text.get("dtype") or text.get("torch_dtype") or "bfloat16")
    width = _DTYPES.get(dtype.removeprefix("torch."), 2)
    heads = text["num_attention_heads"]
    pictures = "vision_config" in config
    return Shape(
        layers=text["num_hidden_layers"],
        heads=heads,
        kv_heads=text.get("num_key_value_heads") or heads,
        head_dim=text.get("head_dim") or text["hidden_size"] // heads,
        hidden=text["hidden_size"],
        intermediate=text["intermediate_size"],
        vocab=text["vocab_size"],
        weight_bytes=parameters(text) * width if weight_bytes is None else weight_bytes,
        max_context=text.get("max_position_embeddings"),
        dtype_bytes=width,
        image_tokens=LARGE_IMAGE_TOKENS if pictures else 0,
    )


LARGE_IMAGE_TOKENS = 672
"""The most that one picture costs MiniCPM-V 4.5: 10 slices of 64 tokens and their markers, as
`image_tokens.Slicing` computes it; written here because that module loads Pillow, and a test holds
the two together.
"""
