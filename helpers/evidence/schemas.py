"""The forms of an archive of evidence, fixed like those of helpers.schemas: fields may be added,
never renamed. Nothing here reads or writes a file.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Verdict = Literal["held", "refuted", "unseen"]
DIGEST = r"^[0-9a-f]{64}$"


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True, frozen=True)


class Machine(_Model):
    """What the run was made on, without names of hosts or people.

    Attributes:
        chip: as npu-smi prints it, None where it printed none; chips: how many.
        generation: "A2", "A3", …, None where the chip is not known.
        driver, cann: releases, None where no file says so.
        arch, os: of the system.
        versions: of the engine's interpreter, by distribution.
    """

    chip: str | None
    chips: int = Field(ge=0)
    generation: str | None
    driver: str | None
    cann: str | None
    arch: str
    os: str | None
    versions: dict[str, str]


class Lab(_Model):
    """One lab that was run; code: sha256 of its code cells as they were executed."""

    lab: str
    language: Literal["zh", "en"]
    code: str = Field(pattern=DIGEST)


class Line(_Model):
    """One line of a lab's output in which a text of the register was found."""

    lab: str
    text: str
    line: str = Field(max_length=300)


class Judged(_Model):
    """What a run shows of one claim; because: the checkpoints, in one line."""

    id: str
    verdict: Verdict
    because: str


class Evidence(_Model):
    """evidence.json, the head of an archive.

    Attributes:
        made: when it was packed, ISO 8601; started: when the run began.
        course: version of the helpers that ran.
        left_out: runs that are not in report.json, "lab language", since their notebook was not
            the lab's.
        files: sha256 of the other members, by name.
    """

    schema_: Literal[1] = Field(1, alias="schema")
    made: str
    started: str
    course: str
    machine: Machine
    labs: list[Lab]
    lines: list[Line]
    claims: list[Judged]
    left_out: list[str]
    files: dict[str, str]
