"""How long the doctor takes on this machine: the command as a learner types it, and inside a kernel.

Run by `make bench`, like every bench_*.py here.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time

from benchmarks.measured import Figure, at_most

RUNS = 5
LIMIT = 2.0
"""Seconds beside the outside tools, which are given 5 s each, side by side."""

HEAVY = ("torch", "torch_npu", "vllm", "transformers")

_INSIDE = """
import json, sys, time
from helpers import doctor
seconds = []
for _ in range(int(sys.argv[1])):
    began = time.perf_counter()
    doctor.examine()
    seconds.append(time.perf_counter() - began)
heavy = [name for name in sys.argv[2:] if name in sys.modules]
print(json.dumps({"seconds": seconds, "heavy": heavy}))
"""


def measure() -> list[Figure]:
    """Return rows {name, value, unit, limit, ok}: medians of seconds, and the heavy modules that
    were imported, of which there must be none.
    """
    told = subprocess.run(
        [sys.executable, "-c", _INSIDE, str(RUNS), *HEAVY],
        capture_output=True,
        text=True,
        check=True,
    )
    inside = json.loads(told.stdout.strip().splitlines()[-1])
    command = [_command() for _ in range(RUNS)]
    return [
        at_most("doctor.command", statistics.median(command), LIMIT, "s"),
        at_most("doctor.examine", statistics.median(inside["seconds"]), LIMIT, "s"),
        at_most("doctor.heavy_imports", len(inside["heavy"]), 0, "modules"),
    ]


def _command() -> float:
    """Return the seconds of `python -m helpers doctor --json`."""
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "helpers", "doctor", "--json"], capture_output=True, check=False
    )
    return time.perf_counter() - began
