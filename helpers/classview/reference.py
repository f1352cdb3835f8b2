"""The labs as the course hands them out: notebooks/, learner edition, with the checkpoints that
each cell records and the outputs that are stored with it.

What hand-ins are compared with; changes nothing there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from helpers import catalog, messages, paths
from helpers.checkpoint import MIME
from helpers.classview import codes, reading
from helpers.classview.reading import Cell, Notebook

SETTINGS = ("engine", "model", "stand_in")
"""Fields of a record that are one run's, not one checkpoint's."""

EXERCISE = "exercise_"
"""How a checkpoint of an exercise is named in course/catalog.yml."""

FEWEST = 3
"""Cells that a notebook must share with a lab to be taken for it."""


@dataclass(frozen=True)
class Lab:
    """One lab in one language.

    Attributes:
        cells: its code cells that hold code.
        steps: cell number → the checkpoints that the cell records.
        stored: checkpoint → seconds in the stored outputs.
        exercises: checkpoints of exercises, also those that the stand-in must skip.
        varying: which of engine, model, stand_in and the packages have several values there, so
            that a run's own may differ too.
    """

    lab: str
    language: str
    fingerprint: str
    cells: tuple[Cell, ...]
    steps: dict[int, tuple[str, ...]]
    stored: dict[str, float]
    exercises: tuple[str, ...]
    varying: frozenset[str]

    @property
    def declared(self) -> list[str]:
        """Return the checkpoints in the lab's order."""
        return list(self.stored)

    def stub(self, step: str) -> Cell | None:
        """Return the exercise cell whose answer a checkpoint asks for: the last one before it."""
        asked = next((number for number, steps in self.steps.items() if step in steps), 0)
        before = [c for c in self.cells if c.number < asked and "exercise" in c.tags]
        return before[-1] if before else None


@lru_cache(maxsize=1)
def labs() -> tuple[Lab, ...]:
    """Return every lab of the catalogue in every language that it is built in."""
    found = []
    for lab in catalog.labs():
        for language in messages.LANGUAGES:
            path = paths.NOTEBOOKS / language / f"{lab}.ipynb"
            if path.is_file():
                found.append(of(lab, language, reading.notebook(path.read_bytes(), path.name)))
    return tuple(found)


def of(lab: str, language: str, notebook: Notebook) -> Lab:
    """Return what a lab's own notebook says of it."""
    records = {
        cell.number: [o.data[MIME] for o in cell.outputs if MIME in o.data]
        for cell in notebook.cells
    }
    every = [one for found in records.values() for one in found]
    return Lab(
        lab=lab,
        language=language,
        fingerprint=notebook.fingerprint,
        cells=tuple(cell for cell in notebook.cells if not cell.is_blank),
        steps={n: tuple(one["step"] for one in found) for n, found in records.items() if found},
        stored={one["step"]: one["seconds"] for one in every},
        exercises=tuple(one["step"] for one in every if one["step"].startswith(EXERCISE)),
        varying=frozenset(_varying(every)),
    )


def _varying(records: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the settings and packages for which records have more than one value."""
    flat = [{name: one[name] for name in SETTINGS} | one["versions"] for one in records]
    for name in {name for one in flat for name in one}:
        if len({one[name] for one in flat if one.get(name) is not None}) > 1:
            yield name


def identify(notebook: Notebook, known: Sequence[Lab]) -> Lab | None:
    """Return the lab whose cells a notebook has: by the cells' ids, else by their code; None where
    it has too few of any.
    """
    ids = {cell.id for cell in notebook.cells}
    by_id = max(known, key=lambda lab: len(ids & {cell.id for cell in lab.cells}), default=None)
    if by_id is None:
        return None
    if len(ids & {cell.id for cell in by_id.cells}) >= FEWEST:
        return by_id
    written = codes.index(notebook.cells)
    raw = {cell.source.strip() for cell in notebook.cells}

    def shared(lab: Lab) -> tuple[int, int]:
        """Return how many cells have the lab's code, and how many its language's comments too."""
        return (
            sum(codes.normal(cell.source) in written for cell in lab.cells),
            sum(cell.source.strip() in raw for cell in lab.cells),
        )

    by_code = max(known, key=shared)
    return by_code if shared(by_code)[0] >= FEWEST else None
