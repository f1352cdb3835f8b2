"""How far a transfer is and how fast: bytes, rate over the last seconds, time left, as one line."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from helpers import messages
from helpers.download.record import amount

WINDOW = 10.0
"""Seconds that the rate is taken over: long enough to be calm, short enough to be true."""

BAR = 20
"""Characters of the bar."""


class Meter:
    """The bytes of one transfer as time passes."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.have = 0
        self._past: deque[tuple[float, int]] = deque()

    def put(self, have: int) -> None:
        """Take in how many bytes are there now."""
        now = time.monotonic()
        self.have = have
        self._past.append((now, have))
        while now - self._past[0][0] > WINDOW:
            self._past.popleft()

    @property
    def rate(self) -> float:
        """Return bytes a second over the last seconds, 0 before there are two measurements."""
        if len(self._past) < 2:
            return 0.0
        (begin, first), (end, last) = self._past[0], self._past[-1]
        return max(0.0, (last - first) / (end - begin)) if end > begin else 0.0

    def left(self) -> str:
        """Return the time left for people, or "–" where nothing moves."""
        if not self.rate:
            return "–"
        seconds = round((self.total - self.have) / self.rate)
        minutes, rest = divmod(max(0, seconds), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"

    def line(self, code: str) -> str:
        """Return the state as one line.

        Args:
            code: the message to fill in, "download.progress" or "download.verifying".
        """
        share = self.have / self.total if self.total else 1.0
        full = int(BAR * min(1.0, share))
        return messages.text(
            code,
            bar="█" * full + "░" * (BAR - full),
            percent=f"{100 * share:.0f}",
            have=amount(self.have),
            total=amount(self.total),
            rate=amount(self.rate),
            left=self.left(),
        )


def reading(total: int, show: Callable[[str], None]) -> Callable[[int], None]:
    """Return what takes the bytes read so far and shows them as one line of a verification.

    Args:
        total: bytes to read.
        show: shows a line.
    """
    meter = Meter(total)

    def put(have: int) -> None:
        meter.put(have)
        show(meter.line("download.verifying"))

    return put
