"""The forms that others rely on, as pydantic models: checkpoint, run, report. Fields may be added,
never renamed.

The server's state file has its own in `server.state`. Nothing here reads or writes a file.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Form(BaseModel):
    """What all forms share: unknown fields are refused in tests, so that a renamed field is
    noticed.
    """

    model_config = ConfigDict(extra="forbid", populate_by_name=True, protected_namespaces=())

    schema_: Literal[1] = Field(1, alias="schema")


class Checkpoint(Form):
    """The record that a checkpoint leaves under its own MIME type; seconds are those since the
    checkpoint before.
    """

    lab: str
    step: str
    status: Literal["pass", "fail", "skipped", "todo", "kept"]
    reason: str | None
    ok: bool
    seconds: float
    engine: str | None
    model: str | None
    stand_in: bool | None
    versions: dict[str, str]
    detail: dict[str, Any]


class RunError(BaseModel):
    """Why a run stopped: the code of a LabError or the exception's name, its message, the entry of
    a diagnosis or None.
    """

    model_config = ConfigDict(extra="forbid")

    code: str
    message: str
    diagnosis: str | None = None


class CellTime(BaseModel):
    """Seconds that a code cell took; `cell` is its number in the executed notebook, from 0."""

    model_config = ConfigDict(extra="forbid")

    cell: int
    seconds: float


class Run(BaseModel):
    """One execution of one notebook; `notebook`, `page` (the same as HTML) and `log` are relative
    to the report.

    `kept` is True where an earlier call of the same matrix had finished it; `attempts` counts how
    often it was tried.
    """

    model_config = ConfigDict(extra="forbid")

    lab: str
    language: Literal["zh", "en"]
    edition: Literal["learner", "solution"]
    engine: str | None
    parameters: dict[str, Any]
    ok: bool
    seconds: float
    notebook: str
    checkpoints: list[Checkpoint]
    error: RunError | None
    skipped: str | None = None
    engine_starts: int = 0
    cells: list[CellTime] = []
    page: str | None = None
    log: str | None = None
    attempts: int = 1
    kept: bool = False


class Teardown(BaseModel):
    """What was left after everything had been stopped: it should be nothing."""

    model_config = ConfigDict(extra="forbid")

    processes_left: int
    ports_left: list[int]


class RunRecord(Form):
    """run.json in the folder of one run of a matrix: its key, its record, what was left of it."""

    key: str
    run: Run
    teardown: Teardown


class Report(Form):
    """report.json of a run over the catalogue or a matrix; `matrix` and `executor` are of the
    latter only.
    """

    started: str
    ok: bool
    engine_starts: int
    engine_starts_declared: int
    first_answer_seconds: float | None = None
    runs: list[Run]
    teardown: Teardown
    matrix: str | None = None
    executor: str | None = None
    seconds: float | None = None
