"""Run labs one after another through papermill, show what happens, stop whatever they started, and
write the report.

Each run starts and stops its own engines. Nothing that a run has written is changed afterwards.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, cast

from papermill.exceptions import PapermillExecutionError

from helpers import catalog, execution, marked, messages, paths, records, report, server
from helpers.errors import LabError, RunFailed, SecretParameter
from helpers.schemas import Checkpoint, Report, Run, RunError, Teardown
from helpers.server import ledger

SECRET = re.compile(r"(KEY|TOKEN|SECRET)$")
Language = Literal["zh", "en"]
# LookupError: the kernel that the notebook names is not registered (jupyter_client's NoSuchKernel).
FAILURES = (PapermillExecutionError, LabError, LookupError, OSError, RuntimeError, ValueError)


@dataclass(frozen=True)
class Job:
    """One notebook to run: lab, language, edition, where it lies, and the parameters that
    papermill injects.

    Raises:
        SecretParameter: a name that ends in KEY, TOKEN or SECRET: papermill would write its value
            into the notebook.
    """

    lab: str
    language: Language
    notebook: Path
    edition: Literal["learner", "solution"] = "learner"
    parameters: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.parameters:
            if SECRET.search(name.upper()):
                raise SecretParameter(name=name)


def jobs(
    languages: Sequence[str] = (),
    labs: Sequence[str] = (),
    parameters: Mapping[str, Any] | None = None,
) -> list[Job]:
    """Return the runs of the catalogue: each lab in each language.

    Args:
        languages: "zh", "en"; none takes LAB_LANGUAGE if it is set, else both.
        labs: lab ids; none takes all.
        parameters: what papermill injects into each.
    Raises:
        SecretParameter: as Job.
        UnknownLab: no such lab.
    """
    only = os.environ.get("LAB_LANGUAGE")
    chosen = tuple(languages) or ((only,) if only in messages.LANGUAGES else messages.LANGUAGES)
    names = [catalog.lab(name)["id"] for name in labs] or list(catalog.labs())
    return [
        Job(
            name,
            cast("Language", language),
            paths.NOTEBOOKS / language / f"{name}.ipynb",
            parameters=dict(parameters or {}),
        )
        for name in names
        for language in chosen
    ]


def run(
    todo: Sequence[Job],
    folder: Path | None = None,
    began: float | None = None,
    say: Callable[[str], None] = print,
) -> Report:
    """Return the report of having run all jobs; it also lies in the folder, as report.json and
    report.html.

    Args:
        todo: the runs, in order.
        folder: where the executed notebooks and the report go; None makes build/run-<time>.
        began: time.time() of the moment from which "first answer after" counts; None takes now.
        say: shows one line of progress.
    """
    folder, say = folder or _new_folder(), _heard(say)
    run_id, started = f"{folder.name}-{secrets.token_hex(4)}", records.now()
    clock = time.time() if began is None else began
    answered: list[float] = []
    done: list[Run] = []
    with marked.run_id(run_id), marked.terminated_like_ctrl_c():
        try:
            for job in todo:
                _one(job, done, folder, run_id, say, answered, clock)
        finally:
            with marked.undisturbed():  # an impatient second Ctrl-C must not leave an engine behind
                stopped = _torn_down(run_id, say)
                whole = len(done) == len(todo) and all(one.ok for one in done)
                summary = Report(
                    schema=1,
                    started=started,
                    ok=whole and not (stopped.processes_left or stopped.ports_left),
                    engine_starts=ledger.count(run_id),
                    engine_starts_declared=_declared(todo, done),
                    first_answer_seconds=round(answered[0], 1) if answered else None,
                    runs=done,
                    teardown=stopped,
                )
                report.write(summary, folder)
                _point_latest(folder)
    return summary


def _heard(say: Callable[[str], None]) -> Callable[[str], None]:
    """Return a `say` that goes on in silence where its reader has gone (`… | head`): the report
    holds it all.
    """

    def told(line: str) -> None:
        try:
            say(line)
        except BrokenPipeError:
            return

    return told


def _declared(todo: Sequence[Job], done: Sequence[Run]) -> int:
    """Return the engine starts that the catalogue declares for these runs; one on a remote engine
    starts none.
    """
    remote = {n for n, one in enumerate(done) if one.engine == "remote"}
    return sum(
        catalog.labs().get(job.lab, {}).get("engine_starts", 0)
        for n, job in enumerate(todo)
        if n not in remote
    )


def _one(
    job: Job,
    done: list[Run],
    folder: Path,
    run_id: str,
    say: Callable[[str], None],
    answered: list[float],
    clock: float,
) -> None:
    """Run one job and add its record to `done`, also where it was interrupted."""
    target = folder / f"{job.lab}.{job.language}.ipynb"
    begun, before = time.monotonic(), ledger.count(run_id)
    title = f"{job.lab} {job.language}"
    say(messages.text("run.lab", lab=title))
    first = catalog.labs().get(job.lab, {}).get("first_answer")

    def told(found: Checkpoint) -> None:
        say(f"  {title}  {_line(found, time.monotonic() - begun)}")
        if found.step == first and found.status == "pass" and not answered:
            answered.append(time.time() - clock)

    try:
        error, interrupt = _tried(job, target, told)
    finally:
        for proof in server.stop_run(run_id):
            say(f"  {title}  teardown: {proof}")
    cells = _cells(target) if target.exists() else []
    found = execution.records(cells)
    error = error or _unfinished(job, cells, found)
    ok = error is None and bool(found) and all(one.ok for one in found)
    if error:
        say(f"  {title}  {error.code}: {error.message.splitlines()[0] if error.message else ''}")
    done.append(
        Run(
            lab=job.lab,
            language=job.language,
            edition=job.edition,
            engine=next((one.engine for one in found if one.engine), None),
            parameters=job.parameters,
            ok=ok,
            seconds=round(time.monotonic() - begun, 1),
            notebook=target.name,
            checkpoints=found,
            error=error,
            engine_starts=ledger.count(run_id) - before,
        )
    )
    if interrupt is not None:
        raise interrupt


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
    return list(json.loads(notebook.read_text(encoding="utf-8"))["cells"])


def _run_error(failure: Exception) -> RunError:
    """Return the error of a run; a LabError inside the notebook is known by the code that its
    message begins with.
    """
    if not isinstance(failure, PapermillExecutionError):
        return RunError(code=getattr(failure, "code", type(failure).__name__), message=str(failure))
    told = re.match(r"\[([\w.]+)\] ", failure.evalue)
    return RunError(
        code=told.group(1) if told else failure.ename, message=paths.shown(failure.evalue)
    )


def _torn_down(run_id: str, say: Callable[[str], None]) -> Teardown:
    """Return what is left after stopping everything of this run; ports are those of its servers."""
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


def _new_folder() -> Path:
    folder = paths.build_dir() / f"run-{datetime.now():%Y%m%d-%H%M%S}"
    while folder.exists():
        folder = folder.with_name(f"{folder.name}-{secrets.token_hex(2)}")
    folder.mkdir(parents=True)
    return folder


def _point_latest(folder: Path) -> None:
    latest = folder.parent / "latest"
    temporary = folder.parent / f".latest-{os.getpid()}"
    temporary.symlink_to(folder.name)
    temporary.replace(latest)


def expected_minutes(todo: Sequence[Job]) -> float:
    """Return the minutes that the runs take on two cores, as the catalogue measured them (CPU
    engine).
    """
    return float(sum(catalog.labs().get(job.lab, {}).get("cpu_seconds", 60) for job in todo)) / 60
