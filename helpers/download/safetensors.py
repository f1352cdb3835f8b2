"""What a safetensors checkpoint says of itself: the index against the shards, each shard's header
against its size. Finds what no hash tells: a repository that was wrong when it was uploaded.

Standard library; loads no tensor.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

MAX_HEADER = 100_000_000
"""Bytes; the format's own limit (safetensors, SafeTensorError::HeaderTooLarge)."""


def header(path: Path) -> dict[str, Any]:
    """Return a shard's header, tensor name → dtype, shape, data_offsets, after comparing it with
    the file's size.

    Raises:
        ValueError: no safetensors file, or cut, or longer than its header says.
        OSError: it cannot be read.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > min(size - 8, MAX_HEADER):
            raise ValueError(f"header of {length} bytes in a file of {size}")
        found = json.loads(file.read(length))
    if not isinstance(found, dict):
        raise ValueError("header is no object")
    tensors = {name: one for name, one in found.items() if name != "__metadata__"}
    end = 0
    for name, one in sorted(tensors.items(), key=lambda item: _offsets(*item)):
        begin, stop = _offsets(name, one)
        if begin != end or stop < begin:
            raise ValueError(f"{name}: data_offsets {begin}..{stop}, expected to begin at {end}")
        end = stop
    if 8 + length + end != size:
        raise ValueError(f"{8 + length + end} bytes by its header, {size} on disk")
    return tensors


def _offsets(name: str, one: Any) -> tuple[int, int]:
    try:
        begin, stop = one["data_offsets"]
        return int(begin), int(stop)
    except (TypeError, KeyError, ValueError) as error:
        raise ValueError(f"{name}: no data_offsets") from error


def problems(directory: Path, names: Iterable[str]) -> list[tuple[str, str]]:
    """Return (file, what is wrong) for the safetensors files and indexes among the names."""
    listed = sorted(names)
    found: list[tuple[str, str]] = []
    shards: dict[str, dict[str, Any]] = {}
    for name in listed:
        if name.endswith(".safetensors"):
            try:
                shards[name] = header(directory / name)
            except (OSError, ValueError) as error:
                found.append((name, f"safetensors: {error}"))
    for name in listed:
        if name.endswith(".safetensors.index.json"):
            found += [(name, told) for told in _index(directory / name, name, shards)]
    return found


def _index(path: Path, name: str, shards: dict[str, dict[str, Any]]) -> list[str]:
    """Return what an index promises and the shards do not hold, at most five lines."""
    try:
        weights = json.loads(path.read_text(encoding="utf-8"))["weight_map"]
        pairs = sorted((str(tensor), str(shard)) for tensor, shard in weights.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return [f"index: {type(error).__name__}: {error}"]
    folder = name.rpartition("/")[0]
    told = []
    for tensor, shard in pairs:
        where = f"{folder}/{shard}" if folder else shard
        if where not in shards:
            told.append(f"index: {shard} is not there")
        elif tensor not in shards[where]:
            told.append(f"index: {shard} has no {tensor}")
    return list(dict.fromkeys(told))[:5]
