"""Which cell of a hand-in is which of the lab, and what of the code differs: exercises are the
learner's, the rest is the course's.

Not for what the cells have shown: `judging` reads that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from helpers.classview import codes
from helpers.classview.reading import Cell
from helpers.classview.reference import Lab

INJECTED = "injected-parameters"
"""Tag of the cell that papermill puts in."""


@dataclass
class Match:
    """The code cells of a hand-in, told apart.

    Attributes:
        pairs: cell of the hand-in, cell of the lab; in the hand-in's order.
        changed: pairs whose code differs where it must not.
        missing: cells of the lab that are not there.
        own: cells that the learner added, blank ones left out.
        injected: the cells in which papermill put parameters.
        parameters: names of the parameters that were given other values.
    """

    pairs: list[tuple[Cell, Cell]] = field(default_factory=list)
    changed: list[tuple[Cell, Cell]] = field(default_factory=list)
    missing: list[Cell] = field(default_factory=list)
    own: list[Cell] = field(default_factory=list)
    injected: list[Cell] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)

    def is_solved(self, stub: Cell) -> bool:
        """Return True where an exercise's cell is no longer the stub, or is gone."""
        answers = [ours.source for ours, theirs in self.pairs if theirs is stub]
        return not any(codes.is_same(source, stub.source) for source in answers)


def match(cells: Sequence[Cell], lab: Lab) -> Match:
    """Return a hand-in's cells matched with the lab's: by id, else by equal code, else by place."""
    found = Match()
    partner = _partners([cell for cell in cells if not cell.is_blank], lab)
    parameters = next((cell for cell in lab.cells if "parameters" in cell.tags), None)
    for cell in cells:
        theirs = partner.get(cell.number)
        if theirs is not None:
            found.pairs.append((cell, theirs))
            _compare(cell, theirs, found)
        elif not cell.is_blank:
            given = None
            if INJECTED in cell.tags and parameters is not None:
                given = codes.own_parameters(cell.source, parameters.source)
            if given is None:
                found.own.append(cell)
            else:
                found.injected.append(cell)
                found.parameters += given
    have = {theirs.number for _, theirs in found.pairs}
    found.missing = [cell for cell in lab.cells if cell.number not in have]
    return found


def _compare(cell: Cell, theirs: Cell, found: Match) -> None:
    if "exercise" in theirs.tags or codes.is_same(cell.source, theirs.source):
        return
    if "parameters" in theirs.tags:
        given = codes.own_parameters(cell.source, theirs.source)
        if given is not None:
            found.parameters += given
            return
    found.changed.append((cell, theirs))


def _partners(cells: Sequence[Cell], lab: Lab) -> dict[int, Cell]:
    """Return the lab's cell for each number of a hand-in's cell that has one."""
    free = {cell.number: cell for cell in lab.cells}
    by_id = {cell.id: cell for cell in lab.cells}
    partner: dict[int, Cell] = {}

    def take(cell: Cell, theirs: Cell | None) -> None:
        if theirs is not None and cell.number not in partner and theirs.number in free:
            partner[cell.number] = free.pop(theirs.number)

    for cell in cells:
        take(cell, by_id.get(cell.id))
    theirs = codes.index(list(free.values()))
    ours = codes.index([c for c in cells if c.number not in partner]) if theirs else {}
    for code in theirs.keys() & ours.keys():
        take(ours[code], theirs[code])
    order = [cell.number for cell in lab.cells]
    before: Cell | None = None
    for cell in cells:
        place = order.index(before.number) + 1 if before is not None else 0
        if INJECTED not in cell.tags and place < len(order):
            take(cell, free.get(order[place]))
        before = partner.get(cell.number, before)
    return partner
