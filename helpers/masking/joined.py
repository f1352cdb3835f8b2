"""A text as it is, and as it was before a terminal or a logger broke its lines: a secret that was
cut in two is one again.

Not for what is searched in it: `patterns` and `known` do that.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

WRAPPED = 60
"""Characters of a line that a terminal may have broken; a shorter one ends where it ends."""

_COLOUR = r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\))"
_LEVEL = r"\[?[A-Z]{4,8}\]?:?[ \t]+"
_COLOURS = rf"(?:{_COLOUR})*"
# vLLM's process and logger prefixes, other loggers' time stamps, the frame of a rich traceback.
_PREFIX = _COLOURS.join(
    (
        r"[ \t]*(?P<prefix>",
        r"(?:\([^()\n]{0,60}pid=\d+[^()\n]{0,20}\))?",
        r"[ \t]*",
        rf"(?:{_LEVEL}" r"\d\d-\d\d[ \t]+\d\d:\d\d:\d\d[ \t]+\[[^\]\n]{1,80}\][ \t]?)?",
        r"(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?\]?[ \t]+" rf"(?:{_LEVEL})?)?",
        r"(?:│[ \t]*)?)",
    )
)
_BREAK = rf"{_COLOURS}(?:\r\n|\n|\r){_COLOURS}{_PREFIX}{_COLOURS}|{_COLOUR}"


@dataclass(frozen=True)
class View:
    """A text to search, and where its pieces stand in the text that it was made from.

    Attributes:
        starts, origins: where each piece begins in `text`, and in the original.
        wrapped: lines were put together: what goes to the end of a line is not to be searched.
        whole: all lines were, so that only what needs no blank around it is to be searched.
    """

    text: str
    starts: list[int]
    origins: list[int]
    wrapped: bool = False
    whole: bool = False

    def back(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Return where a piece of `text` stands in the original: an interval for each line."""
        number = bisect_right(self.starts, start) - 1
        while number < len(self.starts) and self.starts[number] < end:
            begin = self.starts[number]
            following = self.starts[number + 1] if number + 1 < len(self.starts) else len(self.text)
            first, last = max(start, begin), min(end, following)
            if first < last:
                yield self.origins[number] + first - begin, self.origins[number] + last - begin
            number += 1


def plain(text: str) -> View:
    """Return a text as it is."""
    return View(text, [0], [0])


def broken(text: str, *, everywhere: bool = False) -> View:
    """Return a text with broken lines put together, colours and the prefixes of loggers left out.

    Args:
        everywhere: every line was broken; else those before a prefix, and the long ones.
    """
    parts, starts, origins, length, last = [], [], [], 0, 0
    line = 0
    for found in re.finditer(_BREAK, text):
        at_end = "\n" in found[0] or "\r" in found[0]
        joins = (
            everywhere
            or not at_end
            or (found["prefix"] or "").strip()
            or found.start() - line >= WRAPPED
        )
        if at_end:
            line = found.end()
        if not joins:
            continue
        starts.append(length)
        origins.append(last)
        parts.append(text[last : found.start()])
        length += found.start() - last
        last = found.end()
    starts.append(length)
    origins.append(last)
    parts.append(text[last:])
    return View("".join(parts), starts, origins, wrapped=True, whole=everywhere)
