"""When two cells hold the same code: comments, blank lines and spacing aside. Tokens only: nothing
is parsed to a tree or run, so no source can exhaust the interpreter.

Not for which cells are compared: `matching` decides.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable

from helpers.classview.reading import Cell

SHELL = re.compile(r"^[ \t]*[%!]|=[ \t]*!", re.MULTILINE)
"""Magics and shell lines: what looks like spacing in Python is part of a command there."""

LAYOUT = {tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE}
IGNORED = {tokenize.COMMENT, tokenize.NL, tokenize.ENDMARKER}

MOST_CHARACTERS = 5_000
"""Of a cell that is read as Python; the labs' longest has 1,900. A longer one is read as text."""

Line = tuple[str, ...]
TYPES = {"Optional", "bool", "dict", "float", "int", "list", "str"}
HARMLESS = TYPES | {"default", "True", "False", "None"}
"""Names that a parameter's line may use beside its own."""


def normal(source: str) -> tuple[Line, ...]:
    """Return a cell's logical lines as tokens; equal for two cells that do the same in Python."""
    if len(source) <= MOST_CHARACTERS and not SHELL.search(source):
        try:
            return tuple(_lines(source))
        except (IndentationError, SyntaxError, tokenize.TokenError):
            pass  # not Python, or not yet: compared as text
    return tuple((line.rstrip(),) for line in source.splitlines() if line.strip())


def _lines(source: str) -> list[Line]:
    lines: list[Line] = []
    line: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(source.rstrip() + "\n").readline):
        if token.type == tokenize.NEWLINE:
            lines.append(tuple(line))
            line = []
        elif token.type not in IGNORED:
            line.append(tokenize.tok_name[token.type] if token.type in LAYOUT else token.string)
    return [*lines, tuple(line)] if line else lines


def index(cells: Iterable[Cell]) -> dict[tuple[Line, ...], Cell]:
    """Return cells by their code, the first one of each; blank and very long ones are left out."""
    found: dict[tuple[Line, ...], Cell] = {}
    for cell in cells:
        if not cell.is_blank and len(cell.source) <= MOST_CHARACTERS:
            found.setdefault(normal(cell.source), cell)
    return found


def is_same(source: str, other: str) -> bool:
    """Return True where two cells hold the same code."""
    return source == other or normal(source) == normal(other)


def own_parameters(source: str, committed: str) -> list[str] | None:
    """Return the parameters that a cell sets in its own way, or None where it does more than that.

    A parameter's line gives one of the committed cell's names a value made of literals.

    Args:
        source: the hand-in's parameters cell, or the one that papermill put in.
        committed: the lab's parameters cell.
    """
    known = normal(committed)
    names = {line[0] for line in known if line and re.fullmatch(r"[A-Z][A-Z0-9_]*", line[0])}
    found = []
    for line in normal(source):
        if line in known:
            continue
        if len(line) < 3 or line[0] not in names or line[1] not in (":", "="):
            return None
        words = {word for word in line[1:] if word.isidentifier()}
        if words - HARMLESS or ";" in line:
            return None
        found.append(line[0])
    return found


def names(source: str, name: str) -> bool:
    """Return True where a cell's code names something, outside of comments and strings."""
    if name not in source:
        return False  # nearly every cell, and a tokenizer is slow
    return any(name in line or name in " ".join(line).split() for line in normal(source))
