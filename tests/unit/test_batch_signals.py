"""Tests of a run that is interrupted: whatever it had started is stopped, its report is written,
its status is 130.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from light.light_notebook import CHECK, READY, START, light_notebook
from light.waiting import until

from helpers import server
from helpers.schemas import Report
from helpers.server import ledger, process, state

# The command line, with one notebook in place of the catalogue and its build directory elsewhere.
# A shell that starts a job with `&` lets it ignore Ctrl-C, and the job's children too; a run in a
# terminal heeds it.
RUNNER = """
import functools, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from pathlib import Path
from helpers import batch, cli, paths
from helpers.server import stopping
stopping.stop = functools.partial(stopping.stop, grace=2.0)
paths.build_dir = lambda: Path(sys.argv[2])
job = batch.Job("light", "en", Path(sys.argv[1]), parameters={"FLAGS": sys.argv[3:]})
batch.jobs = lambda *_: [job]
cli.main(["--language", "en", "run"])
"""
Runner = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def runner(tmp_path: Path, own_state: Path) -> Iterator[Runner]:
    """Return a function that runs the notebook with a light server's flags, in a process of its
    own.
    """
    book = light_notebook(
        tmp_path / "light.ipynb", [START, READY, CHECK.format(step="a"), "time.sleep(60)"]
    )
    started: list[subprocess.Popen[str]] = []

    def made(*flags: str) -> subprocess.Popen[str]:
        words = [sys.executable, "-c", RUNNER, str(book), str(tmp_path / "build"), *flags]
        one = subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        started.append(one)
        return one

    yield made
    for one in started:
        if one.poll() is None:
            one.kill()
        one.communicate()
    for _, found in state.read_all():  # where the test has failed
        process.end(found.identity(), None, grace=0.0)


def _wait_for(phase: str) -> state.State:
    """Return the server's state once it has reached "starting" or "ready"."""
    until(lambda: [row.state for row in server.status()] == [phase], 300)
    return state.read_all()[0][1]


def _report(tmp_path: Path) -> Report:
    return Report(**json.loads((tmp_path / "build" / "latest" / "report.json").read_text("utf-8")))


def _nothing_left(found: state.State) -> bool:
    assert found.run is not None
    return (
        process.members(found.identity()) == []
        and ledger.leftovers(found.run) == []
        and process.port_is_free("127.0.0.1", found.port)
        and state.read_all() == []
    )


@pytest.mark.parametrize(("phase", "flags"), [("starting", ("--delay", "60")), ("ready", ())])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_run_interrupted_in_any_phase_leaves_nothing_and_a_report(
    runner: Runner, tmp_path: Path, number: int, phase: str, flags: tuple[str, ...]
) -> None:
    one = runner(*flags)
    found = _wait_for(phase)

    one.send_signal(number)
    out, _ = one.communicate(timeout=300)

    assert one.returncode == 130, out
    assert "Interrupted" in out
    assert "Traceback" not in out
    assert _nothing_left(found)
    report = _report(tmp_path)
    assert (report.ok, report.engine_starts) == (False, 1)
    assert [(one.ok, one.error and one.error.code) for one in report.runs] == [
        (False, "run.interrupted")
    ]
    assert report.teardown.model_dump() == {"processes_left": 0, "ports_left": []}


def test_run_interrupted_again_and_again_still_leaves_nothing_and_a_report(
    runner: Runner, tmp_path: Path
) -> None:
    one = runner("--stubborn")
    found = _wait_for("ready")

    for _ in range(4):
        one.send_signal(signal.SIGINT)
        time.sleep(0.7)
    out, _ = one.communicate(timeout=300)

    assert one.returncode == 130, out
    assert _nothing_left(found)
    assert not _report(tmp_path).ok
