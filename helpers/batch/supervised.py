"""One run in a process of its own: started, watched, ended at its limit of time or on demand, its
record read. What both executors do; knows no pool and no cluster.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Event
from typing import Any, Protocol

from helpers import messages, paths
from helpers.batch import folders
from helpers.batch.job import Job
from helpers.schemas import Run, RunError, RunRecord, Teardown
from helpers.server import process

GRACE = 90.0
"""Seconds between asking a run to end and ending it: it stops its engine and proves that."""
POLL = 0.1


class Child(process.Reapable, Protocol):
    """What is needed of a run's process; a Popen has it."""

    returncode: Any

    def wait(self, timeout: float) -> int: ...
    def send_signal(self, number: int, /) -> None: ...


Begin = Callable[[Path, Mapping[str, str], Path], tuple[Child, process.Identity]]
"""Makes a run's process from its folder, its environment and its log."""


def attempt(
    job: Job,
    place: Path,
    key: str,
    ending: Event,
    timeout: float | None = None,
    variables: Mapping[str, str] | None = None,
    begin: Begin | None = None,
) -> RunRecord:
    """Return the record of one attempt at a run.

    Args:
        place: the run's folder; what an earlier attempt left there is set aside.
        key: the job's.
        ending: once it is set the run is asked to end.
        timeout: seconds; None sets no limit.
        variables: set beside this process's environment.
        begin: makes the run's process; None starts a Python anew.
    """
    folders.set_aside(place)
    folders.describe(place, job, f"{place.parent.name}-{secrets.token_hex(4)}", key)
    env = environment(variables)
    begun = time.monotonic()
    one, identity = (begin or _spawned)(place, env, place / folders.LOG)
    try:
        timed_out = _awaited(one, ending, timeout)
    except BaseException:  # a cancelled Ray task: its engine must not outlive it
        asked_to_end(one)
        raise
    finally:
        process.end(identity, one, grace=0.0)
    status = process.told_status(one.returncode)
    if timed_out and timeout is not None:
        code, said = "run.timeout", messages.text("run.timeout", seconds=f"{timeout:g}")
    else:
        code, said = "run.killed", messages.text("run.killed", status=status)
    found = folders.read(place)
    if found is None or timed_out:
        seconds = round(time.monotonic() - begun, 1)
        settle = [*_argv(place), "--settle", code, said, str(seconds)]
        with (place / folders.LOG).open("ab") as log:
            subprocess.run(settle, env=env, cwd=paths.ROOT, stdout=log, stderr=log, check=False)
        found = folders.read(place) or lost(job, key, code, said, seconds)
    return found


def lost(job: Job, key: str, code: str, said: str, seconds: float) -> RunRecord:
    """Return the record of a run that has left nothing to make one from."""
    run = Run(
        lab=job.lab,
        language=job.language,
        edition=job.edition,
        engine=None,
        parameters=job.parameters,
        ok=False,
        seconds=seconds,
        notebook=folders.target(Path(), job).name,
        checkpoints=[],
        error=RunError(code=code, message=said),
    )
    nothing = Teardown(processes_left=0, ports_left=[])
    return RunRecord(schema=1, key=key, run=run, teardown=nothing)


def outcome(record: RunRecord) -> str:
    """Return how a run ended: "passed", "killed", "timeout", "interrupted" or "failed"."""
    if record.run.ok:
        return "passed"
    code = record.run.error.code if record.run.error else ""
    known = {
        "run.killed": "killed",
        "run.node_lost": "killed",
        "run.timeout": "timeout",
        "run.interrupted": "interrupted",
    }
    return known.get(code, "failed")


def _awaited(one: Child, ending: Event, timeout: float | None) -> bool:
    """Wait for a process; return True where it was ended because its time was over."""
    deadline = None if timeout is None else time.monotonic() + timeout
    while one.poll() is None:
        late = deadline is not None and time.monotonic() > deadline
        if late or ending.is_set():
            asked_to_end(one)
            return late
        time.sleep(POLL)
    return False


def asked_to_end(one: Child) -> None:
    """Ask a run to end like a Ctrl-C, and wait for it as long as that may take."""
    one.send_signal(signal.SIGTERM)
    try:
        one.wait(GRACE)
    except subprocess.TimeoutExpired:
        return


def _spawned(
    place: Path, env: Mapping[str, str], log: Path
) -> tuple[subprocess.Popen[bytes], process.Identity]:
    return process.spawn(_argv(place), env, log, paths.ROOT)


def _argv(place: Path) -> Sequence[str]:
    return python("helpers.batch.child", place)


def python(module: str, place: Path) -> list[str]:
    """Return the words that run one of our modules on a folder."""
    return [sys.executable, "-m", module, str(place)]


def environment(variables: Mapping[str, str] | None) -> dict[str, str]:
    """Return this process's environment with the variables; the checkout can be imported, and what
    is said goes to the log at once.
    """
    others = [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]
    found = os.pathsep.join(dict.fromkeys([str(paths.ROOT), *others]))
    ours = {"PYTHONPATH": found, "LAB_LANGUAGE": messages.language(), "PYTHONUNBUFFERED": "1"}
    return {**os.environ, **ours, **(variables or {})}
