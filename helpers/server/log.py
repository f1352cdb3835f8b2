"""A server's log file: its tail, and the stage that the start has reached. Reads; the meaning of
errors is `diagnose`'s.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

from helpers import paths

TAIL_BYTES = 256 * 1024
FOLLOW_SECONDS = 0.2
_RAISED = re.compile(r"[\w.]*(Error|Exception)(: |$)")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

# Texts of vLLM 0.18-0.32, in the order of a start; the last one seen is where the start stands.
# Source: tests/fixtures/vllm_cli/*.json, "messages", and the recorded logs; Application startup
# complete is uvicorn's.
STAGES = (
    ("plugin", re.compile(r"Platform plugin \S+ is activated")),
    ("config", re.compile(r"non-default args|Resolved architecture|Initializing a V1 LLM engine")),
    ("weights", re.compile(r"Starting to load model|Loading safetensors|Loading weights took")),
    (
        "kv_cache",
        re.compile(r"KV cache size|Maximum concurrency|Available KV cache memory|# GPU blocks"),
    ),
    ("graph", re.compile(r"Capturing CUDA graphs|Graph capturing finished|torch\.compile takes")),
    ("serving", re.compile(r"Application startup complete")),
)


def tail(path: Path, lines: int = 20) -> str:
    """Return the last lines of a log, colours and overwritten progress bars removed, paths
    shortened.

    Reads at most 256 KiB from the end, however large the file has become.

    Args:
        lines: how many; a progress bar that was redrawn counts as its last state.
    """
    text = _end_of(path).decode("utf-8", errors="replace")
    clean = [
        _ANSI.sub("", line).rstrip().rsplit("\r", 1)[-1]
        for line in text.replace("\r\n", "\n").split("\n")
    ]
    return paths.shown("\n".join([line for line in clean if line][-lines:]))


def follow(path: Path, lines: int = 20) -> Iterator[str]:
    """Yield the last lines of a log, then what is added to it as it comes, without end.

    Reads the file and never touches the server: whoever reads may stop at any time.
    """
    yield tail(path, lines) + "\n"
    offset = path.stat().st_size
    while True:
        with path.open("rb") as file:
            file.seek(offset)
            new = file.read(TAIL_BYTES)
        offset += len(new)
        if new:
            yield paths.shown(_ANSI.sub("", new.decode("utf-8", errors="replace")))
        else:
            time.sleep(FOLLOW_SECONDS)


def newest(folder: Path) -> Path | None:
    """Return the log that was begun last, or None; names begin with the time."""
    return max(folder.glob("*.log"), default=None)


def last_error(text: str) -> str | None:
    """Return the last line that ends a traceback, or None; one that points to another is taken only
    where there is no other.

    vLLM's API server ends with "… See root cause above": another process said what that was, unless
    it was killed.
    """
    lines = [without_prefix(line).removeprefix("ERROR ") for line in reversed(text.splitlines())]
    raised = [line for line in lines if _RAISED.match(line)]
    return next((line for line in raised if "See " not in line), raised[0] if raised else None)


def _end_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - TAIL_BYTES))
            return file.read(TAIL_BYTES)
    except OSError:
        return b""


def find(path: Path, pattern: str, limit: int = 5) -> list[str]:
    """Return the first lines that contain a regular expression, without the process prefix and the
    time stamp.

    Args:
        pattern: regular expression, for instance r"Platform plugin".
        limit: lines at most.
    """
    wanted = re.compile(pattern)
    found: list[str] = []
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                if wanted.search(_ANSI.sub("", line)):
                    found.append(paths.shown(without_prefix(line)))
                    if len(found) == limit:
                        break
    except OSError:
        return []
    return found


def without_prefix(line: str) -> str:
    """Return a log line without "(APIServer pid=1)", the date and the source line: what is the
    same in every run.
    """
    return re.sub(
        r"^([A-Z]+) \d\d-\d\d \d\d:\d\d:\d\d \[[^\]]*\]\s?",
        r"\1 ",
        re.sub(r"^\([^()]* pid=\d+\)\s*", "", _ANSI.sub("", line)),
    ).strip()


class StageReader:
    """Follows a growing log and tells the stage of the start; reads only what is new, a bounded
    piece at a time.

    Attributes:
        stage: the one reached.
        reached: stage → seconds since this reader began, in the order in which they were seen.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._rest = b""
        self._begun = time.monotonic()
        self.stage = "start"
        self.reached: dict[str, float] = {}

    def read(self) -> str:
        """Return the stage reached: start, plugin, config, weights, kv_cache, graph or serving."""
        try:
            with self._path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                self._offset = max(self._offset, size - TAIL_BYTES)
                file.seek(self._offset)
                new = file.read(TAIL_BYTES)
        except OSError:
            return self.stage
        self._offset += len(new)
        text = (self._rest + new).decode("utf-8", errors="replace")
        self._rest = new[-200:]
        order = ["start", *(name for name, _ in STAGES)]
        for name, pattern in STAGES:
            if order.index(name) > order.index(self.stage) and pattern.search(text):
                self.stage = name
                self.reached[name] = time.monotonic() - self._begun
        return self.stage

    def settle(self, seconds: float) -> str:
        """Return the stage after reading on until it is the last one, at most so many seconds."""
        deadline = time.monotonic() + seconds
        while self.read() != STAGES[-1][0] and time.monotonic() < deadline:
            time.sleep(0.01)
        return self.stage
