"""One line of a log taken apart: which process said it, at what level, and what it said.

Not for whole logs: `reading` makes the lines, `failures` joins what belongs together.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_PARTS = (
    # Container and journal time stamps, Docker Compose names.
    re.compile(
        r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]*(?:Z|[+-]\d\d:?\d\d)?(?:\s+std(?:out|err) F)?\s+"
    ),
    re.compile(r"[\w.-]{1,60} +\| "),
    # vLLM's process prefix, Ray's, torch's rank.
    re.compile(r"\((?P<process>[A-Za-z][\w.:-]*(?: rank=\d+)?) pid=[^)]{0,60}\)\s?"),
    re.compile(r"\[(?P<rank>rank\d+|Stage-\d+)\]:?\s?"),
    # "ERROR 11-10 01:25:12 [core.py:671]", the older form without brackets, uvicorn, pip.
    re.compile(
        r"(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d \[?[\w.]+:\d+\]\s?"
    ),
    re.compile(r"(?P<plain>DEBUG|INFO|WARNING|ERROR|CRITICAL):(?:[\w.]+:)?\s+"),
    re.compile(r"- (?:[\w.]+) - (?P<logger>DEBUG|INFO|WARNING|ERROR|CRITICAL) - "),
    re.compile(r"\.(?=\(|\[|[A-Z]{4,8} \d\d-)"),
)
_MOST = 8


class Parts(NamedTuple):
    """What a line consists of; `dated` says that vLLM's logger wrote it."""

    process: str
    level: str
    message: str
    dated: bool


def split(line: str) -> Parts:
    """Return process, level and message of a line; "" where it names none."""
    process = level = ""
    dated = False
    rest = line.lstrip("\ufeff")
    for _ in range(_MOST):
        found = next((m for part in _PARTS if (m := part.match(rest))), None)
        if found is None:
            break
        named = found.groupdict()
        process = named.get("process") or named.get("rank") or process
        level = named.get("level") or named.get("plain") or named.get("logger") or level
        dated = dated or bool(named.get("level"))
        rest = rest[found.end() :]
    return Parts(process, level, rest, dated)
