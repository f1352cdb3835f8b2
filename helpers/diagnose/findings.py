"""Searches a log for the signatures of the knowledge base and for codes, block by block.

Ordinary INFO lines are set aside at once, the rest is searched with blanks removed, so that neither
line wrapping nor time stamps nor process ids matter. Not for choosing the cause: `verdict` does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from helpers.diagnose import codes, comparing, failures, lines
from helpers.diagnose.knowledge import Entry, Kind, Signature, entries, solid, squeezed
from helpers.diagnose.reading import Block, shown
from helpers.diagnose.squeezed import LineAt, Squeezed, wrap_width
from helpers.diagnose.stages import Phase

AHEAD, BEHIND = 1_500, 300
MOST_PER_SIGNATURE = 64
ALIKE, ALIKE_SHORT, SHORT, MOST_TEMPLATES = 4, 64, 60, 100_000
DIGITS = b"0123456789"
CARRIED_LINES, CARRIED_BYTES = 20, 8_000


@dataclass(frozen=True)
class Finding:
    """One signature or code at one place.

    Attributes:
        bare: no logger wrote the line: a client's text, a terminal's, a tool's.
    """

    id: str
    kind: Kind
    line: int
    evidence: tuple[tuple[int, str], ...]
    process: str = ""
    bare: bool = True
    phase: tuple[Phase, ...] = ()
    values: dict[str, str] = field(default_factory=dict, compare=False)


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(squeezed(pattern).encode())


@lru_cache(maxsize=1024)
def _spaced(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace(" ?", " ").replace(" ", r"\s*"))


def _values(
    pattern: str, match: re.Match[bytes], evidence: tuple[tuple[int, str], ...]
) -> dict[str, str]:
    """Return what the groups hold, as the log writes it where that can be had, else squeezed."""
    if not match.groupdict():
        return {}
    written = _spaced(pattern).search("".join(text for _, text in evidence))
    groups: dict[str, str | bytes | None] = {**(written or match).groupdict()}
    return {
        name: value.decode("utf-8", "replace") if isinstance(value, bytes) else value
        for name, value in groups.items()
        if value is not None
    }


class Search:
    """Finds signatures, codes and unknown failures in a log, block by block."""

    def __init__(self) -> None:
        self.found: list[Finding] = []
        self._tracebacks = failures.Tracebacks()
        self._signatures = [(e, s) for e in entries().values() for s in e.signatures]
        self._counts = [0] * len(self._signatures)
        self._seen: set[tuple[str, int]] = set()
        self._code_counts: dict[str, int] = {}
        self._carried: tuple[list[int], list[bytes]] = ([], [])
        self._templates: dict[int, int] = {}
        self._telling: set[int] = set()

    @property
    def failures(self) -> list[failures.Failure]:
        """Return what failed, known or not, in the order of the log."""
        return self._tracebacks.found

    def add(self, block: Block, whole: bytes, whole_at: LineAt) -> None:
        """Take in a block.

        Args:
            whole: the block, squeezed.
            whole_at: index of the block's line at an offset of that text.
        """
        width = wrap_width(block.lines)
        kept = self._unusual(block)
        text = Squeezed(
            self._carried[0] + [number for number, _ in kept],
            self._carried[1] + [line for _, line in kept],
            width,
        )
        everything: Squeezed | None = None
        for index, (entry, signature) in enumerate(self._signatures):
            if signature.whole:
                if signature.needle in whole:
                    numbers = list(range(block.first, block.first + len(block.lines)))
                    everything = everything or Squeezed(numbers, block.lines, width)
                    self._match(index, entry, signature, everything)
            elif signature.needle in text.squeezed:
                self._match(index, entry, signature, text)
        self._find_codes(text)
        for number, line in kept:
            self._tracebacks.add(number, line)
        self._carry(text)

    def _unusual(self, block: Block) -> list[tuple[int, bytes]]:
        """Return the lines worth searching: no ordinary INFO lines, and of lines that differ in
        numbers only the first few, unless what they mean depends on the phase of the run.
        """
        kept = []
        for number, line in enumerate(block.lines, block.first):
            if not line or (
                (b"INFO" in line[:120] or b"DEBUG" in line[:120])  # ordinary, unless it speaks
                and b"rror" not in line
                and b"xception" not in line
                and b'" 5' not in line
                and b"ailed" not in line
            ):
                continue
            template = hash(line.translate(None, DIGITS))
            times = self._templates.get(template, 0)
            most = ALIKE if len(line) >= SHORT else ALIKE_SHORT
            if times >= most and template not in self._telling:
                continue
            self._templates[template] = times + 1
            kept.append((number, line))
        if len(self._templates) > MOST_TEMPLATES:
            self._templates.clear()
        return kept

    def _carry(self, text: Squeezed) -> None:
        """Keep the last lines, so that what is wrapped over two blocks is still found."""
        numbers, tail = text.numbers[-CARRIED_LINES:], text.lines[-CARRIED_LINES:]
        self._carried = (numbers, [line[-CARRIED_BYTES:] for line in tail])

    def _match(self, index: int, entry: Entry, signature: Signature, text: Squeezed) -> None:
        if self._counts[index] >= MOST_PER_SIGNATURE:
            where = text.squeezed.rfind(signature.needle)
            self._keep(index, self._finding(entry, signature, text, where))
            return
        where = text.squeezed.find(signature.needle)
        tries = 0
        while where >= 0 and tries < MOST_PER_SIGNATURE * 4:
            tries += 1
            self._keep(index, self._finding(entry, signature, text, where))
            where = text.squeezed.find(signature.needle, where + 1)

    def _keep(self, index: int, finding: Finding | None) -> None:
        if finding is None or (finding.id, finding.line) in self._seen:
            return
        self._seen.add((finding.id, finding.line))
        self._counts[index] += 1
        self.found.append(finding)

    def _finding(
        self, entry: Entry, signature: Signature, text: Squeezed, where: int
    ) -> Finding | None:
        line = text.line_at(where)
        begin, end = text.start(line), where + len(signature.needle)
        values: dict[str, str] = {}
        if signature.pattern:
            compiled = _compiled(signature.pattern)
            match = compiled.search(text.squeezed, begin, where + AHEAD)
            match = match or compiled.search(text.squeezed, max(0, where - BEHIND), where + AHEAD)
            if not match:
                return None
            begin, end = min(where, match.start()), max(end, match.end())
            values = _values(signature.pattern, match, text.evidence(begin, end))
        first, last = text.logical(text.line_at(begin)), text.ending(text.line_at(end - 1))
        statement = text.squeezed[text.start(first) : text.start(last + 1)]
        if signature.unless and _compiled(signature.unless).search(statement):
            return None
        wide = text.squeezed[max(0, where - signature.within) : where + signature.within]
        if not all(solid(near) in wide for near in signature.near):
            return None
        if any(solid(near) in wide for near in signature.not_near):
            return None
        if signature.where and not comparing.holds(signature.where, values):
            return None
        kind = signature.kind or entry.kind
        if signature.phase or kind == "consequence":
            told = text.lines[first : last + 1]
            self._telling |= {hash(one.translate(None, DIGITS)) for one in told}
        parts = lines.split(shown(text.lines[first][:2000]))
        return Finding(
            id=entry.id,
            kind=kind,
            line=text.numbers[line],
            evidence=text.evidence(begin, end),
            process=parts.process,
            bare=not (parts.dated or parts.level in ("INFO", "WARNING")),
            phase=signature.phase,
            values=values,
        )

    def _find_codes(self, text: Squeezed) -> None:
        for code in codes.find(text.squeezed):
            if self._code_counts.get(code.name, 0) >= 8:
                continue
            line = text.line_at(code.offset)
            known = (f"code.{code.name}", text.numbers[line])
            if known in self._seen:
                continue
            self._seen.add(known)
            self._code_counts[code.name] = self._code_counts.get(code.name, 0) + 1
            parts = lines.split(shown(text.lines[line][:2000]))
            if parts.level in ("INFO", "WARNING", "DEBUG"):
                continue
            evidence = text.evidence(code.offset, code.offset + len(code.name))
            self.found.append(
                Finding(known[0], "fault", known[1], evidence, parts.process, not parts.dated)
            )
