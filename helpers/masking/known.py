"""A known value in a text, however it is written there: as it is, JSON-escaped, percent-encoded, as
HTML or in base 64, mixtures of these included.

Not for values that nobody has told: `patterns` finds those.
"""

from __future__ import annotations

import base64
import re
import string
from collections.abc import Iterator
from functools import lru_cache

SHORTEST = 3
SEARCHABLE = 6
"""Characters from which a value is also masked inside longer words."""

_WORD = "[A-Za-z0-9]"
_TRAILING = ",;.:)}]>\"'\\"


def find(value: str, text: str, *, is_place: bool = False) -> Iterator[tuple[int, int]]:
    """Return where a value stands in a text: start and end of each.

    Args:
        is_place: a path or a name, which must be a word of its own.
    """
    for pattern in _forms(value, is_place):
        for found in pattern.finditer(text):
            yield found.span()


@lru_cache(maxsize=256)
def _forms(value: str, is_place: bool) -> tuple[re.Pattern[str], ...]:
    body = "".join(_character(one) for one in value)
    if is_place or len(value) < SEARCHABLE:
        body = f"(?<!{_WORD}){body}(?!{_WORD})"
    forms = [re.compile(body, re.IGNORECASE | re.ASCII)]
    if len(value) >= SEARCHABLE and not is_place:
        coded = base64.b64encode(value.encode("utf-8", "surrogateescape")).decode().rstrip("=")
        forms.append(re.compile(re.escape(coded)))
    return tuple(forms)


def _character(one: str) -> str:
    """Return the pattern of one character in every spelling."""
    if one in "\r\n":
        return r"(?:\\{1,8}[rn]|%(?:25)*0[ad]|\s)?"
    coded = "".join(f"%(?:25)*{byte:02x}" for byte in one.encode("utf-8", "surrogateescape"))
    units = one.encode("utf-16-be", "surrogatepass")
    pairs = [units[n : n + 2].hex() for n in range(0, len(units), 2)]
    spellings = [
        coded,
        "".join(rf"\\{{1,8}}u{pair}" for pair in pairs),
        rf"&\#(?:{ord(one)}|x0*{ord(one):x});",
    ]
    if one in string.ascii_letters + string.digits:
        return f"(?:{one}|{'|'.join(spellings)})"
    named = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", " ": r"\+"}.get(one)
    spellings += [named] if named else []
    itself = rf"\\{{0,8}}{re.escape(one)}"
    if one == "'":  # as a shell writes it inside single quotes
        itself = rf"'\"'\"'|{itself}"
    return f"(?:{itself}|{'|'.join(spellings)})"


def worth_learning(value: str) -> list[str]:
    """Return what of a value that was found by its surroundings is to be looked for elsewhere: not
    an ordinary word, which would then be masked everywhere.
    """
    parts = {value, *value.split(), *re.split(r"[:@]", value)}
    bare = {part.strip("\"'\\[]").rstrip(_TRAILING) for part in parts}
    return sorted(part for part in bare if _is_no_word(part))


def _is_no_word(text: str) -> bool:
    if set(text) <= {"*"} or text.startswith("<"):
        return False
    digits = any(one.isdigit() for one in text) and not text.isdigit()
    letters = any(one.isalpha() for one in text)
    symbols = any(not one.isalnum() for one in text)
    mixed = text != text.lower() and text[1:] != text[1:].lower()
    return (
        len(text) >= SEARCHABLE
        and letters
        and (digits or len(text) >= 12 or (len(text) >= 8 and (symbols or mixed)))
    )
