"""What the page of a run shows, gathered from its report: a table a lab, failures by cause, skips
by reason, versions. Writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from helpers import catalog
from helpers.diagnose import attached
from helpers.schemas import Checkpoint, Report, Run

FEW = 4
"""Up to so many runs of a lab its steps are shown unfolded."""


@dataclass
class LabRows:
    """A lab's runs, and its steps with a column for each run.

    Attributes:
        found: (number of the run, step) → checkpoint.
        unfolded: whether the table of steps is shown at once.
    """

    id: str
    title: str
    runs: list[Run]
    steps: list[str]
    found: dict[tuple[int, str], Checkpoint]

    @property
    def unfolded(self) -> bool:
        return len(self.runs) <= FEW


@dataclass
class Cause:
    """Failures that have one cause.

    Attributes:
        code: of the diagnosis where there is one, else of the error, with the step that failed.
        told: texts of the diagnosis (title, cause, fix), or {}.
        runs: those that failed so.
    """

    code: str
    told: Mapping[str, str]
    runs: list[Run] = field(default_factory=list)


@dataclass
class Skip:
    """A reason for which steps did not apply, and where: "lab step" → number of runs."""

    reason: str
    places: dict[str, int] = field(default_factory=dict)


@dataclass
class Version:
    """What runs were made with: engine, model, whether it is a stand-in, versions."""

    engine: str
    model: str
    stand_in: bool
    versions: str
    runs: int = 0


def labs(summary: Report, language: str) -> list[LabRows]:
    """Return a table for each lab: its runs in order, its steps in order."""
    rows = []
    for lab in dict.fromkeys(run.lab for run in summary.runs):
        runs = [run for run in summary.runs if run.lab == lab]
        steps = list(dict.fromkeys(one.step for run in runs for one in run.checkpoints))
        title = catalog.labs().get(lab, {}).get("title", {}).get(language, lab)
        found = {(n, one.step): one for n, run in enumerate(runs) for one in run.checkpoints}
        rows.append(LabRows(lab, title, runs, steps, found))
    return rows


def parameters(run: Run) -> str:
    """Return a run's parameters in one line: "SEED=1 QUICK=True"."""
    return " ".join(f"{name}={value}" for name, value in run.parameters.items())


def causes(summary: Report, language: str) -> list[Cause]:
    """Return the failures by cause, the most frequent first."""
    found: dict[str, Cause] = {}
    for run in summary.runs:
        if run.error is None:
            continue
        code, told = _cause(run, language)
        found.setdefault(code, Cause(code, told)).runs.append(run)
    return sorted(found.values(), key=lambda one: -len(one.runs))


def _cause(run: Run, language: str) -> tuple[str, Mapping[str, str]]:
    assert run.error is not None
    if run.error.diagnosis is not None:
        try:
            return run.error.diagnosis, attached.told(run.error.diagnosis, language)
        except KeyError:  # an entry of a later version of the course
            return run.error.diagnosis, {}
    failed = [one.step for one in run.checkpoints if one.status == "fail"]
    return (f"{run.error.code} · {failed[-1]}" if failed else run.error.code), {}


def skips(summary: Report) -> list[Skip]:
    """Return the reasons for which steps, or whole runs, did not apply."""
    found: dict[str, Skip] = {}

    def add(reason: str, place: str) -> None:
        places = found.setdefault(reason, Skip(reason)).places
        places[place] = places.get(place, 0) + 1

    for run in summary.runs:
        if run.skipped is not None:
            add(run.skipped, run.lab)
        for one in run.checkpoints:
            if one.status == "skipped":
                add(one.reason or "", f"{run.lab} {one.step}")
    return list(found.values())


def versions(summary: Report) -> list[Version]:
    """Return what the runs were made with, each combination once, with the number of its runs."""
    found: dict[tuple[Any, ...], Version] = {}
    for run in summary.runs:
        last = run.checkpoints[-1] if run.checkpoints else None
        if last is None or not (last.engine or last.versions):
            continue
        told = ", ".join(f"{name} {version}" for name, version in last.versions.items())
        one = Version(last.engine or "–", last.model or "–", bool(last.stand_in), told)
        key = (one.engine, one.model, one.stand_in, one.versions)
        found.setdefault(key, one).runs += 1
    return list(found.values())


def slowest(run: Run, most: int = 3) -> str:
    """Return the code cells that took longest: "[12] 31.2 s, [5] 4.0 s"; only those of a second or
    more.
    """
    longest = sorted(run.cells, key=lambda one: -one.seconds)[:most]
    return ", ".join(f"[{one.cell}] {one.seconds:.1f} s" for one in longest if one.seconds >= 1)
