"""A run leaves nothing behind: not where a checkpoint fails, not on Ctrl-C while the engine loads.

The lab's own notebook runs through the real command line in a process of its own. Its offline part
is left out: that is another engine start, which test_offline.py has.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import psutil
import pytest

from helpers import messages, paths, server
from helpers.engines import Cpu
from helpers.models import Model
from helpers.server import ledger, process, state

LAB = "02_minicpm5"
FAULT = 'checkpoint.check("seeded", False, "a fault of the test")'
# `python -m helpers run`, with notebooks and reports in folders of the test, heeding Ctrl-C as in a
# terminal: a shell that starts a job with `&` lets it ignore that, and the job's children too.
COMMAND = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from pathlib import Path
from helpers import cli, paths
paths.NOTEBOOKS, build = Path(sys.argv[1]), Path(sys.argv[2])
paths.build_dir = lambda: build
cli.main(["run", "02_minicpm5", "--language", "zh"])
"""


@dataclass
class Runner:
    """One run of the lab in a process of its own.

    Attributes:
        folder: holds notebooks/ and build/.
        variables: its environment.
        child: the process, once it is started.
    """

    folder: Path
    variables: dict[str, str]
    child: subprocess.Popen[str] | None = None

    def start(self) -> subprocess.Popen[str]:
        """Start it in a process group of its own, as a terminal does."""
        (self.folder / "build").mkdir()
        argv = [sys.executable, "-c", COMMAND, str(self.folder / "notebooks")]
        self.child = subprocess.Popen(
            [*argv, str(self.folder / "build")],
            env=self.variables,
            cwd=paths.ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        return self.child

    def end(self) -> None:
        """End what a test that failed has left running."""
        if self.child is not None and self.child.poll() is None:
            os.killpg(self.child.pid, signal.SIGKILL)
            self.child.communicate()

    def started(self, timeout: float = 90.0) -> tuple[str, list[dict[str, int]]]:
        """Return the run's id and its engine starts, as soon as there is one."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            for path in (paths.state_dir() / "runs").glob("run-*.jsonl"):
                if path.stat().st_mtime > self.folder.stat().st_ctime:
                    return path.stem, ledger.entries(path.stem)
            time.sleep(0.1)
        raise TimeoutError("no engine start within the time allowed")

    def report(self) -> dict[str, object]:
        """Return what the run reported."""
        text = (self.folder / "build" / "latest" / "report.json").read_text(encoding="utf-8")
        return json.loads(text)


def _copy(folder: Path, fault: str = "") -> None:
    """Copy the lab without its offline part; a fault becomes the cell after `serving`."""
    found = nbformat.read(paths.NOTEBOOKS / "zh" / f"{LAB}.ipynb", as_version=4)
    cells = [one for one in found.cells if not _is_offline(one)]
    place = next(n for n, one in enumerate(cells) if 'checkpoint.check("serving"' in one.source)
    if fault:
        cells.insert(place + 1, nbformat.v4.new_code_cell(fault))
    found.cells = cells
    target = folder / "notebooks" / "zh" / f"{LAB}.ipynb"
    target.parent.mkdir(parents=True)
    nbformat.write(found, target)


def _is_offline(cell: nbformat.NotebookNode) -> bool:
    marks = ("offline.run(", "result.")
    return cell.cell_type == "code" and any(mark in cell.source for mark in marks)


@pytest.fixture
def runner(device: Cpu, model: Model, tmp_path: Path) -> Iterator[Runner]:
    """Yield a run that is not started yet: CPU engine, free port, and no id of ours."""
    ours = {"LAB_ENGINE": device.name, "LAB_MODEL_DIR": str(model.path), "LAB_PORT": "0"}
    variables = {name: value for name, value in os.environ.items() if name != "LAB_RUN"}
    made = Runner(tmp_path, variables | ours)
    yield made
    made.end()


def _carriers(run: str) -> list[str]:
    """Return every process whose environment has the run's id, in any group or session."""
    found = []
    for one in psutil.process_iter():
        try:
            if one.environ().get("LAB_RUN") == run and one.status() != psutil.STATUS_ZOMBIE:
                found.append(f"{one.pid} {one.name()}")
        except psutil.Error:
            continue
    return found


def _lives(pid: int) -> bool:
    """Return True for a process that runs; one that waits for init to reap it does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _assert_nothing_left(run: str, starts: list[dict[str, int]]) -> None:
    assert starts
    assert _carriers(run) == []
    assert [one for one in starts if _lives(one["pid"])] == []
    ports = [one["port"] for one in starts]
    assert [port for port in ports if not server.port_is_free("127.0.0.1", port)] == []
    assert [found for _, found in state.read_all() if found.run == run] == []


def _files_with(secret: str, *folders: Path) -> list[Path]:
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if secret.encode() in path.read_bytes()]


def test_run_whose_checkpoint_fails_leaves_nothing_and_says_so(runner: Runner) -> None:
    """Starts its own: the run must own the server that it stops. The server wants an API key, which
    must then stand in no log, notebook or report."""
    key = f"sk-{secrets.token_hex(16)}"
    runner.variables["LAB_API_KEY"] = key
    _copy(runner.folder, FAULT)
    child = runner.start()

    printed, _ = child.communicate(timeout=240)
    run, starts = runner.started()
    report = runner.report()

    assert child.returncode == 1, printed
    _assert_nothing_left(run, starts)
    steps = {one["step"]: one["status"] for one in report["runs"][0]["checkpoints"]}
    assert steps["serving"] == "pass"
    assert steps["seeded"] == "fail"
    assert list(steps)[-1] == "seeded"
    assert report["runs"][0]["error"]["code"] == "checkpoint.failed"
    assert (report["ok"], report["engine_starts"]) == (False, 1)
    assert report["teardown"] == {"processes_left": 0, "ports_left": []}
    assert key not in printed
    assert _files_with(key, runner.folder, paths.state_dir()) == []


@pytest.mark.parametrize(
    "signals",
    [
        pytest.param([signal.SIGINT], id="ctrl-c"),
        pytest.param([signal.SIGINT, signal.SIGINT], id="ctrl-c-twice", marks=pytest.mark.full),
        pytest.param([signal.SIGTERM], id="terminated", marks=pytest.mark.full),
    ],
)
def test_run_interrupted_while_the_engine_loads_leaves_nothing(
    runner: Runner, signals: list[signal.Signals]
) -> None:
    """Starts its own: it must still be loading."""
    _copy(runner.folder)
    child = runner.start()
    run, starts = runner.started()
    _wait_for_two_processes(starts[0]["pid"])

    for number in signals:
        os.killpg(child.pid, number)
        time.sleep(0.5)
    printed, _ = child.communicate(timeout=60)

    assert child.returncode == 130, printed
    assert messages.text("run.interrupted", "zh") in printed
    _assert_nothing_left(run, starts)
    assert runner.report()["ok"] is False
    assert runner.report()["teardown"] == {"processes_left": 0, "ports_left": []}


def _wait_for_two_processes(pid: int, timeout: float = 90.0) -> None:
    """Wait until the API server has its engine process beside it: both must end."""
    leader = process.Identity(pid, pid, process.start_ticks(pid) or 0)
    deadline = time.monotonic() + timeout
    while len(process.members(leader)) < 2:
        assert process.members(leader), "the engine ended by itself"
        assert time.monotonic() < deadline
        time.sleep(0.1)
