"""What the readers of this package share: text without terminal decoration, numbers or None.

Not for what a tool's output means; each reader knows its own tool.
"""

from __future__ import annotations

import re
import unicodedata

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_BORDERS = str.maketrans(dict.fromkeys("│┃║￨", "|"))


def clean(text: str) -> str:
    """Return text without terminal colours, with full-width forms and drawn borders as ASCII."""
    return unicodedata.normalize("NFKC", _ANSI.sub("", text).translate(_BORDERS))


def integer(text: str | None) -> int | None:
    """Return a whole number of at most nine digits, or None for anything else ("NA", "-", "")."""
    word = (text or "").strip()
    return int(word) if re.fullmatch(r"[0-9]{1,9}", word) else None


def decimal(text: str | None) -> float | None:
    """Return a number without sign or exponent, or None for anything else."""
    word = (text or "").strip()
    return float(word) if re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,6})?", word) else None
