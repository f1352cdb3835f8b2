"""Lines as one text without blanks, and the way back to the lines: what makes a wrapped line
searchable. Not for what is searched for: `findings` and `stages` know that.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate

from helpers.diagnose import lines
from helpers.diagnose.reading import BLANKS, shown

EVIDENCE_LINES, EVIDENCE_CHARACTERS = 4, 500
_NARROWEST, _WIDEST, _WORD, _WRAPS = 24, 250, 8, 20


class LineAt:
    """Finds the line that an offset of a squeezed text belongs to."""

    def __init__(self, lines: list[bytes], blanks: bytes) -> None:
        self._lines, self._blanks = lines, blanks
        self._ends: list[int] | None = None

    @property
    def ends(self) -> list[int]:
        """Return where each line ends in the squeezed text; made when first asked for."""
        if self._ends is None:
            solid = (line.translate(None, self._blanks) for line in self._lines)
            self._ends = list(accumulate(map(len, solid)))
        return self._ends

    def __call__(self, offset: int) -> int:
        """Return the index of the line."""
        return bisect_right(self.ends, offset)


@dataclass
class Squeezed:
    """Numbered lines and their text without blanks; `width`: where a terminal wrapped them or 0."""

    numbers: list[int]
    lines: list[bytes]
    width: int = 0

    def __post_init__(self) -> None:
        self.squeezed = b"".join(self.lines).translate(None, BLANKS)
        self.line_at = LineAt(self.lines, BLANKS)

    def start(self, index: int) -> int:
        """Return the offset at which a line begins."""
        return self.line_at.ends[index - 1] if index else 0

    def logical(self, index: int) -> int:
        """Return the index of the line that this one continues, where a terminal wrapped it."""
        for _ in range(_WRAPS):
            if not (self.width and index):
                break
            if not self._continues(index):
                break
            index -= 1
        return index

    def ending(self, index: int) -> int:
        """Return the index of the last line of a statement that a terminal wrapped."""
        for _ in range(_WRAPS):
            following = index + 1
            if following >= len(self.lines) or not self.width or not self._continues(following):
                break
            index = following
        return index

    def _continues(self, index: int) -> bool:
        if self.numbers[index] != self.numbers[index - 1] + 1:
            return False
        head = self.lines[index].split(b" ", 1)[0]
        full = len(self.lines[index - 1]) + 1 + len(head) > self.width
        return full and not lines.split(shown(self.lines[index][:300])).level

    def evidence(self, begin: int, end: int) -> tuple[tuple[int, str], ...]:
        """Return the numbered lines between two offsets, a few at most."""
        first = self.line_at(begin)
        last = min(self.line_at(max(begin, end - 1)), first + EVIDENCE_LINES - 1)
        chosen = range(first, min(last, len(self.lines) - 1) + 1)
        return tuple((self.numbers[i], _cut(shown(self.lines[i]))) for i in chosen)


def _cut(text: str) -> str:
    return text if len(text) <= EVIDENCE_CHARACTERS else text[:EVIDENCE_CHARACTERS] + " …"


def wrap_width(found: list[bytes]) -> int:
    """Return the width at which a terminal wrapped these lines, or 0 where none did.

    Wrapped text has many lines within a word of one length and hardly any above it.
    """
    counts = Counter(map(len, found))
    total = sum(count for length, count in counts.items() if length)
    if total < 8:
        return 0

    def near(width: int) -> int:
        return sum(counts[length] for length in range(width - _WORD, width + 1))

    width = max(
        (length for length in counts if _NARROWEST <= length <= _WIDEST), key=near, default=0
    )
    above = sum(count for length, count in counts.items() if length > width)
    return width if near(width) > total * 0.2 and above < total * 0.2 else 0
