"""Tests of the device's memory after a stop, with a recorded `npu-smi info` on PATH."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from light.light_engine import LightEngine

from helpers import device_memory, server
from helpers.server import state

TABLE = (
    Path(__file__).parents[1] / "fixtures/ascend/recorded/npu_smi/910b3_25.2.0_one_busy_npu4.txt"
)
GIB = 2**30
Start = Callable[..., server.Server]


@pytest.fixture
def npu_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that makes `npu-smi info` print a text; it begins with the recording."""
    folder = tmp_path / "bin"
    folder.mkdir()
    said = folder / "said.txt"
    (folder / "npu-smi").write_text(f'#!/bin/sh\ncat "{said}"\n')
    (folder / "npu-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setattr(device_memory, "POLL_SECONDS", 0.01)
    said.write_text(TABLE.read_text("utf-8"), "utf-8")
    return lambda text: (said.write_text(text, "utf-8"), None)[1]


def test_used_is_read_for_each_chip_in_bytes(npu_smi: Callable[[str], None]) -> None:
    used = device_memory.used("ascend")

    assert len(used) >= 1
    assert all(0 < held < 128 * GIB for held in used.values())
    assert max(used.values()) > 2 * min(used.values()) or len(used) == 1


@pytest.mark.parametrize("engine", ["cpu", "remote", "light"])
def test_engine_without_such_a_device_is_not_asked(engine: str) -> None:
    assert device_memory.used(engine) == {}
    assert device_memory.returned(engine, {"0/0": 1}, 0.0) == "not applicable"


def test_memory_that_came_back_is_returned(npu_smi: Callable[[str], None]) -> None:
    before = {chip: held - GIB // 2 for chip, held in device_memory.used("ascend").items()}

    assert device_memory.returned("ascend", before, 5.0) == "returned"


def test_memory_that_stays_in_use_is_unknown(npu_smi: Callable[[str], None]) -> None:
    before = {chip: max(0, held - 2 * GIB) for chip, held in device_memory.used("ascend").items()}

    assert device_memory.returned("ascend", before, 0.05) == "unknown"


@pytest.mark.parametrize("said", ["", "DrvMngGetConsoleLogLevel failed. (g_conLogLevel=3)", "NPU"])
def test_tool_that_tells_nothing_is_unknown(npu_smi: Callable[[str], None], said: str) -> None:
    before = device_memory.used("ascend")
    npu_smi(said)

    assert device_memory.returned("ascend", before, 5.0) == "unknown"


def test_memory_that_was_not_known_before_is_unknown(npu_smi: Callable[[str], None]) -> None:
    assert device_memory.returned("ascend", {}, 5.0) == "unknown"


def test_chip_that_is_gone_from_the_table_is_unknown(npu_smi: Callable[[str], None]) -> None:
    before = device_memory.used("ascend") | {"99/0": 1}

    assert device_memory.returned("ascend", before, 0.05) == "unknown"


@pytest.mark.usefixtures("own_state")
def test_stop_of_a_server_on_an_npu_proves_its_memory(
    start: Start, npu_smi: Callable[[str], None]
) -> None:
    one = start(engine=LightEngine(name="ascend"))
    kept = state.read_all()[0][1].memory_before

    proof = one.stop()

    assert kept == device_memory.used("ascend")
    assert proof.device_memory == "returned"
