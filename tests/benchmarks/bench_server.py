"""A server's start, adoption and death through helpers.server, beside a bare `vllm serve`."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import requests

from benchmarks.measured import Figure, at_most, interleaved
from helpers import catalog, engines, environment, models, server
from helpers.errors import LabError
from helpers.server import Server, process

LAB = "02_minicpm5"
PAIRS = 5
POLL = 0.05


class Bench:
    """The lab's own engine, model and options, and the two ways to start them."""

    def __init__(self) -> None:
        self.engine = engines.Cpu()
        self.model = models.find(LAB, "cpu")
        self.options = catalog.options(LAB, "cpu", served_model_name=self.model.name, port=0)
        self.delays: list[float] = []
        self.adoptions: list[float] = []

    def bare(self) -> float:
        """Return seconds from starting `vllm serve` to its first healthy answer."""
        port = process.free_port("127.0.0.1")
        options = self.options.with_values(port=port)
        assert self.model.path is not None
        argv = self.engine.command(self.model.path, options)
        env = environment.child(self.engine.environment(options))
        with tempfile.TemporaryFile() as log:
            begun = time.monotonic()
            typed = subprocess.Popen(argv, env=env, stdout=log, stderr=log, start_new_session=True)
            _until_healthy(f"http://127.0.0.1:{port}")
            seconds = time.monotonic() - begun
            leader = process.Identity(typed.pid, typed.pid, process.start_ticks(typed.pid) or 0)
            assert process.end(leader, typed) == []
        return seconds

    def ours(self) -> float:
        """Return seconds from `server.start` to the return of `wait_ready`; keeps by how much that
        was after the first healthy answer, and how long another kernel needs to adopt it.
        """
        begun = time.monotonic()
        one = self._started()
        healthy: list[float] = []
        watch = threading.Thread(
            target=lambda: healthy.append(_until_healthy(one.base_url, pause=0.01))
        )
        watch.start()
        one.wait_ready(300)
        returned = time.monotonic()
        watch.join()
        self.delays.append(max(0.0, returned - healthy[0]))
        self.adoptions.append(self._adopted())
        assert one.stop().ok
        return returned - begun

    def _started(self) -> Server:
        one = server.start(self.engine, self.model, self.options)
        assert isinstance(one, Server)
        return one

    def _adopted(self) -> float:
        """Return the seconds that a kernel needs that knows nothing yet, its engine's versions
        included.
        """
        begun = time.monotonic()
        other = server.start(engines.Cpu(), self.model, self.options)
        assert isinstance(other, Server)
        assert other.adopted
        assert other.is_ready
        return time.monotonic() - begun

    def death(self) -> float:
        """Return the seconds from killing a server that loads to the error."""
        one = self._started()
        died: list[float] = []

        def kill() -> None:
            time.sleep(3.0)
            died.append(time.monotonic())
            os.killpg(one.pid, signal.SIGKILL)

        seconds = _to_error(kill, lambda: one.wait_ready(300), died)
        one.stop()
        return seconds


def _to_error(kill: Callable[[], None], wait: Callable[[], object], died: list[float]) -> float:
    thread = threading.Thread(target=kill)
    thread.start()
    try:
        wait()
    except LabError:
        seconds = time.monotonic() - died[0]
    else:
        raise AssertionError("it was killed and nobody noticed")
    thread.join()
    return seconds


def _until_healthy(url: str, pause: float = POLL) -> float:
    """Return the moment (monotonic clock) of the first healthy answer."""
    session = requests.Session()
    session.trust_env = False
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        try:
            if session.get(f"{url}/health", timeout=1).status_code == 200:
                return time.monotonic()
        except requests.RequestException:
            pass
        time.sleep(pause)
    raise TimeoutError(url)


def measure() -> list[Figure]:
    """Return the figures: starts in interleaved pairs, the delays, adoptions and a death."""
    bench = Bench()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LAB_STATE_DIR"] = str(Path(folder) / "state")
        bare, ours = interleaved(PAIRS, bench.bare, bench.ours)
        death = bench.death()
    difference = median(o - b for o, b in zip(ours, bare, strict=True))
    return [
        at_most("ready, helpers.server - bare vllm serve", difference, 1.0, "s"),
        at_most("first healthy answer to wait_ready's return", max(bench.delays), 0.3, "s"),
        at_most("process death while loading to the error", death, 1.0, "s"),
        at_most("adoption by a new kernel", max(bench.adoptions), 1.0, "s"),
    ]
