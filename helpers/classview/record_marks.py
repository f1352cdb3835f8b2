"""What does not add up in a hand-in's checkpoints: a record against its text, its cell, its lab,
and the records beside it.

Not for the cells' code and counts: `cell_marks` reads those.
"""

from __future__ import annotations

from collections.abc import Callable

from helpers.classview import cleaning, recorded
from helpers.classview.cell_marks import place
from helpers.classview.matching import Match
from helpers.classview.reading import Cell
from helpers.classview.recorded import Record, Recorded
from helpers.classview.reference import SETTINGS, Lab
from helpers.classview.remarks import Remarks

CHECK_FAILED = "checkpoint.failed"
MOST_PACKAGES = 40

Taken = dict[str, Recorded]
"""Checkpoint → its record, where it stands in the cell that records it in the lab."""


def take(match: Match, lab: Lab, marks: Remarks) -> Taken:
    """Return the records that a lab's own cells hold; mark the others, those whose forms differ,
    and those that should be there.
    """
    taken: Taken = {}
    for cell in (*match.own, *match.injected):
        for one in _records(cell, marks):
            marks.add("classview.mark.misplaced", place(cell, one.record.step))
    for ours, theirs in match.pairs:
        expected = lab.steps.get(theirs.number, ())
        every = _records(ours, marks)
        for one in every:
            if one.record.lab != lab.lab:
                told = f"{one.record.step} ({one.record.lab})"
                marks.add("classview.mark.other_lab", place(ours, told))
            elif one.record.step not in expected:
                marks.add("classview.mark.misplaced", place(ours, one.record.step))
            else:
                taken[one.record.step] = one
        have = {one.record.step for one in every}
        ran = ours.execution_count is not None and recorded.error(ours) is None
        if ran and not recorded.of(ours)[1]:
            lost = [place(ours, step) for step in expected if step not in have]
            marks.add_all("classview.mark.record_missing", lost)
    return taken


def _records(cell: Cell, marks: Remarks) -> list[Recorded]:
    every, broken = recorded.of(cell)
    if broken:
        marks.add("classview.mark.record", place(cell))
    for one in every:
        for form, text in recorded.differences(one).items():
            told = cleaning.line(text, 80)
            said = f"{one.record.step}: JSON {one.record.status} ≠ {form} “{told}”"
            marks.add("classview.mark.forms", place(cell, said))
    return every


def errors(match: Match, marks: Remarks) -> None:
    """Mark a cell that ended with a failed checkpoint although none of its records says so."""
    for ours, _ in match.pairs:
        shown = recorded.error(ours)
        if shown is None or shown[0] != CHECK_FAILED:
            continue
        every, broken = recorded.of(ours)
        if not broken and not any(one.record.status == "fail" for one in every):
            marks.add("classview.mark.error", place(ours, cleaning.first_line(shown[1])))


def stubs(match: Match, lab: Lab, taken: Taken, marks: Remarks) -> None:
    """Mark an exercise that passes although its cell is still the stub, and no other cell could
    hold the answer.
    """
    if match.own or match.changed:
        return
    for step in lab.exercises:
        stub, one = lab.stub(step), taken.get(step)
        if stub and one and one.record.status == "pass" and not match.is_solved(stub):
            marks.add("classview.mark.stub", place(one.cell, step))


def settings(lab: Lab, taken: Taken, marks: Remarks) -> None:
    """Mark an engine or a model that changes between checkpoints of a lab which has one."""
    for name in SETTINGS:
        values = _values(taken, lambda one, name=name: _setting(one, name))  # type: ignore[misc]
        _mark_several(name, values, lab, marks, "classview.mark.settings")


def _setting(record: Record, name: str) -> object:
    """Return what a record says of its run; None where it could not know yet.

    Of a remote server's model it knows only once it is attached to, and not from which record on.
    """
    return getattr(record, name) if name == "engine" or record.engine != "remote" else None


def versions(lab: Lab, taken: Taken, marks: Remarks) -> dict[str, list[str]]:
    """Return the versions that the checkpoints tell by package; mark a package that has two."""
    packages = sorted({name for one in taken.values() for name in one.record.versions})
    found = {}
    for name in packages[:MOST_PACKAGES]:
        values = _values(taken, lambda one, name=name: one.versions.get(name))  # type: ignore[misc]
        _mark_several(name, values, lab, marks, "classview.mark.versions")
        found[cleaning.line(name, 40)] = list(values)
    return found


def _values(taken: Taken, value: Callable[[Record], object]) -> dict[str, str]:
    """Return the different values that records have for one thing, each with its first checkpoint.

    None is no value: a remote server tells its version only once it is attached to.
    """
    first: dict[str, str] = {}
    for step, one in taken.items():
        found = value(one.record)
        if found is not None:
            first.setdefault(cleaning.line(str(found), 40), step)
    return first


def _mark_several(name: str, values: dict[str, str], lab: Lab, marks: Remarks, code: str) -> None:
    if len(values) > 1 and name not in lab.varying:
        told = ", ".join(f"{found} ({step})" for found, step in values.items())
        marks.add(code, f"{name}: {told}")
