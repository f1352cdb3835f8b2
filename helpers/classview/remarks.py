"""Collects what does not add up in one hand-in, and what is worth knowing: one remark a kind, with
its places. Not for finding it: `judging` and `cell_marks` do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from helpers import messages
from helpers.classview import cleaning
from helpers.classview.schemas import Remark

MOST_PLACES = 8


class Remarks:
    """Remarks by the code of their text, in the order in which they were found."""

    def __init__(self) -> None:
        self._found: dict[str, list[str]] = {}

    def add(self, code: str, place: str = "") -> None:
        """Add a place, as text for people, to the remark of a code."""
        places = self._found.setdefault(code, [])
        if place:
            places.append(cleaning.line(place))

    def add_all(self, code: str, places: Iterable[str]) -> None:
        """Add places to the remark of a code; no place adds no remark."""
        for place in places:
            self.add(code, place)

    def all(self) -> list[Remark]:
        """Return the remarks, their places shortened to a few."""
        return [remark(code, places) for code, places in self._found.items()]


def remark(code: str, places: Sequence[str]) -> Remark:
    """Return one remark, its places shortened to a few."""
    return Remark(
        kind=code.rpartition(".")[2],
        text=messages.text(code),
        places=list(places[:MOST_PLACES]),
        more=len(places[MOST_PLACES:]),
    )
