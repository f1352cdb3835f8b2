"""Where a start stands: the marks that vLLM leaves in its log, and the phase at any line.

Texts of vLLM 0.7 to 0.32 and of uvicorn. Source: the recorded logs and real runs on the CPU engine.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from helpers.diagnose.reading import Block, shown
from helpers.diagnose.squeezed import LineAt

Phase = Literal["start", "loading", "serving", "shutdown", "finished"]

# step, phase, text; the last one seen is where the run stands.
MARKS: tuple[tuple[str, Phase, str], ...] = (
    ("plugin", "loading", "Available plugins for group"),
    ("plugin", "loading", "Automatically detected platform"),
    ("plugin", "loading", "is activated"),
    ("config", "loading", "non-default args"),
    ("config", "loading", "Resolved architecture"),
    ("config", "loading", "LLM engine (v"),
    ("weights", "loading", "Starting to load model"),
    ("weights", "loading", "Loading safetensors checkpoint shards"),
    ("weights", "loading", "Loading weights took"),
    ("weights", "loading", "Loading model weights took"),
    ("kv_cache", "loading", "Available KV cache memory"),
    ("kv_cache", "loading", "KV cache size"),
    ("kv_cache", "loading", "# CPU blocks"),
    ("kv_cache", "loading", ", total memory: "),
    ("graph", "loading", "Capturing CUDA graph"),
    ("graph", "loading", "Capturing ACL graph"),
    ("graph", "loading", "Graph capturing finished"),
    ("graph", "loading", "torch.compile take"),
    ("ready", "loading", "init engine (profile"),
    ("ready", "loading", "Starting vLLM"),
    ("ready", "loading", "Waiting for application startup"),
    ("serving", "serving", "Application startup complete"),
    ("serving", "serving", "Avg prompt throughput"),
    ("serving", "serving", 'HTTP/1.1" '),
    ("serving", "serving", "Received request c"),
    ("shutdown", "shutdown", "API server: shutdown triggered"),
    ("shutdown", "shutdown", "trigger received signal"),
    ("shutdown", "shutdown", "INFO: Shutting down"),
    ("shutdown", "shutdown", "Shutdown initiated"),
    ("shutdown", "shutdown", "Shutdown complete"),
    ("shutdown", "shutdown", "application shutdown"),
    ("shutdown", "shutdown", "Application shutdown complete"),
    ("finished", "finished", "Processed prompts: 100%"),
    ("finished", "finished", "Generated text"),
    ("finished", "finished", "Replaying aclgraph"),
    ("finished", "finished", "Detected the chat template"),
)
SERVER = (
    *("APIServer", "API server", "Application startup", "Application shutdown"),
    *("Started server process", "Starting vLLM", "Available routes are", 'HTTP/1.1" '),
    "Shutting down",
)
FEW, MANY, JUST = 50, 20_000, 60
_OFTEN = {
    order
    for order, (_, _, text) in enumerate(MARKS)
    if text in ('HTTP/1.1" ', "Avg prompt throughput", "Loading safetensors checkpoint shards")
}
_GENERATING = next(i for i, (_, _, text) in enumerate(MARKS) if text == "Replaying aclgraph")


@dataclass(frozen=True)
class Mark:
    """A line that tells where the run stands; `text` is kept for the log's last one only."""

    line: int
    step: str
    phase: Phase
    text: str = ""


class Stages:
    """Collects the marks of a log, block by block."""

    def __init__(self) -> None:
        self._needles = [text.replace(" ", "").encode() for _, _, text in MARKS]
        self._server = [text.replace(" ", "").encode() for text in SERVER]
        self._seen = [0] * len(MARKS)
        self._found: list[tuple[int, int]] = []
        self._last: tuple[int, int, str] = (0, 0, "")
        self.server = False

    def add(self, block: Block, text: bytes, line_at: LineAt) -> None:
        """Take in a block.

        Args:
            text: the block, squeezed.
            line_at: index of the block's line at an offset of that text.
        """
        self.server = self.server or any(needle in text for needle in self._server)
        last = (-1, 0)
        for order, needle in enumerate(self._needles):
            for where in self._places(order, needle, text):
                index = line_at(where)
                self._found.append((block.first + index, order))
                last = max(last, (index, order))
        if last[0] >= 0:
            said = shown(block.lines[last[0]])[:400]
            self._last = max(self._last, (block.first + last[0], last[1], said))

    def _places(self, order: int, needle: bytes, text: bytes) -> Iterator[int]:
        """Return where a mark stands: everywhere, of one that has come often first and last."""
        where = text.find(needle)
        if where < 0:
            return
        final = text.rfind(needle)
        while 0 <= where < final and self._seen[order] < (FEW if order in _OFTEN else MANY):
            self._seen[order] += 1
            yield where
            where = text.find(needle, where + 1)
        if 0 <= where < final:
            yield where
        yield final

    def end(self) -> None:
        """Bring the marks in order; what a server does while it serves is no end."""
        self._marks = sorted(m for m in self._found if not self.server or m[1] < _GENERATING)
        self._lines = [line for line, _ in self._marks]

    def at(self, line: int | None = None) -> Mark | None:
        """Return the last mark up to a line (None: of the whole log), or None before the first."""
        index = len(self._marks) if line is None else bisect_right(self._lines, line)
        if not index:
            return None
        number, order = self._marks[index - 1]
        step, phase, _ = MARKS[order]
        return Mark(number, step, phase, self._last[2] if number == self._last[0] else "")

    def is_in(self, phases: tuple[Phase, ...], line: int) -> bool:
        """Return whether a line belongs to one of these phases: the run is there, or was just
        before it (several servers may write to one log).
        """
        if self.phase(line) in phases:
            return True
        first, last = (bisect_right(self._lines, at) for at in (line - JUST, line))
        return any(MARKS[order][1] in phases for _, order in self._marks[first:last])

    def phase(self, line: int | None = None) -> Phase:
        """Return the phase at a line; None asks for the end of the log."""
        mark = self.at(line)
        if mark is None:
            return "start"
        if mark.phase == "shutdown" and not self.server:
            return "finished"
        return mark.phase
