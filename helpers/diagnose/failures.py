"""What looks like a failure although no entry knows it: exceptions, error lines, deaths.

It finds the first causal one: not the wrapper that reports it, not a warning. Not for naming
causes: `findings` does that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
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
_UNFINISHED = re.compile(r":$|validation errors? for \w+$")
MOST = 200


@dataclass(frozen=True)
class Failure:
    """A line that says that something failed.

    Attributes:
        raised: it ends a traceback. wrapper: it only reports another failure.
        around: the frame that raised it, and what its message goes on with.
    """

    line: int
    process: str
    text: str
    raised: bool
    wrapper: bool
    around: tuple[tuple[int, str], ...] = ()


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


class Tracebacks:
    """Joins what belongs to one exception although other processes write in between."""

    def __init__(self) -> None:
        self.found: list[Failure] = []
        self._frames: dict[str, tuple[int, str]] = {}
        self._open: dict[str, int] = {}

    def add(self, number: int, line: bytes) -> None:
        """Take in the next line that is no ordinary one."""
        if self._open:
            self._go_on(number, line)
        if b'File "' in line:
            parts = lines.split(shown(line[:2000]))
            self._frames[parts.process] = (number, parts.message.strip())
        elif suspect(line) and len(self.found) < MOST:
            one = of(number, line)
            if one is not None:
                frame = self._frames.pop(one.process, None) if one.raised else None
                self.found.append(replace(one, around=(frame,) if frame else ()))
                if _UNFINISHED.search(one.text):
                    self._open[one.process] = len(self.found) - 1

    def _go_on(self, number: int, line: bytes) -> None:
        parts = lines.split(shown(line[:2000]))
        index = self._open.pop(parts.process, None)
        if index is not None:
            one = self.found[index]
            said = (number, parts.message.strip()[:600])
            self.found[index] = replace(one, around=(*one.around, said))


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
