"""Two runs of lab 02 that share one server of the CPU engine, started and stopped by the batch."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from helpers import paths, report
from helpers.batch import folders
from helpers.engines import Cpu
from helpers.server import ledger

pytestmark = pytest.mark.full
SECONDS = 900


@pytest.fixture
def matrix(tmp_path: Path, device: Cpu) -> Path:
    source = tmp_path / "matrix.yml"
    source.write_text(
        "labs: [02_minicpm5]\nlanguages: [zh, en]\nworkers: 2\nshare_server: true\n"
        "parameters: {ENGINE: cpu}\n",
        encoding="utf-8",
    )
    return source


def _begun(matrix: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "helpers", "run", str(matrix), "--out", str(matrix.parent / "out")],
        cwd=paths.ROOT,
        env={name: value for name, value in os.environ.items() if name != "LAB_RUN"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_runs_with_the_same_command_take_one_engine_start(matrix: Path) -> None:
    one = _begun(matrix)
    said, _ = one.communicate(timeout=SECONDS)

    found = report.read(matrix.parent / "out")
    assert one.returncode == 0, said
    assert {run.engine for run in found.runs} == {"remote"}
    assert (found.engine_starts, found.engine_starts_declared) == (1, 1)
    assert found.teardown.model_dump() == {"processes_left": 0, "ports_left": []}


def test_interrupted_batch_stops_the_shared_server(matrix: Path) -> None:
    one = _begun(matrix)
    deadline = time.monotonic() + SECONDS
    while not (ready := list(matrix.parent.glob(f"out/server.*/{folders.READY}"))):
        assert time.monotonic() < deadline and one.poll() is None
        time.sleep(0.2)

    one.send_signal(signal.SIGINT)
    said, _ = one.communicate(timeout=SECONDS)

    assert one.returncode == 130, said
    assert (ready[0].with_name(folders.ENDED)).is_file()
    run = (ready[0].with_name(folders.ASKED)).read_text("utf-8")
    assert ledger.leftovers(run.split('"run_id": "')[1].split('"')[0]) == []
    found = report.read(matrix.parent / "out")
    assert found.teardown.model_dump() == {"processes_left": 0, "ports_left": []}
