"""What looks like a failure although no entry knows it: exceptions, error lines, deaths.

It finds the first causal one: not the wrapper that reports it, not a warning. Not for naming
causes: `findings` does that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from helpers.diagnose import lines
from helpers.diagnose.reading import shown

_TRIGGERS = (
    b"rror", b"xception", b"FATAL", b"atal:", b"RITICAL", b"Killed", b"core dumped", b"egmentation",
    b"Aborted", b"Interrupt", b"imeout:", b"Exit:", b"nvalid", b"not found", b"denied",
)  # fmt: skip
_RAISED = re.compile(
    r"(?:[A-Za-z_][\w]*\.)*[A-Z][A-Za-z]*(?:Error|Exception|Interrupt|Exit|Timeout|Failure|Invalid\w*)"
    r"(?::(?: |$)|$)"
)
_STATED = re.compile(
    r"(?:\[?ERROR\]?|FATAL|CRITICAL)\b[:\] ]|[Ff]atal(?: Python)? error|[Ee]rror: "
    r"|[\w./-]+(?: [\w-]+)?: (?:\w+ )?[Ee]rror: |Segmentation fault|Killed$|Aborted"
    r"|.{0,80}\(core dumped\)|.{0,120}: (?:command not found|[Pp]ermission denied)"
)
_FRAME = re.compile(
    r"\s|Traceback|File \"|[\^~]{3,}|During handling|The above exception|return |raise |await "
)
# They report that something else has failed.
_WRAPPERS = re.compile(
    r"[Ss]ee (?:the )?(?:root cause|stack trace|above|error)|EngineDeadError|WorkerProc "
    r"|EngineCore failed|EngineCore encountered|output_handler failed|ERR99999"
    r"|died unexpectedly|^\w*SystemExit|CancelledError|Parent process exited"
)
_HARMLESS = re.compile(
    r"\w*Warning\b|KeyboardInterrupt|swigvarlink|leaked (?:semaphore|shared_memory)|See https?:"
    r"|dependency resolver does not currently"
)
MOST = 200


@dataclass(frozen=True)
class Failure:
    """A line that says that something failed."""

    line: int
    process: str
    text: str
    raised: bool
    wrapper: bool


def suspect(line: bytes) -> bool:
    """Return whether a line is worth taking apart."""
    return any(word in line for word in _TRIGGERS)


def of(number: int, line: bytes) -> Failure | None:
    """Return the failure that a line states, or None."""
    return _of(number, shown(line[:4000]))


@lru_cache(maxsize=512)
def _of(number: int, line: str) -> Failure | None:
    parts = lines.split(line)
    message = parts.message
    if parts.level in ("DEBUG", "INFO", "WARNING") or _HARMLESS.search(message[:300]):
        return None
    raised = bool(_RAISED.match(message))
    logged = parts.level in ("ERROR", "CRITICAL") and not _FRAME.match(message) and bool(message)
    if not (raised or logged or _STATED.match(message)):
        return None
    return Failure(number, parts.process, message[:600], raised, bool(_WRAPPERS.search(message)))


def causal(found: list[Failure]) -> Failure | None:
    """Return the first causal failure: an exception before a statement, never a wrapper if there is
    anything else.
    """
    real = [one for one in found if not one.wrapper]
    raised = [one for one in real if one.raised]
    for choice in (raised, real, found):
        if choice:
            return choice[0]
    return None
