"""One notebook run in this process: executed, its servers stopped, and its record made from what it
left. What runs many of them is in `series` and `many`.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from papermill.exceptions import PapermillExecutionError

from helpers import catalog, execution, messages, paths, server
from helpers.batch.job import Job
from helpers.diagnose import attached
from helpers.errors import LabError, RunFailed
from helpers.schemas import CellTime, Checkpoint, Run, RunError, Teardown
from helpers.server import ledger

# LookupError: the kernel that the notebook names is not registered (jupyter_client's NoSuchKernel).
FAILURES = (PapermillExecutionError, LabError, LookupError, OSError, RuntimeError, ValueError)
Say = Callable[[str], None]
Heard = Callable[[Checkpoint], None]


def perform(
    job: Job, target: Path, run_id: str, say: Say, heard: Heard | None = None
) -> tuple[Run, KeyboardInterrupt | None]:
    """Return the record of one run, and the Ctrl-C that ended it if one did.

    Args:
        target: where the executed notebook goes.
        run_id: LAB_RUN in force: the servers that carry it are stopped.
        say: shows one line of progress.
        heard: told each checkpoint as its cell ends.
    """
    begun, before = time.monotonic(), ledger.count(run_id)
    say(messages.text("run.lab", lab=job.title))

    def told(found: Checkpoint) -> None:
        say(f"  {job.title}  {_line(found, time.monotonic() - begun)}")
        if heard is not None:
            heard(found)

    try:
        error, interrupt = _tried(job, target, told)
    finally:
        for proof in server.stop_run(run_id):
            say(f"  {job.title}  teardown: {proof}")
    done = record(job, target, error, time.monotonic() - begun, ledger.count(run_id) - before)
    if done.error:
        first = done.error.message.splitlines()[0] if done.error.message else ""
        say(f"  {job.title}  {done.error.code}: {first}")
    return done, interrupt


def record(job: Job, target: Path, error: RunError | None, seconds: float, starts: int) -> Run:
    """Return what there is to say of a run, from the notebook that it left, however far it came."""
    cells = _cells(target)
    found = execution.records(cells)
    error = error or _unfinished(job, cells, found)
    return Run(
        lab=job.lab,
        language=job.language,
        edition=job.edition,
        engine=next((one.engine for one in found if one.engine), None),
        parameters=job.parameters,
        ok=error is None and bool(found) and all(one.ok for one in found),
        seconds=round(seconds, 1),
        notebook=target.name,
        checkpoints=found,
        error=error,
        engine_starts=starts,
        cells=times(cells),
    )


def torn_down(run_id: str, say: Say) -> Teardown:
    """Return what is left after stopping everything of a run; ports are those of its servers."""
    ports = {int(entry["port"]) for entry in ledger.entries(run_id) if entry["port"]}
    left = 0
    try:
        for proof in server.stop_run(run_id):
            say(f"  teardown: {proof}")
    except LabError as failure:
        say(str(failure))
        left = 1
    held = sorted(port for port in ports if not server.port_is_free("127.0.0.1", port))
    return Teardown(processes_left=left + len(ledger.leftovers(run_id)), ports_left=held)


def times(cells: Sequence[Mapping[str, Any]]) -> list[CellTime]:
    """Return the seconds of each code cell that papermill has timed, in order."""
    timed = [
        (number, cell.get("metadata", {}).get("papermill", {}).get("duration"))
        for number, cell in enumerate(cells)
        if cell["cell_type"] == "code"
    ]
    return [
        CellTime(cell=number, seconds=round(took, 2)) for number, took in timed if took is not None
    ]


def _line(found: Checkpoint, seconds: float) -> str:
    mark = messages.text(f"checkpoint.status.{found.status}")
    return f"{found.step:<22} {mark}  {seconds:6.1f} s  {found.reason or ''}".rstrip()


def _tried(
    job: Job, target: Path, listener: execution.Listener
) -> tuple[RunError | None, KeyboardInterrupt | None]:
    """Return the error that ended a notebook, and the Ctrl-C where that is what it was."""
    parameters = {"LANGUAGE": job.language, **job.parameters}
    try:
        execution.execute(job.notebook, target, parameters, listener)
    except FAILURES as failure:
        return _run_error(failure), None
    except KeyboardInterrupt as interrupt:
        said = messages.text("run.interrupted")
        return RunError(code="run.interrupted", message=said), interrupt
    return None, None


def _unfinished(
    job: Job, cells: Sequence[Mapping[str, Any]], found: Sequence[Checkpoint]
) -> RunError | None:
    """Return the error of a notebook that ended without one but not at its end: papermill takes a
    sys.exit() in a cell for success.
    """
    code = [
        cell for cell in cells if cell["cell_type"] == "code" and "".join(cell["source"]).strip()
    ]
    declared = [step["id"] for step in catalog.labs().get(job.lab, {}).get("checkpoints", [])]
    missing = [step for step in declared if step not in {one.step for one in found}]
    if not missing and all(cell.get("execution_count") for cell in code):
        return None
    reason = messages.text("run.unfinished", missing=", ".join(missing) or "-")
    return _run_error(RunFailed(reason=reason))


def _cells(notebook: Path) -> list[dict[str, Any]]:
    """Return the cells of an executed notebook; none where it was never begun or is cut off."""
    try:
        return list(json.loads(notebook.read_text(encoding="utf-8"))["cells"])
    except (FileNotFoundError, ValueError):
        return []


def _run_error(failure: Exception) -> RunError:
    """Return the error of a run; a LabError inside the notebook is known by the code that its
    message begins with.
    """
    if not isinstance(failure, PapermillExecutionError):
        return RunError(code=getattr(failure, "code", type(failure).__name__), message=str(failure))
    told = re.match(r"\[([\w.]+)\] ", failure.evalue)
    return RunError(
        code=told.group(1) if told else failure.ename,
        message=paths.shown(failure.evalue),
        diagnosis=attached.of_run(failure.evalue),
    )
