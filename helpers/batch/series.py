"""The labs one after another in this process, as `make run` does: what happens is shown, whatever
was started is stopped, and the report is written.

Each run starts and stops its own engines. Nothing that a run has written is changed afterwards.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from pathlib import Path

from helpers import catalog, marked, records, report
from helpers.batch import folders, page, single
from helpers.batch.job import Job, declared_starts
from helpers.batch.single import Say
from helpers.schemas import Checkpoint, Report, Run
from helpers.server import ledger


def run(
    todo: Sequence[Job],
    folder: Path | None = None,
    began: float | None = None,
    say: Say = print,
) -> Report:
    """Return the report of having run all jobs; it also lies in the folder, as report.json and
    report.html.

    Args:
        todo: the runs, in order.
        folder: where the executed notebooks and the report go; None makes build/run-<time>.
        began: time.time() of the moment from which "first answer after" counts; None takes now.
        say: shows one line of progress.
    """
    folder, say = folder or folders.new(), _heard(say)
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
                stopped = single.torn_down(run_id, say)
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
                folders.point_latest(folder)
    return summary


def _heard(say: Say) -> Say:
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
    return sum(declared_starts(job) for n, job in enumerate(todo) if n not in remote)


def _one(
    job: Job,
    done: list[Run],
    folder: Path,
    run_id: str,
    say: Say,
    answered: list[float],
    clock: float,
) -> None:
    """Run one job and add its record to `done`, also where it was interrupted."""
    first = catalog.labs().get(job.lab, {}).get("first_answer")

    def heard(found: Checkpoint) -> None:
        if found.step == first and found.status == "pass" and not answered:
            answered.append(time.time() - clock)

    target = folder / f"{job.lab}.{job.language}.ipynb"
    found, interrupt = single.perform(job, target, run_id, say, heard)
    done.append(found)
    if interrupt is not None:
        raise interrupt
    found.page = page.of(job, target)
