"""The diagnosis that an error or a run carries: only what is known well enough to be told unasked.

`diagnose.read` says all there is, a doubt included; here a doubt is None. Not for choosing when:
`lab_error` and the report ask.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from helpers import diagnose, messages, paths
from helpers.diagnose import answer
from helpers.diagnose.answer import Diagnosis

MOST_BYTES = 32 << 20
"""A longer log is read by `python -m helpers diagnose` only: an error is shown without delay."""

WIDE = 300
"""Characters of a log's line in a message: one with a list of every parser has thousands."""

SURE = ("high", "medium")
_NAMED = re.compile(r"\[diagnose:([\w.-]+)\]")


def find(log: Path | None, said: str | None, language: str | None = None) -> Diagnosis | None:
    """Return the fault that a log, or where there is no log a text, is known to show; else None.

    Args:
        log: a file. What was said beside it is a consequence of what it holds.
        said: what another program complained with.
        language: "zh" or "en"; None takes the language in force.
    Raises:
        OSError: the log cannot be read.
    """
    if log is None:
        return _known(diagnose.read_text(said, language)) if said else None
    return _known(diagnose.read(log, language)) if log.stat().st_size <= MOST_BYTES else None


def _known(found: Diagnosis) -> Diagnosis | None:
    sure = found.verdict == "fault" and found.entry is not None and found.confidence in SURE
    return found if sure else None


def of_run(message: str, logs: Iterable[Path] = (), language: str | None = None) -> str | None:
    """Return the entry that explains why a run failed, or None.

    Args:
        message: the error as it was told; names the entry where its own process knew it.
        logs: of the servers and offline runs that were its own, the oldest first.
        language: "zh" or "en"; None takes the language in force.
    """
    named = _NAMED.search(message)
    if named is not None:
        return named[1]
    for log in logs:
        try:
            found = find(log, None, language)
        except OSError:
            continue
        if found is not None:
            return found.entry
    return None


def told(entry: str, language: str | None = None) -> dict[str, str]:
    """Return title, cause, fix and confirm of an entry, without the values of any one log.

    Raises:
        KeyError: no such entry.
    """
    return answer.texts(entry, language or messages.language(), {})


def lines(found: Diagnosis, language: str | None = None, *, whole: bool = True) -> list[str]:
    """Return what an error's message gains: the entry, its evidence, and if asked why and what to
    do.

    Args:
        whole: also cause, advice and how to tell; False where the error's own texts say them.
    """
    parts = {"line": [_where(found)]} if found.source and found.evidence else {}
    if whole:
        confirm = [found.confirm] if found.confirm else []
        parts |= {"why": [found.cause], "next": found.advice, "confirm": confirm}
    out = [
        f"{messages.text('error.diagnosis.head', language)}[diagnose:{found.entry}] {found.title}"
    ]
    for name, said in parts.items():
        label = messages.text(f"error.diagnosis.{name}", language)
        out += [f"    {label}{one}" for one in said]
    return out


def _where(found: Diagnosis) -> str:
    first = found.evidence[0]
    said = paths.shown(first.text.strip())
    short = said if len(said) <= WIDE else f"{said[:WIDE]} …"
    return f"{paths.shown(found.source)}:{first.line}  {short}"
