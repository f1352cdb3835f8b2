"""A drawn fault: start it, look at its log, and have an answer checked, the repair really tried.

`known` says what the faults are, `trial` starts them. The diagnosis itself is `diagnose`'s.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from helpers import messages, models, paths
from helpers.engines import Engine
from helpers.errors import LabError
from helpers.faults import damage, logfile, texts, trial
from helpers.faults.deployment import Deployment
from helpers.faults.known import FAULTS, PICTURES, Fault
from helpers.faults.trial import Outcome
from helpers.models import Model
from helpers.options import Options
from helpers.tables import Table

HINTS = 2
DEEP = ("engine", "serving")
_TRIED = {
    "past": "faults.tried.past",
    "ready": "faults.tried.ready",
    "starting": "faults.tried.starting",
}


@dataclass
class Case:
    """A drawn fault with its deployment.

    Attributes:
        letter: what the lab calls it; the fault's name would tell.
        fault: what was planted.
        broken: the deployment as it is handed to the learner.
        whole: the model as it was before anything was planted.
        outcome: how its start went; None before `start`.
    """

    letter: str
    fault: Fault = field(repr=False)
    broken: Deployment
    whole: Model
    outcome: Outcome | None = None
    _engine: Engine | None = field(default=None, repr=False)

    @property
    def story(self) -> str:
        """Return what this deployment is wanted for; a right repair keeps it."""
        return texts.said("faults.stories", self.fault.id)

    def start(self, engine: Engine) -> None:
        """Start the deployment, wait until it has failed, and print the command and the end.

        Raises:
            LabError: as `server.start`; the planted fault itself raises nothing.
        """
        self._engine = engine
        if self.fault.damaged:
            damage.cut_in_half(self.whole, self.broken.model)
        started = trial.begin(self.broken, engine)
        options = self.broken.options.with_values(port=started.port)
        print(replace(self.broken, options=options).typed(engine))
        asked = self.broken.asked_name if self.fault.depth == "serving" else ""
        self.outcome = trial.finish(
            started, asked, kill=self.fault.kill, stranger=self.fault.stranger
        )
        if self.fault.stranger:
            self.broken = replace(self.broken, options=options)
        print(self.ended)

    @property
    def ended(self) -> str:
        """Return in words how the start ended.

        Raises:
            RuntimeError: it was not started yet.
        """
        outcome = self._done()
        if outcome.state != "dead":
            return messages.text("faults.ended.answered", status=outcome.answered)
        if outcome.answered is None:
            return messages.text("faults.ended.died", ended=outcome.ended)
        return messages.text("faults.ended.later", status=outcome.answered, ended=outcome.ended)

    @property
    def has_failed(self) -> bool:
        """Return whether the deployment did not do what it is for."""
        outcome = self._done()
        return outcome.state == "dead" or outcome.answered not in (None, 200)

    @property
    def log(self) -> Path:
        """Return the log of the start that failed.

        Raises:
            RuntimeError: it was not started yet.
        """
        return self._done().log

    def show(self, head: int = 10, tail: int = 14) -> None:
        """Print the first and the last lines of the log with their numbers."""
        _say(logfile.excerpt(logfile.lines(self.log), head, tail))

    def lines(self, first: int, last: int) -> None:
        """Print lines first to last of the log, both included."""
        _say(logfile.numbered(logfile.lines(self.log), first, last))

    def find(self, pattern: str) -> None:
        """Print the first lines of the log that a regular expression matches."""
        found = logfile.lines(self.log)
        for number in logfile.matching(found, pattern):
            _say(logfile.numbered(found, number, number))

    def hint(self, number: int = 1) -> None:
        """Print a hint: 1 says where to look, 2 says almost everything."""
        print(texts.said("faults.hints", f"{self.fault.id}.{min(max(number, 1), HINTS)}"))

    def grade(self, answer: Mapping[str, Any]) -> bool:
        """Return whether an answer is right, and print why each of its parts is or is not.

        A repair that keeps what the deployment is for is really started, until it has come past
        the place where it failed, and stopped.

        Args:
            answer: "cause", an id; "line", a number; "repair", changes as
                Deployment.with_changes takes them.
        Raises:
            KeyError: a part is missing.
            BadOption: the repair changes something that there is not.
        """
        found, number = logfile.lines(self.log), int(answer["line"])
        text = found[number - 1] if 0 < number <= len(found) else ""
        parts = {
            "faults.part.cause": (answer["cause"] == self.fault.id, str(answer["cause"])),
            "faults.part.line": (
                bool(re.search(self.fault.evidence, text)),
                f"{number}: {text[:120]}",
            ),
            "faults.part.repair": self._tried(answer["repair"]),
        }
        for code, (right, told) in parts.items():
            mark = messages.text("faults.right" if right else "faults.wrong")
            _say([f"{messages.text(code)} {mark} {told}"])
        return all(right for right, _ in parts.values())

    def _tried(self, changes: Mapping[str, Any]) -> tuple[bool, str]:
        mended = self.broken.with_changes(changes)
        if not self.fault.right(self.broken, mended):
            return False, texts.said("faults.wants", self.fault.id)
        assert self._engine is not None
        asked = "" if self.fault.past else mended.asked_name or mended.options.served_model_name
        try:
            with self._still_there():
                started = trial.begin(mended, self._engine)
                outcome = trial.finish(started, asked, past=self.fault.past)
        except LabError as error:
            return False, error.what
        if outcome.state == "dead" or outcome.answered not in (None, 200):
            return False, messages.text("faults.tried.failed", log=paths.shown(outcome.log))
        return outcome.state != "starting", messages.text(_TRIED[outcome.state])

    def _still_there(self) -> AbstractContextManager[object]:
        """Return the other program on the broken deployment's port, where there is one."""
        if not self.fault.stranger:
            return nullcontext()
        return trial.occupied(self.broken.options.host, self.broken.options.port)

    def close(self) -> None:
        """Remove what was planted on disk: the damaged copy of the model."""
        if self.fault.damaged:
            damage.remove(self.broken.model)

    def _done(self) -> Outcome:
        if self.outcome is None:
            raise RuntimeError(f"{self.letter}: start() first")
        return self.outcome


