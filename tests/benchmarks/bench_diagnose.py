"""The log reader on 100 MB of interleaved vLLM log: its time beside a bare Python loop over the same
file's lines, and the memory of a process that does nothing else.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tempfile
import time
from itertools import cycle
from pathlib import Path
from statistics import median

from benchmarks.measured import Figure, at_most, interleaved
from helpers import diagnose, paths

SIZE = 100_000_000
ROUNDS = 3
HEALTHY = paths.ROOT / "tests" / "fixtures" / "logs" / "healthy"
READ = (
    "import resource, sys; from helpers import diagnose; diagnose.read(sys.argv[1]);"
    "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
)


def write_log(path: Path) -> None:
    """Write the lines of real server logs, four of them at a time interleaved, with other pids each
    time round, until the file has its size.
    """
    texts = [gzip.decompress(p.read_bytes()) for p in sorted(HEALTHY.glob("server_*.gz"))]
    written = 0
    with path.open("wb") as file:
        for turn in cycle(range(len(texts))):
            four = [texts[(turn + i) % len(texts)].split(b"\n") for i in range(4)]
            lines = [line for group in zip(*four, strict=False) for line in group]
            written += file.write(b"\n".join(lines).replace(b"pid=1", b"pid=%d" % written))
            if written >= SIZE:
                return


def loop(path: Path) -> float:
    """Return the seconds of a bare loop over the lines."""
    begun = time.perf_counter()
    with path.open(encoding="utf-8", errors="replace") as file:
        for _ in file:
            pass
    return time.perf_counter() - begun


def read(path: Path) -> float:
    """Return the seconds of a diagnosis; the log is healthy, so nothing ends it early."""
    begun = time.perf_counter()
    found = diagnose.read(path)
    seconds = time.perf_counter() - begun
    assert found.verdict == "healthy", found.entry
    return seconds


def memory(path: Path) -> float:
    """Return the megabytes that a process needs at most for a diagnosis."""
    env = os.environ | {"PYTHONPATH": str(paths.ROOT)}
    command = [sys.executable, "-c", READ, str(path)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    return int(done.stdout) / 1024


def measure() -> list[Figure]:
    """Return the figures of build/bench.json."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "server.log"
        write_log(path)
        loops, reads = interleaved(ROUNDS, lambda: loop(path), lambda: read(path))
        ratio = median(r / b for r, b in zip(reads, loops, strict=True))
        return [
            at_most("diagnose 100 MB / bare loop over its lines", ratio, 40, "x"),
            at_most("diagnose 100 MB, memory", memory(path), 200, "MB"),
        ]
