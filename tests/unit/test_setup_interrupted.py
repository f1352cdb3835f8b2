"""Setup interrupted or started twice: it says so, goes on where it was, and never runs beside itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from setup_fakes import english, until

from helpers import paths
from helpers.setup import stamps

__all__ = ["english"]


_INTERRUPTED = """
import sys
from pathlib import Path
from helpers import interpreters, paths, setup
from helpers.setup import bootstrap, commands
from helpers.setup.environments import Environment, Step
from setup_fakes import quick_venv
import setup_fakes
place = Path(sys.argv[1])
WAIT = (
    "import pathlib, sys, time; end = time.monotonic() + float(sys.argv[1])\\n"
    "while time.monotonic() < end and not pathlib.Path(sys.argv[2]).exists(): time.sleep(0.05)"
)
paths.venvs_dir = lambda: place / "venvs"
def make(python, directory, log):
    if not interpreters.inside(directory).exists():
        quick_venv(directory)
bootstrap.make = make
def step(environment):
    (place / "began").touch()
    waiting = [sys.executable, "-c", WAIT, sys.argv[2], str(place / "go")]
    commands.run(waiting, environment.log)
    return ""
lock = place / "some.lock"
lock.touch()
plan = Environment(
    name="course", directory=place / "venvs" / "course", sources=(lock,), python=setup_fakes.BASE,
    steps=(Step("title-packages", step, {"count": 1}),), quick_proof="", needed=1,
    log=place / "course.log")
setup._plans = lambda options: [plan]
sys.exit(setup.main([]))
"""


def _start(place: Path, seconds: float) -> subprocess.Popen[str]:
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(paths.ROOT), str(Path(__file__).parent)]),
    }
    return subprocess.Popen(
        [sys.executable, "-c", _INTERRUPTED, str(place), str(seconds)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables,
    )  # fmt: skip


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_setup_says_so_and_the_next_one_goes_on(
    tmp_path: Path, number: signal.Signals
) -> None:
    first = _start(tmp_path, 60)
    until((tmp_path / "began").exists)
    first.send_signal(number)
    _, said = first.communicate(timeout=20)
    unstamped = stamps.read(tmp_path / "venvs" / "course")

    second = _start(tmp_path, 0)
    shown, _ = second.communicate(timeout=30)

    assert (first.returncode, second.returncode) == (130, 0)
    assert "goes on from where it stopped" in said and "Traceback" not in said
    assert unstamped == {}
    assert "going on from there" in shown


def test_second_setup_at_the_same_time_waits_and_installs_nothing(tmp_path: Path) -> None:
    first = _start(tmp_path, 120)
    until((tmp_path / "began").exists)
    second = _start(tmp_path, 120)
    assert second.stdout is not None
    waiting = f"Another setup is at work here (pid {first.pid})"

    told = next((line for line in second.stdout if waiting in line), "")
    (tmp_path / "go").touch()
    outputs = [process.communicate(timeout=60)[0] for process in (first, second)]

    assert told
    assert (first.returncode, second.returncode) == (0, 0)
    assert "ready, nothing to install" in outputs[1]
