"""What helpers costs a notebook beside the plain libraries: its first imports, a request, and
reading a log that is being flooded. On a process double, so that only our own time is seen.
"""

from __future__ import annotations

import ast
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

import requests
from light.light_engine import LightEngine, light_model, light_options

from benchmarks.measured import Figure, at_most, interleaved
from helpers import chat, paths, server
from helpers.errors import ServerGone
from helpers.server import Server


def first_imports() -> str:
    """Return the helpers' import statements of lab 02's first cell that has any."""
    text = (paths.COURSE / "zh" / "02_minicpm5.md").read_text(encoding="utf-8")
    cells = re.findall(r"```\{code-cell\}[^\n]*\n(.*?)```", text, flags=re.DOTALL)
    cell = next(cell for cell in cells if "engines.select" in cell)
    nodes = ast.parse(cell).body
    found = [n for n in nodes if isinstance(n, ast.ImportFrom) and n.module == "helpers"]
    return "\n".join(ast.unparse(node) for node in found)


def _seconds(code: str) -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, cwd=paths.ROOT)
    return time.perf_counter() - begun


def imports() -> Figure:
    """Return the time of the first import cell as a multiple of `import requests`."""
    cell = first_imports()
    ours, plain = interleaved(15, lambda: _seconds(cell), lambda: _seconds("import requests"))
    return at_most(
        "first import cell of lab 02 / import requests", median(ours) / median(plain), 2.5, "x"
    )


def _server(folder: Path, *flags: str) -> Server:
    one = server.start(LightEngine(flags), light_model(folder / "model"), light_options(0))
    assert isinstance(one, Server)
    one.wait_ready(30)
    return one


def overhead(folder: Path) -> Figure:
    """Return what `chat.ask` adds to a bare POST of the same body."""
    one = _server(folder)
    body = chat.request("?", "Light", None, None, max_tokens=8)
    session = requests.Session()
    session.trust_env = False

    def bare() -> float:
        begun = time.perf_counter()
        session.post(f"{one.base_url}/v1/chat/completions", json=body, timeout=10).json()
        return time.perf_counter() - begun

    def ours() -> float:
        begun = time.perf_counter()
        chat.ask("?", max_tokens=8, server=one)
        return time.perf_counter() - begun

    asked, plain = interleaved(300, ours, bare)
    one.stop()
    added = (median(asked) - median(plain)) * 1000
    return at_most("chat.ask - bare requests", added, 5.0, "ms")


def death(folder: Path) -> Figure:
    """Return the longest of ten times from a server's death to the error of the request that it was
    answering.
    """
    seconds = []
    for _ in range(10):
        one = _server(folder, "--answer-after", "60")
        died: list[float] = []

        def kill(one: Server = one, died: list[float] = died) -> None:
            died.append(time.monotonic())
            os.killpg(one.pid, signal.SIGKILL)

        threading.Timer(0.2, kill).start()
        try:
            chat.ask("?", server=one)
        except ServerGone:
            seconds.append(time.monotonic() - died[0])
        one.stop()
    return at_most(
        "process death while answering to the error, longest of 10", max(seconds), 1.0, "s"
    )


def flood(folder: Path) -> list[Figure]:
    """Return how long `tail` and a look at a ready server take while 10 000 lines a second are
    logged.
    """
    one = _server(folder, "--flood", "10000")
    tails, waits = [], []
    for _ in range(20):
        begun = time.monotonic()
        one.tail(20)
        tails.append(time.monotonic() - begun)
        begun = time.monotonic()
        one.wait_ready(10)
        waits.append(time.monotonic() - begun)
    one.stop()
    return [
        at_most("tail while 10 000 lines a second are logged, longest of 20", max(tails), 1.0, "s"),
        at_most("wait_ready of a ready server meanwhile, longest of 20", max(waits), 1.0, "s"),
    ]


def measure() -> list[Figure]:
    """Return all figures of this file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["LAB_STATE_DIR"] = str(folder / "state")
        return [imports(), overhead(folder), death(folder), *flood(folder)]
