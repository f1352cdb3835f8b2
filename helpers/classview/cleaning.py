"""Text from a hand-in, made fit to be shown: in a terminal, on a page, in JSON.

Not for escaping: Jinja2 escapes HTML, rich is given texts and no markup.
"""

from __future__ import annotations

import unicodedata

LONGEST = 300
"""Characters of one text from a hand-in that are shown."""


def line(text: str, longest: int = LONGEST) -> str:
    """Return a text as one line without control, format and surrogate characters, shortened.

    Those could move a terminal's cursor, turn a line's direction round, or not be written at all.
    """
    kept = (
        " " if char.isspace() else char
        for char in text[: 4 * longest]
        if char.isspace() or not unicodedata.category(char).startswith("C")
    )
    told = " ".join("".join(kept).split())
    return told if len(told) <= longest else told[: longest - 1] + "…"


def first_line(text: str, longest: int = LONGEST) -> str:
    """Return the first line of a text that says something."""
    return next((told for part in text[:10_000].splitlines() if (told := line(part, longest))), "")
