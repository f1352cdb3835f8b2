"""What the tests of `diagnose` share: the fixtures, a healthy log of any length, ways to disturb a log."""

from __future__ import annotations

import gzip
import random
import re
import textwrap
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import yaml

from helpers.diagnose.knowledge import entries

LOGS = Path(__file__).parent.parent / "fixtures" / "logs"
CASES: dict[str, str] = {
    case["id"]: case["log"].rstrip("\n")
    for case in yaml.safe_load((LOGS / "cases.yml").read_text("utf-8"))
}
HEALTHY = sorted((LOGS / "healthy").glob("*.gz"))
FAULTS = sorted((LOGS / "faults").glob("*.gz"))


def entry_of(case: str) -> str:
    """Return the entry that covers a shared case."""
    return next(entry.id for entry in entries().values() if case in entry.covers)


def unpacked(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode("utf-8")


@lru_cache(maxsize=4)
def healthy_lines(count: int) -> tuple[str, ...]:
    """Return so many lines of real server logs that nobody's deliberate bad request disturbed."""
    texts = [unpacked(path) for path in HEALTHY if path.name.startswith("server")]
    calm = [t for t in texts if "does not exist" not in t and "Unknown vLLM" not in t]
    lines = [line for text in calm for line in text.split("\n")]
    return tuple((lines * (count // len(lines) + 1))[:count])


def embedded(log: str, place: int, count: int = 5000) -> str:
    """Return a healthy log of `count` lines with a case in it after `place` lines."""
    around = healthy_lines(count)
    return "\n".join([*around[:place], *log.split("\n"), *around[place:]])


def _wrapped(log: str, width: int) -> str:
    pieces = [
        [line[i : i + width] for i in range(0, len(line), width)] or [""]
        for line in log.split("\n")
    ]
    return "\n".join(piece for parts in pieces for piece in parts)


def _folded(log: str, width: int) -> str:
    return "\n".join("\n".join(textwrap.wrap(line, width) or [""]) for line in log.split("\n"))


def _coloured(log: str) -> str:
    bright = [re.sub(r"(\w+)", "\x1b[1;31m\\1\x1b[0m", line, count=4) for line in log.split("\n")]
    return "\n".join(f"\x1b[0;36m{line}\x1b[0m" for line in bright)


def _renumbered(log: str) -> str:
    chance = random.Random(log)
    log = re.sub(r"(pid=|PID:? ?)[\d…]+", lambda m: f"{m[1]}{chance.randint(2, 10**6)}", log)
    return re.sub(
        r"\d\d-\d\d \d\d:\d\d:\d\d",
        lambda _: "{:02d}-{:02d} {:02d}:{:02d}:{:02d}".format(
            *(chance.randint(1, 12) for _ in range(5))
        ),
        log,
    )


def _prefixed(prefix: str) -> Callable[[str], str]:
    return lambda log: "\n".join(prefix + line for line in log.split("\n"))


DISTURBED: dict[str, Callable[[str], str]] = {
    "wrapped at 100": lambda log: _wrapped(log, 100),
    "wrapped at 72": lambda log: _wrapped(log, 72),
    "wrapped at 40": lambda log: _wrapped(log, 40),
    "folded at 60": lambda log: _folded(log, 60),
    "coloured": _coloured,
    "coloured and wrapped": lambda log: _wrapped(_coloured(log), 80),
    "other pids and times": _renumbered,
    "Windows line ends": lambda log: log.replace("\n", "\r\n"),
    "container time stamps": _prefixed("2026-07-22T04:05:08.123456789Z "),
    "Docker Compose names": _prefixed("vllm-server-1  | "),
}
