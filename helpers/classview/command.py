"""What `python -m helpers report --class DIR` does: read the hand-ins, write the page, show the
table. The option itself stands in `report_command`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.console import Console

from helpers import classview, messages, paths
from helpers.classview import page, terminal


def report(folder: Path, out: Path | None) -> None:
    """Write and show the class view of a folder, in the language in force.

    Args:
        folder: what learners have handed in.
        out: the page; None takes class.html in the build directory.
    Raises:
        LabError: the folder cannot be read, or the page not written; a hand-in that cannot be read
            is in the view.
    """
    found = classview.view(folder)
    target = out or paths.build_dir() / "class.html"
    data = page.write(found, target)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a GBK terminal lacks the marks
    terminal.show(found, Console())
    click.echo(
        messages.text(
            "classview.done",
            learners=len(found.learners),
            notebooks=sum(len(learner.labs) for learner in found.learners),
            unread=sum(len(learner.unread) for learner in found.learners),
            marked=sum(learner.marks > 0 for learner in found.learners),
            page=paths.shown(target),
            data=paths.shown(data),
        )
    )
