"""One start of a deployment: how far it comes, and how it ends. Nothing of it runs afterwards.

Starts through `server.start`, as a lab does; decides nothing about causes.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import psutil
import requests

from helpers import environment, server
from helpers.engines import Engine
from helpers.faults import logfile
from helpers.faults.deployment import Deployment
from helpers.server import Server, process

PATIENCE = 600.0
POLL_SECONDS = 0.2


@dataclass(frozen=True)
class Outcome:
    """How a start went.

    Attributes:
        log: of this start.
        command: as it could be typed.
        state: "dead" (it ended by itself), "past" (it came past the line that was waited for),
            "ready" (it served).
        ended: exit code or signal of its process, or "?"; of a dead one.
        answered: HTTP status of the request that followed a start, or None.
        seconds: from the start to that.
    """

    log: Path
    command: str
    state: str
    ended: str = "?"
    answered: int | None = None
    seconds: float = 0.0


@contextmanager
def variables(wanted: Mapping[str, str]) -> Iterator[None]:
    """Set variables in this kernel while the context lasts."""
    before = {name: os.environ.get(name) for name in wanted}
    environment.set(**wanted)
    try:
        yield
    finally:
        environment.set(**before)


@contextmanager
def occupied(host: str, port: int) -> Iterator[None]:
    """Listen on a port while the context lasts, as any other program might."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as stranger:
        stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        stranger.bind((host, port))
        stranger.listen()
        yield


def begin(deployment: Deployment, engine: Engine) -> Server:
    """Return a server that was just started with the deployment's variables.

    Raises:
        LabError: as `server.start`.
    """
    with variables(deployment.variables):
        started = server.start(engine, deployment.model, deployment.options)
    assert isinstance(started, Server)
    return started


def finish(
    started: Server,
    asked_name: str = "",
    past: str = "",
    kill: bool = False,
    stranger: bool = False,
) -> Outcome:
    """Return how a server that was just started went on; it has ended when this returns.

    Args:
        asked_name: `model` of the request that follows a start; "" sends none.
        past: regular expression of a log line that is enough.
        kill: True kills the engine's process once it serves.
        stranger: True listens on its port before it does.
    """
    begun = time.monotonic()
    answered = None
    try:
        taken = occupied(started.options.host, started.port) if stranger else nullcontext()
        with taken:
            state = _watch(started, past)
        if state == "ready" and asked_name:
            answered = ask(started, asked_name)
        if state == "ready" and kill:
            kill_engine(started)
            state = _end(started)
        ended = started.ended() if state == "dead" else "?"
    finally:
        started.stop()
    seconds = time.monotonic() - begun
    return Outcome(started.log_file, started.command, state, ended, answered, seconds)


def _watch(started: Server, past: str = "") -> str:
    """Return "dead", "past" or "ready", whichever comes first."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if started.status == "dead":
            return "dead"
        if past and logfile.matching(logfile.lines(started.log_file), past, limit=1):
            return "past"
        if started.is_ready:
            return "ready"
        time.sleep(POLL_SECONDS)
    return "starting"


def _end(started: Server) -> str:
    """Return "dead" once the process has ended, without a request that its log would hold."""
    deadline = time.monotonic() + PATIENCE
    while process.is_running(started.pid) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    return started.status


def ask(started: Server, name: str) -> int:
    """Return the HTTP status of a short request for a model name; 0 where nothing answers."""
    turns = [{"role": "user", "content": "1"}]
    body = {"model": name, "messages": turns, "max_tokens": 1, "temperature": 0}
    url = f"{started.base_url}/v1/chat/completions"
    try:
        reply = started.session.post(url, json=body, headers=started.headers(), timeout=60)
    except requests.RequestException:
        return 0
    return reply.status_code


def kill_engine(started: Server) -> None:
    """Kill the process of a server that computes, as the system does when memory runs out."""
    for child in psutil.Process(started.pid).children(recursive=True):
        try:
            names = " ".join([child.name(), *child.cmdline()])
        except psutil.Error:
            continue
        if re.search(r"EngineCore", names):
            child.send_signal(signal.SIGKILL)
