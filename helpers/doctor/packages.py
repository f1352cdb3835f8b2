"""Read `pip list` and pip's complaints about conflicts. Pure functions on text; what is installed
is asked of the interpreter itself by `probe`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ROW = re.compile(r"^\s*([A-Za-z0-9][\w.-]*)\s+(\d[\w.+!-]*)(?:\s+/\S.*|\s{2,}\S.*)?\s*$")
_EQUALS = re.compile(r"^\s*(?:\[pip3\]\s*)?([A-Za-z0-9][\w.-]*)==(\d[\w.+!-]*)\s*$")
_CONFLICT = re.compile(
    r"^\s*(\S+) (\S+) requires (.+?), (?:but you have (\S+) (\S+) which is incompatible"
    r"|which is not installed)"
)


@dataclass(frozen=True)
class Conflict:
    """One of pip's lines: `package version requires requirement, but you have found`.

    `found` is None where what it requires is not installed at all.
    """

    package: str
    version: str
    requirement: str
    found: str | None


def normal(name: str) -> str:
    """Return a distribution's name as PEP 503 spells it: torch_npu → torch-npu."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pip_list(text: str) -> dict[str, str]:
    """Return version by name (PEP 503) of `pip list` or `pip freeze`; head, editable places and
    other lines are passed over.
    """
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = _ROW.match(line) or _EQUALS.match(line)
        if match:
            found.setdefault(normal(match[1]), match[2])
    return found


def conflicts(text: str) -> list[Conflict]:
    """Return what pip complains about after an install, in its order."""
    found = []
    for line in text.splitlines():
        match = _CONFLICT.match(line)
        if match:
            found.append(Conflict(normal(match[1]), match[2], match[3], match[5]))
    return found
