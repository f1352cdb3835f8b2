"""What an executor is given: the runs, each with its key and its folder, the rules for ending and
repeating them, and whom to tell. Runs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any, Literal, Protocol

from helpers.batch.job import Job
from helpers.schemas import RunRecord

State = Literal["waiting", "running", "again", "passed", "failed", "kept"]


@dataclass(frozen=True)
class Slot:
    """A device of the pool: what a run on it finds in its environment."""

    variables: dict[str, str]


@dataclass(frozen=True)
class Task:
    """One run: what, under which key, in which folder.

    Attributes:
        device: whether it starts an engine of its own, and so needs a device.
        variables: set in its process beside this one's environment.
        command: what its server is started with, where it shares that with all runs of the same
            command.
    """

    job: Job
    key: str
    place: Path
    device: bool
    variables: dict[str, str] = field(default_factory=dict)
    command: dict[str, Any] | None = None


@dataclass
class Aside:
    """What happened beside the runs: shared servers, the engine starts that they took, and what is
    left of them.
    """

    servers: int = 0
    starts: int = 0
    left: int = 0
    ports: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Rules:
    """How runs are ended and repeated; the fields are those of `matrix.Matrix`.

    Attributes:
        ending: set where the whole batch is being ended.
        aside: filled in by the executor.
    """

    workers: int = 1
    timeout: float | None = None
    retries: int = 0
    retry_on: Sequence[str] = ()
    devices: Sequence[int] = ()
    ending: Event = field(default_factory=Event)
    aside: Aside = field(default_factory=Aside)


Told = Callable[[Task, State], None]
Finished = Callable[[Task, RunRecord], None]


class Executor(Protocol):
    """Runs tasks; tells when each begins and ends. An interrupt ends what runs, then goes on."""

    def __call__(
        self, tasks: Sequence[Task], rules: Rules, told: Told, finished: Finished
    ) -> None: ...
