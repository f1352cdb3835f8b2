"""What does not add up in a hand-in's cells: code that is not the lab's, execution counts that no
run from top to bottom gives.

Not for the checkpoints in their outputs: `judging` reads those.
"""

from __future__ import annotations

from helpers import messages
from helpers.classview import cleaning, codes
from helpers.classview.matching import Match
from helpers.classview.reading import Cell, Notebook
from helpers.classview.reference import Lab
from helpers.classview.remarks import Remarks

LONGEST_LINE = 100


def place(cell: Cell, told: object = "") -> str:
    """Return where in a notebook something stands: "code cell 13: told"."""
    if not told:
        return messages.text("classview.cell", number=cell.number)
    return messages.text("classview.place", number=cell.number, told=told)


def counts(match: Match, marks: Remarks) -> None:
    """Mark execution counts that are missing or out of order among the lab's own cells.

    Cells after the last one that ran have none, and need none: the run stopped there. A learner's
    added cells are left out: they may be run at any time.
    """
    cells = [ours for ours, _ in match.pairs]
    ran = [number for number, cell in enumerate(cells) if cell.execution_count is not None]
    last = ran[-1] if ran else -1
    highest = 0
    for number, cell in enumerate(cells):
        count = cell.execution_count
        if count is None:
            if cell.outputs or number < last:
                marks.add("classview.mark.count_missing", place(cell))
        elif count <= highest:
            marks.add("classview.mark.count_order", place(cell, f"[{count}] ≤ [{highest}]"))
        else:
            highest = count


def code(match: Match, notebook: Notebook, lab: Lab, marks: Remarks, notes: Remarks) -> None:
    """Mark code that differs from the lab's outside of its exercises; note what learners may do:
    set parameters, add cells.
    """
    for ours, theirs in match.changed:
        marks.add("classview.mark.code", place(ours, _differing(ours.source, theirs.source)))
    for theirs in match.missing:
        marks.add("classview.mark.code_missing", _first(theirs.source))
    for cell in match.own:
        if codes.names(cell.source, "checkpoint"):
            marks.add("classview.mark.own_checkpoint", place(cell, _first(cell.source)))
    if (match.changed or match.missing) and notebook.fingerprint not in ("", lab.fingerprint):
        notes.add("classview.note.edition", notebook.fingerprint)
    notes.add_all("classview.note.parameters", dict.fromkeys(match.parameters))
    notes.add_all("classview.note.own_cells", map(place, match.own))


def _first(source: str) -> str:
    return cleaning.first_line(source, LONGEST_LINE)


def _differing(source: str, committed: str) -> str:
    """Return the first line that the lab's cell does not have, else the first that it alone has."""
    ours, theirs = source.splitlines(), committed.splitlines()
    only = [line for line in ours if line not in theirs] or [
        f"− {line}" for line in theirs if line not in ours
    ]
    return cleaning.first_line("\n".join(only[:20]), LONGEST_LINE) or _first(source)
