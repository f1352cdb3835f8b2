"""A log file by line numbers: its head and tail, a range, the lines that match.

Not for what the lines mean: `diagnose` reads them.
"""

from __future__ import annotations

import re
from pathlib import Path

from helpers.diagnose.reading import shown

WIDTH = 180
_ANSI = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")


def lines(path: Path) -> list[str]:
    """Return the lines of a log, colours removed; line 1 of the file is item 0."""
    data = _ANSI.sub(b"", path.read_bytes())
    found = [shown(line) for line in data.split(b"\n")]
    return found[:-1] if found and not found[-1] else found


def numbered(found: list[str], first: int, last: int) -> list[str]:
    """Return lines first to last (from 1, both included) with their numbers, cut at WIDTH."""
    chosen = list(enumerate(found, 1))[max(0, first - 1) : last]
    return [f"{number:4}  {_cut(line)}" for number, line in chosen]


def excerpt(found: list[str], head: int, tail: int) -> list[str]:
    """Return the first and the last lines with their numbers, and how many lie between."""
    between = len(found) - head - tail
    if between <= 0:
        return numbered(found, 1, len(found))
    end = numbered(found, len(found) - tail + 1, len(found))
    return [*numbered(found, 1, head), f"   …  ({between})", *end]


def matching(found: list[str], pattern: str, limit: int = 20) -> list[int]:
    """Return the numbers of the first lines that a regular expression matches.

    Raises:
        re.error: it is none.
    """
    wanted = re.compile(pattern)
    return [number for number, line in enumerate(found, 1) if wanted.search(line)][:limit]


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else line[:WIDTH] + "…"
