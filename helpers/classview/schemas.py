"""class.json: what a class has handed in, as pydantic models. Fields may be added, never renamed.

Every text that comes from a hand-in has been cleaned (`cleaning`), none is escaped: the page does
that.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from helpers.schemas import Form

State = Literal["complete", "failed", "unfinished", "not_run"]
"""complete: no failure and every checkpoint is there; failed: an error or a failed checkpoint;
unfinished: neither, but checkpoints are missing; not_run: no checkpoint at all."""


class Part(BaseModel):
    """What all parts of the form share."""

    model_config = ConfigDict(extra="forbid")


class Remark(Part):
    """Something that does not add up (in `marks`), or that is worth knowing (in `notes`).

    `kind` is the end of the text's code; `places` are at most a few, `more` counts the rest.
    """

    kind: str
    text: str
    places: list[str] = []
    more: int = 0


class Step(Part):
    """A checkpoint of a lab as a hand-in has it; `absent` where it has none."""

    step: str
    status: Literal["pass", "fail", "skipped", "todo", "kept", "absent"]
    reason: str | None = None
    seconds: float | None = None
    exercise: bool = False


class Failure(Part):
    """Why a lab stopped: the code of a LabError or the exception's name; `cell` counts code cells
    from 1; `diagnosis` names the knowledge entry where the error told one.
    """

    code: str
    message: str
    cell: int | None = None
    step: str | None = None
    diagnosis: str | None = None


class LabRow(Part):
    """One notebook that was handed in; counts are by status, `absent` included."""

    lab: str
    language: Literal["zh", "en"]
    file: str
    state: State
    steps: list[Step]
    counts: dict[str, int]
    exercises: int
    exercises_solved: int
    shipped: int = 0
    engine: str | None = None
    model: str | None = None
    stand_in: bool | None = None
    versions: dict[str, list[str]]
    failure: Failure | None = None
    marks: list[Remark] = []
    notes: list[Remark] = []


class UnreadFile(Part):
    """A hand-in that could not be read: the code of the error and its texts."""

    file: str
    code: str
    what: str
    next: str
    original: str | None = None


class Learner(Part):
    """One row: what one learner has handed in."""

    learner: str
    labs: list[LabRow]
    unread: list[UnreadFile] = []
    passed: int
    exercises_solved: int
    marks: int
    notes: list[Remark] = []


class Member(Part):
    """Where a failure of a group happened; `lab` is None for a file that could not be read."""

    learner: str
    file: str
    lab: str | None = None
    cell: int | None = None
    step: str | None = None


class Group(Part):
    """Hand-ins that failed for one cause; `message` is one member's, of the view's language if
    there is one.
    """

    code: str
    diagnosis: str | None = None
    step: str | None = None
    message: str
    members: list[Member] = []


class LabHead(Part):
    """A lab of the course: its title in the view's language, its checkpoints, its exercises."""

    lab: str
    title: str
    steps: list[str]
    exercises: list[str]


class ClassView(Form):
    """class.json: the class, a row a learner, and the failures by cause, the largest first."""

    folder: str
    made: str
    language: Literal["zh", "en"]
    labs: list[LabHead]
    learners: list[Learner]
    groups: list[Group]
