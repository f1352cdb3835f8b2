"""The class view in a terminal: a row a learner, then the causes of failure.

The page has the details; texts from hand-ins are printed as text, never as markup.
"""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from helpers import messages
from helpers.classview.schemas import ClassView, LabRow

STYLES = {"complete": "green", "failed": "red", "unfinished": "yellow", "not_run": "dim"}


def show(view: ClassView, console: Console) -> None:
    """Print the view."""
    texts = messages.parts("classview.page", view.language)
    table = Table(title=Text(f"{texts['title']} · {view.folder}"), title_justify="left")
    table.add_column(Text(texts["learner"]), overflow="fold")
    for lab in view.labs:
        table.add_column(Text(lab.lab[:2]), justify="right")
    for name in ("exercises", "engine", "adds_up"):
        table.add_column(Text(texts[name]), justify="right" if name != "engine" else "left")
    for learner in view.learners:
        labs = [next((r for r in learner.labs if r.lab == lab.lab), None) for lab in view.labs]
        engines = [_engine(row, texts["stand_in"]) for row in learner.labs if row.engine]
        table.add_row(
            Text(learner.learner),
            *(_lab(row) for row in labs),
            str(learner.exercises_solved),
            Text(", ".join(dict.fromkeys(engines))),
            Text(str(learner.marks or "–"), style="yellow" if learner.marks else "dim"),
        )
    console.print(table)
    if any(row.shipped for learner in view.learners for row in learner.labs):
        console.print(Text(f"* {texts['shipped']}", style="dim"))
    for group in view.groups:
        console.print(Text(f"{len(group.members)} × {group.code} {group.step or ''}", style="bold"))
        who = ", ".join(f"{one.learner} ({one.lab or one.file})" for one in group.members)
        console.print(Text(f"    {group.message}\n    {who}"))
    console.print(Text(texts["read_only"], style="dim"))


def _lab(row: LabRow | None) -> Text:
    if row is None:
        return Text("–", style="dim")
    shipped = "*" if row.shipped else ""
    return Text(f"{row.counts['pass']}/{len(row.steps)}{shipped}", style=STYLES[row.state])


def _engine(row: LabRow, stand_in: str) -> str:
    return f"{row.engine} {stand_in}" if row.stand_in else str(row.engine)
