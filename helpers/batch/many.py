"""A whole matrix: what is finished is kept, the rest goes to the executor, and all of it stands in
one report, also after Ctrl-C.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from helpers import marked, messages, paths, records, report
from helpers.batch import folders, local, page, shared, supervised
from helpers.batch.board import Board, told_parameters
from helpers.batch.job import declared_starts, is_remote
from helpers.batch.matrix import Matrix
from helpers.batch.problems import FolderOfAnother
from helpers.batch.tasks import Aside, Executor, Rules, Task
from helpers.schemas import Report, Run, RunRecord, Teardown


def place_for(source: Path, out: Path | None, again: bool) -> Path:
    """Return the folder of a matrix's results, marked as such: the one given, else the newest of
    this matrix, else a new one.

    Args:
        source: the matrix file.
        again: take a new folder although there is one.
    Raises:
        FolderOfAnother: the given folder holds another matrix's results.
    """
    if out is not None:
        other = folders.whose(out)
        if other not in (None, str(source.resolve())):
            raise FolderOfAnother(path=paths.shown(out), other=paths.shown(other))
    found = out or (None if again else folders.of_matrix(source)) or folders.new()
    folders.mark(found, source)
    return found


def tasks(matrix: Matrix, source: Path, folder: Path) -> list[Task]:
    """Return a task for each run of a matrix, in order."""
    found = []
    for job in matrix.jobs(source.parent):
        key = job.key()
        command = shared.command(job) if matrix.share_server else None
        place, device = folders.of_run(folder, job, key), not (is_remote(job) or command)
        found.append(Task(job, key, place, device, command=command))
    return found


def finished(todo: Sequence[Task]) -> dict[str, RunRecord]:
    """Return the records of the runs that have passed before, by key."""
    found = ((task.key, folders.kept(task.place, task.key)) for task in todo)
    return {key: record for key, record in found if record is not None}


def run(
    matrix: Matrix,
    source: Path,
    folder: Path,
    *,
    again: bool = False,
    say: Callable[[str], None] = print,
    console: Any = None,
) -> Report:
    """Return the report of a matrix; it also lies in the folder, as report.json, report.html and
    junit.xml.

    Args:
        source: the matrix file: notebooks are looked for beside it, and it names the report.
        folder: where all goes; runs that have passed there are kept.
        again: run those too.
        say: shows one line.
        console: a rich Console of a terminal for the live table; None shows a line for each change.
    Raises:
        KeyboardInterrupt: after what ran was ended and the report was written.
        RayMissing, RayUnreachable: the executor cannot begin.
    """
    todo = tasks(matrix, source, folder)
    batch = _Batch(todo, {} if again else finished(todo))
    begun, started = time.monotonic(), records.now()
    rules = Rules(
        matrix.workers, matrix.timeout, matrix.further, tuple(matrix.retry_on), matrix.devices
    )
    with marked.terminated_like_ctrl_c(), Board(todo, say, console) as board:
        batch.board = board
        for task in todo:
            if task.key in batch.kept:
                board.change(task, "kept")
        try:
            _executor(matrix.executor)(batch.left(), rules, batch.told, batch.finished)
        finally:
            with marked.undisturbed():
                summary = batch.report(started, round(time.monotonic() - begun, 1), rules.aside)
                summary.matrix, summary.executor = source.name, matrix.executor
                report.write(summary, folder)
                if folder.parent == paths.build_dir():
                    folders.point_latest(folder)
    return summary


def _executor(name: str) -> Executor:
    if name == "ray":
        from helpers.batch.cluster import run as on_cluster

        return on_cluster
    return local.run


class _Batch:
    """What is known of each run while a batch goes on."""

    board: Board

    def __init__(self, todo: Sequence[Task], kept: dict[str, RunRecord]) -> None:
        self._todo, self.kept = todo, kept
        self._begun: set[str] = set()
        self._records: dict[str, RunRecord] = {}

    def left(self) -> list[Task]:
        return [task for task in self._todo if task.key not in self.kept]

    def told(self, task: Task, state: Any) -> None:
        self._begun.add(task.key)
        self.board.change(task, state)

    def finished(self, task: Task, record: RunRecord) -> None:
        self._records[task.key] = record
        record.run.page = page.of(task.job, task.place / record.run.notebook)
        folders.write(task.place, record)
        self.board.change(task, "passed" if record.run.ok else "failed")

    def report(self, started: str, seconds: float, aside: Aside) -> Report:
        """Return the report of all runs, of those too that were not begun."""
        found = [self._record(task) for task in self._todo]
        runs = [self._placed(task, one) for task, one in zip(self._todo, found, strict=True)]
        left = aside.left + sum(one.teardown.processes_left for one in found)
        ports = sorted({*aside.ports, *(p for one in found for p in one.teardown.ports_left)})
        remote = {task.key for task, run in zip(self._todo, runs, strict=True)
                  if run.engine == "remote" or run.skipped or task.command}  # fmt: skip
        return Report(
            schema=1,
            started=started,
            ok=all(run.ok for run in runs) and not (left or ports),
            engine_starts=aside.starts + sum(run.engine_starts for run in runs),
            engine_starts_declared=aside.servers
            + sum(declared_starts(task.job) for task in self._todo if task.key not in remote),
            runs=runs,
            teardown=Teardown(processes_left=left, ports_left=ports),
            seconds=seconds,
        )

    def _record(self, task: Task) -> RunRecord:
        """Return a run's record: kept, told by the executor, or left in its folder when Ctrl-C
        came.
        """
        known = self.kept.get(task.key) or self._records.get(task.key)
        if known is None and task.key in self._begun:
            known = folders.read(task.place)
        if known is not None:
            known.run.kept = task.key in self.kept
            return known
        said = messages.text("run.not_started")
        found = supervised.lost(task.job, task.key, "run.not_started", said, 0.0)
        found.run.skipped, found.run.error = said, None
        return found

    def _placed(self, task: Task, record: RunRecord) -> Run:
        """Return a run with paths that are relative to the report."""
        name, log = task.place.name, task.place / folders.LOG
        return record.run.model_copy(
            update={
                "notebook": f"{name}/{record.run.notebook}",
                "page": f"{name}/{record.run.page}" if record.run.page else None,
                "log": f"{name}/{log.name}" if log.exists() else None,
            }
        )


def dry_run(todo: Sequence[Task], kept: dict[str, RunRecord]) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of the table of what would run."""
    head = [messages.text(f"run.board.{name}") for name in ("run", "lab", "language", "state")] + [
        messages.text("run.board.parameters")
    ]
    rows = [
        [
            str(number),
            task.job.lab,
            task.job.language,
            messages.text("run.state.kept" if task.key in kept else "run.state.waiting"),
            told_parameters(task.job.parameters),
        ]
        for number, task in enumerate(todo, 1)
    ]
    return head, rows