def _say(said: list[str]) -> None:
    print(paths.shown("\n".join(said)))


def draw(seed: int, quick: bool, model: Model, options: Options) -> list[Case]:
    """Return drawn faults with their deployments; nothing is started.

    Args:
        seed: the same seed draws the same faults.
        quick: True draws three (one that the arguments tell, one of the configuration, one that
            comes later), False all ten.
        model, options: a deployment of the text model that works, tool flags included.
    """
    chance = random.Random(seed)
    if quick:
        groups = [[f for f in FAULTS if f.depth == depth] for depth in ("arguments", "config")]
        chosen = [chance.choice(g) for g in [*groups, [f for f in FAULTS if f.depth in DEEP]]]
    else:
        chosen = chance.sample(FAULTS, len(FAULTS))
    return [
        _case(*pair, model, options) for pair in zip(string.ascii_uppercase, chosen, strict=False)
    ]


def _case(letter: str, fault: Fault, model: Model, options: Options) -> Case:
    whole = model
    if fault.pictures:
        whole = models.inspect(PICTURES, "MiniCPM-V-4_5")
        options = options.with_values(served_model_name=whole.name)
    if not fault.tools:
        options = options.with_values(enable_auto_tool_choice=False, tool_call_parser=None)
    asked = options.served_model_name
    works = Deployment(whole, options, asked_name=asked)
    broken = works.with_changes(fault.plant)
    if fault.damaged:
        broken = replace(broken, model=replace(whole, path=damage.place(whole)))
    if fault.id == "model_name_unknown":
        broken = replace(broken, asked_name=f"OpenBMB/{asked}")
    return Case(letter, fault, broken, whole)


def solution(case: Case) -> dict[str, Any]:
    """Return an answer to a started case that is right: cause, line, repair."""
    found = logfile.matching(logfile.lines(case.log), case.fault.evidence, limit=1)
    repair = dict(case.fault.repair)
    if case.fault.damaged:
        repair["model_dir"] = case.whole.path
    if case.broken.asked_name != case.broken.options.served_model_name:
        repair["asked_name"] = case.broken.options.served_model_name
    return {"cause": case.fault.id, "line": (found or [0])[0], "repair": repair}


def stories(cases: list[Case]) -> Table:
    """Return a row for each case: its letter, and what it is wanted for."""
    head = (messages.text("faults.column.case"), messages.text("faults.column.story"))
    return Table(head, [(one.letter, one.story) for one in cases])
