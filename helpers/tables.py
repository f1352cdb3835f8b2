"""A small table as text and as HTML, for things that a notebook shows. Not for data frames: those
are pandas' business.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape


def width(text: str) -> int:
    """Return the columns that a text takes in a terminal; a CJK character takes two."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def plain(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the table as aligned text."""
    lines = [list(map(str, row)) for row in (head, *rows)]
    widths = [max(width(line[column]) for line in lines) for column in range(len(head))]

    def joined(line: Sequence[str]) -> str:
        return "  ".join(
            cell + " " * (size - width(cell)) for cell, size in zip(line, widths, strict=True)
        ).rstrip()

    return "\n".join(
        [joined(lines[0]), joined(["-" * size for size in widths]), *map(joined, lines[1:])]
    )


def html(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the table as HTML, every cell escaped."""
    top = "".join(f"<th style='text-align:left'>{escape(str(cell))}</th>" for cell in head)
    body = "".join(
        "<tr>"
        + "".join(f"<td style='text-align:left'>{escape(str(cell))}</td>" for cell in row)
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


@dataclass(frozen=True)
class Table:
    """A head and rows of text; prints as aligned text, shows as HTML in a notebook."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def __str__(self) -> str:
        return plain(self.head, self.rows)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html(self.head, self.rows)
