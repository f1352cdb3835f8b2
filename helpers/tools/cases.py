"""Texts as a model may write them, and what the installed parser makes of each, as tables.

The texts are data (parser_cases.yml); `parser` asks the engine, nothing here parses.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from helpers import messages
from helpers.tables import Table
from helpers.tools.parser import Parsed
from helpers.tools.schema import tool


@dataclass(frozen=True)
class Case:
    """One text: its id, a label in each language, and what the model wrote."""

    id: str
    zh: str
    en: str
    text: str

    @property
    def label(self) -> str:
        """Return the label in the language in force."""
        return str(getattr(self, messages.language()))


@tool
def keep_note(
    text: str,
    pages: int = 0,
    tags: list[str] = [],  # noqa: B006  a default is only read for the schema
    place: dict[str, Any] | None = None,
) -> str:
    """Keep a note."""
    return f"kept: {text} {pages} {tags} {place}"


@lru_cache(maxsize=1)
def load() -> list[Case]:
    """Return the cases of parser_cases.yml, in its order."""
    written = Path(__file__).with_name("parser_cases.yml").read_text(encoding="utf-8")
    return [Case(**one) for one in yaml.safe_load(written)]


def table(cases: Sequence[Case], parsed: Sequence[Parsed]) -> Table:
    """Return a row for each case: what was written, the calls, and the text that is left."""
    head = [messages.text(code) for code in _HEAD]
    rows = [
        (case.label, one.text.replace("\n", "⏎"), shown(one), json_text(one.content))
        for case, one in zip(cases, parsed, strict=True)
    ]
    return Table(head, rows)


_HEAD = ("tools.parsed.case", "tools.parsed.text", "tools.parsed.calls", "tools.parsed.content")


def comparison(parsed: Sequence[Parsed]) -> Table:
    """Return a row for each parser: the calls that it found."""
    head = [messages.text("tools.parsed.parser"), messages.text("tools.parsed.calls")]
    return Table(head, [(one.parser, shown(one)) for one in parsed])


def shown(parsed: Parsed) -> str:
    """Return the calls of a text in one line; a dash where there are none."""
    return " · ".join(map(str, parsed.calls)) or "–"


def json_text(value: object) -> str:
    """Return a value as the JSON that a client sees: null, or a quoted text."""
    return json.dumps(value, ensure_ascii=False)
