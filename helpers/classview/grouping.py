"""What only shows across hand-ins: failures with one cause, and runs that two learners have alike.

Not for one hand-in alone: `judging` reads that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from helpers import messages
from helpers.classview import remarks
from helpers.classview.record_marks import CHECK_FAILED
from helpers.classview.schemas import Failure, Group, LabRow, Learner, Member

FEWEST_ALIKE = 5
"""Checkpoints with equal seconds that two runs do not have by chance."""

SHORTEST = 0.05
"""Seconds below which a checkpoint tells no run from another."""


def by_cause(learners: Iterable[Learner]) -> list[Group]:
    """Return the failures by error code and diagnosis, the largest group first.

    Failed checkpoints are told apart by checkpoint: they share a code, not a cause. A group's
    message is the first one in the language in force, else the first.
    """
    groups: dict[tuple[str, str, str], Group] = {}
    told_well: set[tuple[str, str, str]] = set()

    def add(told: Failure, member: Member, spoken: bool = True) -> None:
        step = f"{member.lab}/{told.step}" if told.code == CHECK_FAILED else ""
        key = (told.code, told.diagnosis or "", step)
        empty = Group(code=told.code, diagnosis=told.diagnosis, step=step or None, message="")
        group = groups.setdefault(key, empty)
        group.members.append(member)
        if len(group.members) == 1 or (spoken and key not in told_well):
            group.message = told.message
        if spoken:
            told_well.add(key)

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
                add(told, where, row.language == messages.language())
        for file in learner.unread:
            unread = Failure(code=file.code, message=file.what)
            add(unread, Member(learner=learner.learner, file=file.file))
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
