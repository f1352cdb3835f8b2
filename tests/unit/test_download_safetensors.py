"""Tests of what safetensors files say of themselves: header against size, index against shards."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from light import light_hub

from helpers import models
from helpers.download import safetensors

SHARD = "model-00001-of-00002.safetensors"
INDEX = "model.safetensors.index.json"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return light_hub.checkpoint(tmp_path / "model", shard=2000)


def problems(model: Path) -> list[tuple[str, str]]:
    return safetensors.problems(model, [path.name for path in model.iterdir()])


def test_sound_checkpoint_has_no_problem(model: Path) -> None:
    assert problems(model) == []


def test_header_gives_the_tensors_without_the_metadata(tmp_path: Path) -> None:
    path = tmp_path / "one.safetensors"
    path.write_bytes(light_hub.safetensors({"a": 8, "b": 4}, random.Random(1)))

    assert list(safetensors.header(path)) == ["a", "b"]


def cut(content: bytes) -> bytes:
    return content[:-1]


def longer(content: bytes) -> bytes:
    return content + b"\0"


def pointer(content: bytes) -> bytes:
    return b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"


def huge_header(content: bytes) -> bytes:
    return b"\xff" * 8 + content[8:]


def no_json(content: bytes) -> bytes:
    return content[:8] + b"[" + content[9:]


def gap(content: bytes) -> bytes:
    return content.replace(b'"data_offsets": [0, ', b'"data_offsets": [1, ')


def nothing(content: bytes) -> bytes:
    return b""


@pytest.mark.parametrize("change", [cut, longer, pointer, huge_header, no_json, gap, nothing])
def test_spoilt_shard_is_named(model: Path, change: Callable[[bytes], bytes]) -> None:
    path = model / SHARD
    path.write_bytes(change(path.read_bytes()))

    named = {name for name, _ in problems(model)}

    assert SHARD in named
    assert named <= {SHARD, INDEX}


def test_pointer_is_recognised(model: Path) -> None:
    (model / SHARD).write_bytes(pointer(b""))

    assert models.is_pointer(model / SHARD)
    assert not models.is_pointer(model / "config.json")
    assert not models.is_pointer(model / "gone")


def test_index_that_names_a_shard_which_is_not_there_is_told(model: Path) -> None:
    (model / SHARD).unlink()

    assert problems(model) == [(INDEX, f"index: {SHARD} is not there")]


def test_index_that_names_a_tensor_which_its_shard_has_not_is_told(model: Path) -> None:
    index = json.loads((model / INDEX).read_text())
    index["weight_map"]["lm_head"] = SHARD
    light_hub.write_json(model / INDEX, index)

    assert problems(model) == [(INDEX, f"index: {SHARD} has no lm_head")]


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"weight_map": []}'])
def test_index_that_is_none_is_told(model: Path, content: str) -> None:
    (model / INDEX).write_text(content)

    ((name, told),) = problems(model)

    assert name == INDEX and told.startswith("index: ")
