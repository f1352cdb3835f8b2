"""What of a log goes into a bundle: its head, its end, and what stands around the evidence; masked.

Lines keep their numbers, so that "line 4711" means the same to whoever reads the excerpt.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from helpers.diagnose.reading import SAMPLE_BYTES, encoding_of
from helpers.masking import Mask

HEAD, TAIL, AROUND = 400, 800, 20
MARGIN = 3
"""Lines that are masked with a part and then left out: a secret may be cut by the part's end."""

LONGEST, SHOWN = 1 << 16, 4000
"""Characters of a line that are read, and that are shown."""


@dataclass(frozen=True)
class Excerpt:
    """Parts of a log.

    Attributes:
        name: of the file. total: its lines.
        lines: number → text of those that are in it.
    """

    name: str
    total: int
    lines: dict[int, str]

    def text(self) -> str:
        """Return the parts as one text; where lines are left out it says so."""
        out, last = [], 0
        for number, line in self.lines.items():
            if number != last + 1:
                out.append(f"… lines {last + 1}-{number - 1} of {self.total} left out …")
            out.append(line)
            last = number
        return "\n".join([*out, ""])

    def end(self, count: int) -> list[str]:
        """Return the last lines."""
        return list(self.lines.values())[-count:]

    def around(self, number: int, before: int, after: int) -> list[str]:
        """Return a line and its neighbours."""
        wanted = range(number - before, number + after + 1)
        return [self.lines[n] for n in wanted if n in self.lines]


def read(path: Path, evidence: Iterable[int]) -> list[tuple[int, str]]:
    """Return the numbered lines of a log that an excerpt needs, margins included, unmasked.

    Args:
        evidence: numbers of lines that matter.
    Raises:
        OSError: the file cannot be read.
    """
    around = {n + d for n in evidence for d in range(-AROUND - MARGIN, AROUND + MARGIN + 1)}
    kept: list[tuple[int, str]] = []
    end: deque[tuple[int, str]] = deque(maxlen=TAIL + MARGIN)
    for number, line in enumerate(_lines(path), 1):
        end.append((number, line))
        if number <= HEAD + MARGIN or number in around:
            kept.append((number, line))
    return sorted({*kept, *end})


def _lines(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        encoding = encoding_of(file.read(SAMPLE_BYTES)) or "utf-8"
    with path.open(encoding=encoding, errors="replace", newline="\n") as file:
        while line := file.readline(LONGEST):
            if not line.endswith("\n") and len(line) == LONGEST:
                line = re.sub(r"\S*$", "", line)  # half a word may be half a secret
                while (rest := file.readline(LONGEST)) and not rest.endswith("\n"):
                    continue
            yield line.replace("\x00", "").rstrip("\r\n").replace("\r", " ")


def masked(
    name: str, read_lines: list[tuple[int, str]], evidence: Iterable[int], mask: Mask
) -> Excerpt:
    """Return the excerpt of the lines that `read` gave, without secrets and without margins."""
    total = read_lines[-1][0] if read_lines else 0
    shown = {n + d for n in evidence for d in range(-AROUND, AROUND + 1)}
    lines: dict[int, str] = {}
    for part in _parts(read_lines):
        texts = mask.of("\n".join(text for _, text in part)).split("\n")
        for (number, _), text in zip(part, texts, strict=True):
            if number <= HEAD or number > total - TAIL or number in shown:
                lines[number] = text if len(text) <= SHOWN else f"{text[:SHOWN]} …"
    return Excerpt(name, total, lines)


def _parts(lines: list[tuple[int, str]]) -> list[list[tuple[int, str]]]:
    """Return runs of consecutive lines."""
    parts: list[list[tuple[int, str]]] = []
    for one in lines:
        if parts and parts[-1][-1][0] + 1 == one[0]:
            parts[-1].append(one)
        else:
            parts.append([one])
    return parts
