"""Tests of what is shown while a batch runs: lines, a terminal's table, one display handle in a notebook."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import IPython.display
import pytest
from rich.console import Console

from helpers import messages, progress
from helpers.batch import folders
from helpers.batch.board import MOST_ROWS, Board
from helpers.batch.job import Job
from helpers.batch.tasks import Task


@pytest.fixture(autouse=True)
def english() -> None:
    messages.use("en")


def _tasks(folder: Path, count: int = 3) -> list[Task]:
    return [
        Task(Job("light", "en", folder / "x.ipynb", parameters={"N": n}), str(n), folder / str(n), False)
        for n in range(count)
    ]  # fmt: skip


def test_board_elsewhere_says_a_line_for_each_change(tmp_path: Path) -> None:
    lines: list[str] = []
    first, second, third = _tasks(tmp_path)

    with Board([first, second, third], lines.append) as board:
        board.change(first, "running")
        board.change(first, "failed")
        board.change(second, "kept")
        board.change(third, "again")

    assert [line.split("  ")[0] for line in lines] == [
        "▶ light en",
        "✗ light en",
        "= light en",
        "↻ light en",
    ]
    assert " s  N=0" in lines[1]
    assert board.counts() == "0 passed, 1 failed, 1 running, 0 waiting, 1 kept"


def test_board_in_a_terminal_is_a_table_with_the_last_line_of_each_runs_log(tmp_path: Path) -> None:
    lines: list[str] = []
    first, second, third = _tasks(tmp_path)
    first.place.mkdir()
    (first.place / folders.LOG).write_text("▶ light en\n  light en  serving  pass\n", "utf-8")
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120)

    with Board([first, second, third], lines.append, console) as board:
        board.change(first, "running")
        board.change(second, "passed")

    shown = screen.getvalue()
    assert lines == []
    assert "1 passed, 0 failed, 1 running, 1 waiting, 0 kept" in shown
    assert "serving  pass" in shown
    assert "N=2" not in shown


def test_board_in_a_notebook_updates_one_display_handle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[dict[str, str]] = []

    class Handle:
        def update(self, bundle: dict[str, str], raw: bool) -> None:
            shown.append(bundle)

    def display(bundle: dict[str, str], **_: Any) -> Handle:
        shown.append(bundle)
        return Handle()

    monkeypatch.setattr(progress, "in_notebook", lambda: True)
    monkeypatch.setattr(IPython.display, "display", display)
    first, *_ = tasks = _tasks(tmp_path)

    with Board(tasks, pytest.fail) as board:
        board.change(first, "running")
        board.change(first, "passed")

    assert len(shown) == 2
    assert "1 running" in shown[0]["text/plain"] and "1 passed" in shown[1]["text/plain"]
    assert "<table>" in shown[1]["text/html"]


def test_board_of_many_runs_shows_failures_and_what_runs_first(tmp_path: Path) -> None:
    tasks = _tasks(tmp_path, MOST_ROWS + 5)
    with Board(tasks, lambda line: None) as board:
        for task in tasks:
            board.change(task, "running")
            board.change(task, "passed")
        board.change(tasks[-1], "failed")

    rows = board.rows()
    assert len(rows) == MOST_ROWS
    assert [row[2] for row in rows if row[1] == f"N={len(tasks) - 1}"] == ["failed"]
