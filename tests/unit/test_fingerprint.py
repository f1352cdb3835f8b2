"""Tests of what makes one server the same as another, and of how a difference is told."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path

import pytest

from helpers import messages
from helpers.server import fingerprint
from helpers.server.fingerprint import Fingerprint

ARGV = ("vllm", "serve", "m", "--port", "0", "--max-model-len", "2048")
ENV = {"VLLM_X": "1", "HOME": "/a", "PATH": "/bin"}
VERSIONS = {"vllm": "0.23.0", "vllm-ascend": "0.23.0", "torch": "2.10.0"}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


def _of(model: Path, argv: tuple[str, ...] = ARGV, **variables: str) -> Fingerprint:
    return fingerprint.of(argv, ENV | variables, model, VERSIONS)


def test_digest_of_the_same_is_the_same(model: Path) -> None:
    other = fingerprint.of(list(ARGV), dict(reversed(ENV.items())), model, VERSIONS)

    assert _of(model).digest() == other.digest()
    assert _of(model).differences(other) == []


@pytest.mark.parametrize(
    "name", ["HOME", "PATH", "PWD", "USER", "LAB_RUN", "JPY_SESSION_NAME", "COLUMNS", "NO_PROXY"]
)
def test_digest_with_another_kernels_variable_is_the_same(model: Path, name: str) -> None:
    assert _of(model, **{name: "other"}).digest() == _of(model).digest()


@pytest.mark.parametrize(
    "name",
    [
        "VLLM_X",
        "VLLM_API_KEY",
        "ASCEND_RT_VISIBLE_DEVICES",
        "CUDA_VISIBLE_DEVICES",
        "PYTORCH_NPU_ALLOC_CONF",
        "HCCL_X",
        "LD_LIBRARY_PATH",
    ],
)
def test_another_engine_variable_differs_and_is_named(model: Path, name: str) -> None:
    first, other = _of(model), _of(model, **{name: "other"})

    assert first.digest() != other.digest()
    assert [name in line for line in first.differences(other)] == [True]


def test_key_that_differs_is_named_and_never_told(model: Path) -> None:
    first, other = _of(model, VLLM_API_KEY="s3cr3t-1"), _of(model, VLLM_API_KEY="s3cr3t-2")

    told = "".join(first.differences(other)) + repr(first) + repr(asdict(other))

    assert first.digest() != other.digest()
    assert "VLLM_API_KEY" in told
    assert "s3cr3t" not in told


def test_another_value_of_a_flag_is_told_with_both(model: Path) -> None:
    messages.use("en")
    first, other = _of(model), _of(model, (*ARGV[:-1], "4096"))

    assert first.differences(other) == [
        "argument --max-model-len: running 2048, asked for 4096",
    ]


def test_flag_without_a_value_that_is_added_is_told(model: Path) -> None:
    messages.use("en")

    told = _of(model).differences(_of(model, (*ARGV, "--enforce-eager")))

    assert told == ["argument --enforce-eager: running (not there), asked for (set)"]


def test_arguments_split_elsewhere_differ(model: Path) -> None:
    assert _of(model, ("a b",)).digest() != _of(model, ("a", "b")).digest()


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_another_engine_version_is_told(model: Path, language: str) -> None:
    messages.use(language)
    other = fingerprint.of(ARGV, ENV, model, VERSIONS | {"vllm-ascend": "0.18.0"})

    told = _of(model).differences(other)

    assert len(told) == 1
    assert "0.23.0" in told[0]
    assert "0.18.0" in told[0]


def test_version_of_something_else_does_not_count(model: Path) -> None:
    other = fingerprint.of(ARGV, ENV, model, VERSIONS | {"torch": "2.11.0"})

    assert _of(model).digest() == other.digest()


def test_weights_that_were_touched_differ_and_are_named(model: Path) -> None:
    first = _of(model)

    os.utime(model / "model.safetensors", ns=(0, 1))

    assert _of(model).digest() != first.digest()
    assert "model.safetensors" in first.differences(_of(model))[0]


def test_weights_of_the_same_time_and_another_size_differ(model: Path) -> None:
    path = model / "model.safetensors"
    os.utime(path, ns=(0, 1))
    first = _of(model)

    path.write_bytes(b"longer weights")
    os.utime(path, ns=(0, 1))

    assert _of(model).digest() != first.digest()


def test_record_of_ours_beside_the_weights_does_not_count(model: Path) -> None:
    first = _of(model)
    (model / ".verified.json").write_text("{}")

    assert _of(model).digest() == first.digest()


def test_fingerprint_written_to_a_state_file_is_read_back(model: Path) -> None:
    first = _of(model)

    assert fingerprint.read(asdict(first)) == first


@pytest.mark.parametrize("body", [{}, {"argv": 1}, {"argv": [], "variables": 1, "files": {}}])
def test_fingerprint_of_an_earlier_version_is_none(body: dict[str, object]) -> None:
    assert fingerprint.read(body) is None
