"""The checkpoint records in a hand-in's outputs, and their text forms as `checkpoint` writes them.

Not for what their being there means: `judging` says that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from typing import Annotated, Any

from pydantic import ConfigDict, Field, FiniteFloat, ValidationError

from helpers import messages
from helpers.checkpoint import MIME
from helpers.classview import cleaning
from helpers.classview.reading import Cell, Output
from helpers.schemas import Checkpoint

CODE = re.compile(r"\[([\w.]{1,80})\] ")
"""How the message of a LabError begins."""

TAG = re.compile(r"<[^<>]*>")
MOST_LETTERS = 20_000
"""Of a record's text form that is looked at."""


class Record(Checkpoint):
    """A checkpoint's record as a stranger hands it in: a later edition's fields are left out, and
    seconds are a number that JSON can hold.
    """

    model_config = ConfigDict(extra="ignore")

    seconds: Annotated[FiniteFloat, Field(ge=0)]


@dataclass(frozen=True)
class Recorded:
    """A record, the cell that shows it, and the output that holds both its forms."""

    record: Record
    cell: Cell
    output: Output


def of(cell: Cell) -> tuple[list[Recorded], int]:
    """Return a cell's records in order, and how many of its outputs claim to be one and are not."""
    found, broken = [], 0
    for output in cell.outputs:
        if MIME not in output.data:
            continue
        try:
            found.append(Recorded(_record(output.data[MIME]), cell, output))
        except (ValidationError, TypeError):
            broken += 1
    return found, broken


def _record(value: Any) -> Record:
    record = Record(**value)
    if record.ok != (record.status != "fail"):
        raise TypeError("ok contradicts status")
    return record


def differences(found: Recorded) -> dict[str, str]:
    """Return what the text forms ("text/plain", "text/html") say that differ from the JSON.

    Both languages count as right: the language of a kernel may be changed.
    """
    said = {
        "text/plain": found.output.text("text/plain"),
        "text/html": _bare(found.output.text("text/html")),
    }
    record = found.record
    told = f" — {record.reason}" if record.reason else ""
    right: dict[str, set[str]] = {"text/plain": set(), "text/html": set()}
    for language in messages.LANGUAGES:
        status = messages.text(f"checkpoint.status.{record.status}", language)
        line = messages.text("checkpoint.line", language, step=record.step, status=status)
        right["text/plain"].add(_spaced(line + told))
        right["text/html"].add(_spaced(f"{status} {record.step}{told}"))
    return {
        form: text or ""
        for form, text in said.items()
        if text is None or _spaced(text) not in right[form]
    }


def _bare(html: str | None) -> str | None:
    return None if html is None else unescape(TAG.sub("", html[:MOST_LETTERS]))


def _spaced(text: str) -> str:
    return " ".join(text[:MOST_LETTERS].split())


def error(cell: Cell) -> tuple[str, str] | None:
    """Return code and message of the error that a cell shows, or None; the exception's name stands
    for the code where it is no LabError.
    """
    shown = next((one for one in cell.outputs if one.output_type == "error"), None)
    if shown is None:
        return None
    told = CODE.match(shown.evalue)
    return (told.group(1) if told else cleaning.line(shown.ename, 80) or "?"), shown.evalue
