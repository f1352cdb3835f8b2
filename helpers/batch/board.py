"""What is shown while a batch runs: a table that changes in a terminal, a line for each change
elsewhere, one display handle in a notebook. Decides nothing.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from helpers import messages, progress, tables
from helpers.batch import folders
from helpers.batch.tasks import State, Task

MOST_ROWS = 20
_MARKS = {"running": "▶", "again": "↻", "passed": "✓", "failed": "✗", "kept": "="}


def told_parameters(parameters: dict[str, Any]) -> str:
    """Return parameters in one line: "SEED=1 QUICK=True"."""
    return " ".join(f"{name}={value}" for name, value in parameters.items())


class Board:
    """A context in which `change` tells what became of a run.

    Args:
        tasks: all of the batch, in order.
        say: shows a line; used where there is neither a terminal nor a notebook.
        console: a rich Console of a terminal, or None.
    """

    def __init__(
        self, tasks: Sequence[Task], say: Callable[[str], None], console: Any = None
    ) -> None:
        self._tasks, self._say, self._console = tasks, say, console
        self._states: dict[str, State] = {task.key: "waiting" for task in tasks}
        self._since: dict[str, float] = {}
        self._took: dict[str, float] = {}
        self._lock = threading.Lock()
        self._live: Any = None
        self._handle: Any = None

    def __enter__(self) -> Board:
        if self._console is not None:
            from rich.live import Live

            self._live = Live(
                get_renderable=self._rich, console=self._console, refresh_per_second=2
            )
            self._live.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.__exit__(kind, error, trace)

    def change(self, task: Task, state: State) -> None:
        """Tell what has become of a run; called from any thread."""
        with self._lock:
            now = time.monotonic()
            self._states[task.key] = state
            if state in ("running", "again"):
                self._since[task.key] = now
            elif task.key in self._since:
                self._took[task.key] = now - self._since[task.key]
            if self._live is None:
                self._tell(task, state)

    def counts(self) -> str:
        """Return how many runs are in each state."""
        found = Counter(self._states.values())
        return messages.text(
            "run.board.counts",
            passed=found["passed"],
            failed=found["failed"],
            running=found["running"] + found["again"],
            waiting=found["waiting"],
            kept=found["kept"],
        )

    def rows(self) -> list[list[str]]:
        """Return a row for each run that has begun, the latest ones where there are too many."""
        begun = [task for task in self._tasks if self._states[task.key] not in ("waiting", "kept")]
        order = {"failed": 0, "running": 1, "again": 1, "passed": 2}
        shown = sorted(begun, key=lambda one: order[self._states[one.key]])[:MOST_ROWS]
        return [self._row(task) for task in self._tasks if task in shown]

    def _row(self, task: Task) -> list[str]:
        state = self._states[task.key]
        seconds = self._took.get(task.key)
        if seconds is None:
            seconds = time.monotonic() - self._since.get(task.key, time.monotonic())
        return [
            task.job.title,
            told_parameters(task.job.parameters),
            messages.text(f"run.state.{state}"),
            f"{seconds:.0f}",
            _last(task) if state in ("running", "again") else "",
        ]

    def _tell(self, task: Task, state: State) -> None:
        if progress.in_notebook():
            self._show()
            return
        took = f"  {self._took[task.key]:.1f} s" if task.key in self._took else ""
        told = told_parameters(task.job.parameters)
        mark, word = _MARKS.get(state, " "), messages.text(f"run.state.{state}")
        self._say(f"{mark} {task.job.title}  {word}{took}  {told}".rstrip())

    def _head(self) -> list[str]:
        return [
            messages.text(f"run.board.{name}")
            for name in ("run", "parameters", "state", "seconds", "last")
        ]

    def _show(self) -> None:
        from IPython.display import display

        head, rows = self._head(), self.rows()
        text = f"{self.counts()}\n{tables.plain(head, rows) if rows else ''}".rstrip()
        html = f"<p>{self.counts()}</p>{tables.html(head, rows)}"
        bundle = {"text/plain": text, "text/html": html}
        if self._handle is None:
            self._handle = display(bundle, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(bundle, raw=True)

    def _rich(self) -> Any:
        from rich.table import Table

        table = Table(title=self.counts(), title_justify="left", expand=False)
        for name in self._head():
            table.add_column(name, overflow="fold")
        with self._lock:
            for row in self.rows():
                table.add_row(*row)
        return table


def _last(task: Task) -> str:
    """Return the last line of a run's log, which tells its last checkpoint."""
    try:
        with (task.place / folders.LOG).open("rb") as log:
            log.seek(0, 2)
            log.seek(max(0, log.tell() - 500))
            lines = log.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return lines[-1].strip().removeprefix(task.job.title).strip() if lines else ""
