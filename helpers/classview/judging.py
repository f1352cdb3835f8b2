"""What one handed-in notebook shows: its checkpoints, how it ended, what does not add up.

Marks are observations, never verdicts: each has an innocent reading too, which the guide gives.
"""

from __future__ import annotations

import re
from typing import Any

from helpers import messages
from helpers.classview import cell_marks, cleaning, matching, record_marks, recorded
from helpers.classview.matching import Match
from helpers.classview.reading import Notebook
from helpers.classview.record_marks import CHECK_FAILED, Taken
from helpers.classview.recorded import Recorded
from helpers.classview.reference import Lab
from helpers.classview.remarks import Remarks
from helpers.classview.schemas import Failure, LabRow, State, Step

DIAGNOSIS = re.compile(r"\[diagnose:([\w.-]{1,80})\]")
SHIPPED_RUN = 5
"""Checkpoints in a row with the seconds of the stored outputs that are no chance: one alone agrees
by chance in about one of ten (hundredths of a second, most between 0.1 and 1)."""

STATUSES = ("pass", "fail", "skipped", "todo", "kept", "absent")


def judge(notebook: Notebook, lab: Lab, file: str) -> LabRow:
    """Return what a notebook shows of the lab that it is.

    Args:
        notebook: as read.
        lab: the course's own, to compare with.
        file: its name for people.
    """
    match, marks, notes = matching.match(notebook.cells, lab), Remarks(), Remarks()
    taken = record_marks.take(match, lab, marks)
    cell_marks.counts(match, marks)
    cell_marks.code(match, notebook, lab, marks, notes)
    record_marks.errors(match, marks)
    record_marks.stubs(match, lab, taken, marks)
    record_marks.settings(lab, taken, marks)
    versions = record_marks.versions(lab, taken, marks)
    shipped = _shipped(lab, taken)
    if shipped:
        notes.add("classview.note.shipped", f"{shipped} / {len(taken)}")
    steps = [_step(lab, step, taken.get(step)) for step in lab.declared]
    state, failure = _ended(match, lab, taken, steps)
    return LabRow(
        lab=lab.lab,
        language="zh" if lab.language == "zh" else "en",
        file=file,
        state=state,
        steps=steps,
        counts={status: sum(one.status == status for one in steps) for status in STATUSES},
        exercises=len(lab.exercises),
        exercises_solved=sum(one.exercise and one.status == "pass" for one in steps),
        shipped=shipped,
        engine=_line(_last(taken, "engine")),
        model=_line(_last(taken, "model")),
        stand_in=_last(taken, "stand_in"),
        versions=versions,
        failure=failure,
        marks=marks.all(),
        notes=notes.all(),
    )


def _step(lab: Lab, step: str, one: Recorded | None) -> Step:
    exercise = step in lab.exercises
    if one is None:
        return Step(step=step, status="absent", exercise=exercise)
    reason = None if one.record.reason is None else cleaning.line(one.record.reason)
    return Step(
        step=step,
        status=one.record.status,
        reason=reason,
        seconds=one.record.seconds,
        exercise=exercise,
    )


def _last(taken: Taken, name: str) -> Any:
    """Return the last engine, model or stand-in that a record tells, or None."""
    told = [getattr(one.record, name) for one in taken.values()]
    return next((value for value in reversed(told) if value is not None), None)


def _line(text: str | None) -> str | None:
    return None if text is None else cleaning.line(text, 60)


def _shipped(lab: Lab, taken: Taken) -> int:
    """Return how many checkpoints have the very seconds that the course's stored outputs have, a
    few in a row: they were not run, the notebook was handed out with them.
    """
    total, run = 0, 0
    for step, seconds in (*lab.stored.items(), (None, None)):
        one = taken.get(step) if step is not None else None
        if one is not None and one.record.seconds == seconds:
            run += 1
        else:
            total += run if run >= SHIPPED_RUN else 0
            run = 0
    return total


def _ended(match: Match, lab: Lab, taken: Taken, steps: list[Step]) -> tuple[State, Failure | None]:
    """Return how the notebook ended, and why where that was not its end."""
    failure = _failure(match, lab, taken)
    if failure is not None:
        return "failed", failure
    missing = [one.step for one in steps if one.status == "absent"]
    if not missing:
        return "complete", None
    told = messages.text("run.unfinished", missing=", ".join(missing))
    ran = any(ours.execution_count is not None for ours, _ in match.pairs)
    if not ran and not taken:
        return "not_run", Failure(code="run.not_run", message=messages.text("classview.not_run"))
    return "unfinished", Failure(code="run.unfinished", message=told)


def _failure(match: Match, lab: Lab, taken: Taken) -> Failure | None:
    """Return the first error among the lab's own cells, else its first failed checkpoint."""
    for ours, theirs in match.pairs:
        shown = recorded.error(ours)
        if shown is None:
            continue
        here = [step for step in lab.steps.get(theirs.number, ()) if step in taken]
        failed = [step for step in here if taken[step].record.status == "fail"]
        named = DIAGNOSIS.search(shown[1])
        return Failure(
            code=shown[0],
            message=cleaning.first_line(shown[1]),
            cell=ours.number,
            step=next(iter(failed or lab.steps.get(theirs.number, ())), None),
            diagnosis=named.group(1) if named else None,
        )
    for step in lab.declared:
        one = taken.get(step)
        if one is not None and one.record.status == "fail":
            reason = cleaning.first_line(one.record.reason or "")
            return Failure(code=CHECK_FAILED, message=reason, cell=one.cell.number, step=step)
    return None
