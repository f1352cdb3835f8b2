"""A matrix of twelve runs of lab 02 that ask one server. On this machine one of them is killed in
the middle, the rest goes on, and the next call does only that one; on two Ray nodes one node is
killed, and its run is done again on the other.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from light.ray_cluster import Nodes, two_nodes, with_ray
from light.run_processes import log_of, of_folder

from helpers import catalog, paths, report
from helpers.batch import folders
from helpers.schemas import Report, Run
from helpers.server import Server

pytestmark = pytest.mark.full
LAB = "02_minicpm5"
LENGTHS = [512, 640, 768, 1024, 1536, 2048]
SECONDS = 3000


@pytest.fixture
def matrix(tmp_path: Path, served: Server) -> Path:
    """Return a matrix file of 2 languages × 6 values; the server is the shared one."""
    source = tmp_path / "matrix.yml"
    source.write_text(
        f"labs: [{LAB}]\nlanguages: [zh, en]\nvary: {{MAX_MODEL_LEN: {LENGTHS}}}\n"
        f"parameters: {{ENGINE: remote, BASE_URL: '{served.base_url}'}}\n",
        encoding="utf-8",
    )
    return source


def _begun(matrix: Path, **variables: str) -> subprocess.Popen[str]:
    words = ["run", str(matrix), "--workers", "2", "--out", str(matrix.with_name("out"))]
    return subprocess.Popen(
        [sys.executable, "-m", "helpers", *words],
        cwd=paths.ROOT,
        env={name: value for name, value in os.environ.items() if name != "LAB_RUN"} | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _kill_a_run(folder: Path) -> None:
    """Kill the process of a run that has begun to execute its notebook."""
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        for process in of_folder(folder):
            log = log_of(process)
            if log.name == folders.LOG and log.with_name(f"{LAB}.ipynb").exists():
                process.send_signal(signal.SIGKILL)
                return
        time.sleep(0.5)
    raise AssertionError("no run had begun")


def _kill_the_node_of_a_run(nodes: Nodes) -> None:
    """Kill the second node once a run there has begun to execute its notebook."""
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        for process in psutil.process_iter(["cmdline"]):
            words = process.info["cmdline"] or []
            if (
                "helpers.batch.child" not in words
                or not (Path(words[-1]) / f"{LAB}.ipynb").exists()
            ):
                continue
            if nodes.raylet in [one.pid for one in process.parents()]:
                nodes.kill_second()
                return
        time.sleep(0.5)
    raise AssertionError("no run had begun on the second node")


def _failed(found: Report) -> list[Run]:
    return [run for run in found.runs if not run.ok]


def test_twelve_runs_on_a_server_one_killed_and_then_only_that_one(matrix: Path) -> None:
    """Takes the shared server, which must be up for all runs."""
    out = matrix.with_name("out")
    first = _begun(matrix)
    _kill_a_run(out)
    said, _ = first.communicate(timeout=SECONDS)
    after_first = report.read(out)

    second = _begun(matrix)
    said_again, _ = second.communicate(timeout=SECONDS)
    after_second = report.read(out)

    assert first.returncode == 1, said
    assert len(after_first.runs) == 2 * len(LENGTHS)
    assert [run.error.code for run in _failed(after_first) if run.error] == ["run.killed"]
    assert {run.engine for run in after_second.runs} == {"remote"}
    assert (after_first.engine_starts, after_second.engine_starts_declared) == (0, 0)
    assert second.returncode == 0, said_again
    assert [run.kept for run in after_second.runs] == [run.ok for run in after_first.runs]
    steps = {one["id"] for one in catalog.lab(LAB)["checkpoints"]}
    assert all({one.step for one in run.checkpoints} == steps for run in after_second.runs)
    assert after_second.teardown.model_dump() == {"processes_left": 0, "ports_left": []}


def test_twelve_runs_on_two_ray_nodes_one_killed_and_its_run_done_again(
    matrix: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    matrix.write_text(matrix.read_text("utf-8") + "executor: ray\n", "utf-8")
    ray = with_ray()
    with two_nodes(ray, tmp_path_factory.mktemp("ray")) as nodes:
        one = _begun(matrix, **ray, RAY_ADDRESS=nodes.address)
        _kill_the_node_of_a_run(nodes)
        said, _ = one.communicate(timeout=SECONDS)

    found = report.read(matrix.with_name("out"))
    statuses = {
        (run.language, tuple((one.step, one.status) for one in run.checkpoints))
        for run in found.runs
    }
    assert one.returncode == 0, said
    assert (len(found.runs), found.executor) == (2 * len(LENGTHS), "ray")
    assert sorted(run.attempts for run in found.runs) == [1] * 11 + [2]
    assert {run.engine for run in found.runs} == {"remote"}
    assert len(statuses) == 2
    assert found.teardown.model_dump() == {"processes_left": 0, "ports_left": []}
