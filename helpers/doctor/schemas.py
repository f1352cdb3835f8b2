"""The form of `doctor --json`, fixed: fields may be added, never renamed (schema 1)."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class VerdictForm(_Form):
    """What can run here; `stack` is an id in course/versions.yml."""

    engine: Literal["ascend", "cpu", "remote"]
    stack: str | None
    advice: str = Field(min_length=1)


class FindingForm(_Form):
    """One finding; `advice` is empty where there is nothing to do."""

    id: str = Field(pattern=r"^[a-z0-9_]+\.[a-z0-9_]+$")
    status: Literal["ok", "warning", "problem", "unknown"]
    evidence: str
    why: str = Field(min_length=1)
    advice: str


class DoctorForm(_Form):
    """The whole report; `ok` is False where a finding is a problem."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    ok: bool
    verdict: VerdictForm
    findings: list[FindingForm]
