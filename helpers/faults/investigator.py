"""Tools with which a model looks into a failed start: read the log, search the knowledge base, ask
for versions. The loop that runs them is `tools.run_tools`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from helpers import messages
from helpers.diagnose.knowledge import Entry, entries
from helpers.faults import logfile
from helpers.tools import Tool, Transcript, tool

LINES, FOUND, SHOWN = 20, 3, 900
"""Lines of a log, entries of a search, characters of a text: a result becomes part of a prompt."""


def toolbox(log: Path, versions: Mapping[str, str]) -> list[Tool]:
    """Return read_log, search_knowledge and check_versions for one log.

    Args:
        log: the log of a failed start.
        versions: of the engine, by distribution.
    """

    @tool
    def read_log(first: int, lines: int = LINES) -> dict[str, Any]:
        """Read lines of the server's log; the cause is the first real error, not the last line

        Args:
            first: number of the first line, from 1; a negative number counts from the end
            lines: how many, 20 at most
        """
        found = logfile.lines(log)
        start = max(1, len(found) + first + 1 if first < 0 else first)
        shown = logfile.numbered(found, start, start + min(lines, LINES) - 1)
        return {"lines_in_log": len(found), "text": "\n".join(shown)}

    @tool
    def search_knowledge(words: str) -> list[dict[str, str]]:
        """Search the knowledge base of known failures; gives id, cause and fix of the best entries

        Args:
            words: words of an error message
        """
        return [_told(one) for one in search(words)]

    @tool
    def check_versions() -> dict[str, str]:
        """Tell which versions of vLLM and its parts are installed"""
        return dict(versions)

    return [read_log, search_knowledge, check_versions]


def search(words: str) -> list[Entry]:
    """Return the entries whose texts and signatures hold most of the words, the best first."""
    wanted = set(re.findall(r"[\w-]{3,}", words.lower()))
    scored = [(sum(word in _text(one) for word in wanted), one) for one in entries().values()]
    best = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
    return [one for _, one in best[:FOUND]]


def _text(one: Entry) -> str:
    said = [one.id, *one.texts("en", {}).values(), *(mark.text for mark in one.signatures)]
    return " ".join(said).lower()


def _told(one: Entry) -> dict[str, str]:
    said = one.texts(messages.language(), {})
    return {"id": one.id, "cause": said["cause"][:SHOWN], "fix": said["fix"][:SHOWN]}


def names(transcript: Transcript, cause: str) -> bool:
    """Return whether a conversation read the log and its answer names the cause by its id."""
    read = any(one.name == "read_log" for one in transcript.calls)
    return read and cause in transcript.answer
