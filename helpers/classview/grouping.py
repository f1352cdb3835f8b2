"""What only shows across hand-ins: failures with one cause, and runs that two learners have alike.

Not for one hand-in alone: `judging` reads that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from helpers.classview import remarks
from helpers.classview.record_marks import CHECK_FAILED
from helpers.classview.schemas import Group, LabRow, Learner, Member

FEWEST_ALIKE = 5
"""Checkpoints with equal seconds that two runs do not have by chance."""

SHORTEST = 0.05
"""Seconds below which a checkpoint tells no run from another."""


def by_cause(learners: Iterable[Learner]) -> list[Group]:
    """Return the failures by error code and diagnosis, the largest group first.

    Failed checkpoints are told apart by checkpoint: they share a code, not a cause.
    """
    groups: dict[tuple[str, str, str], Group] = {}

    def add(
        code: str, message: str, member: Member, diagnosis: str | None = None, step: str = ""
    ) -> None:
        empty = Group(
            code=code, diagnosis=diagnosis, step=step or None, message=message, members=[]
        )
        groups.setdefault((code, diagnosis or "", step), empty).members.append(member)

    for learner in learners:
        for row in learner.labs:
            if row.failure is not None:
                told = row.failure
                where = Member(
                    learner=learner.learner,
                    file=row.file,
                    lab=row.lab,
                    cell=told.cell,
                    step=told.step,
                )
                step = f"{row.lab}/{told.step}" if told.code == CHECK_FAILED else ""
                add(told.code, told.message, where, told.diagnosis, step)
        for file in learner.unread:
            add(file.code, file.what, Member(learner=learner.learner, file=file.file))
    return sorted(groups.values(), key=lambda g: (-len(g.members), g.code, g.step or ""))


def mark_alike(learners: Sequence[Learner]) -> None:
    """Mark notebooks of different learners whose checkpoints took the same seconds, to the
    hundredth: two runs do not.

    Outputs that came with the course are not counted: everybody has those.
    """
    runs: dict[tuple[object, ...], list[tuple[str, LabRow]]] = {}
    for learner in learners:
        for row in learner.labs:
            seconds = [(one.step, one.seconds) for one in row.steps if one.seconds is not None]
            telling = sum(took >= SHORTEST for _, took in seconds)
            if telling - row.shipped >= FEWEST_ALIKE:
                runs.setdefault((row.lab, *seconds), []).append((learner.learner, row))
    for alike in runs.values():
        if len({name for name, _ in alike}) < 2:
            continue
        for name, row in alike:
            others = [f"{other} ({one.file})" for other, one in alike if other != name]
            row.marks.append(remarks.remark("classview.mark.alike", others))
