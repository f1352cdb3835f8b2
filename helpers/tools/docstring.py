"""A tool's docstring, read in Google's style: what the tool does, and what each argument means.

Reads text only; types and defaults are pydantic's business.
"""

from __future__ import annotations

import inspect
import re
import textwrap

_SECTION = re.compile(
    r"^(Args|Arguments|Parameters|Returns?|Raises|Yields?|Examples?|Notes?):\s*$", re.M
)
_ARGUMENT = re.compile(r"^\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")


def summary(text: str) -> str:
    """Return what stands before the first section, in one line."""
    return " ".join(_SECTION.split(inspect.cleandoc(text), maxsplit=1)[0].split())


def arguments(text: str) -> dict[str, str]:
    """Return what the section Args says of each argument, by name; {} where there is none."""
    parts = _SECTION.split(inspect.cleandoc(text))
    found: dict[str, str] = {}
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        if title in ("Args", "Arguments", "Parameters"):
            found |= _entries(textwrap.dedent(body.strip("\n")))
    return found


def _entries(body: str) -> dict[str, str]:
    """Return the entries of a section; a line that is further in continues the one before."""
    found: dict[str, str] = {}
    name = ""
    for line in body.splitlines():
        entry = None if line[:1].isspace() else _ARGUMENT.match(line)
        if entry:
            name = entry.group(1)
            found[name] = entry.group(2).strip()
        elif name:
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found
