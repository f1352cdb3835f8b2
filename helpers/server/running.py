"""A server that this course started: state, log, waiting while watching its process, and its end.

Made by `lifecycle.start`, which decides whether one may start at all.
"""

from __future__ import annotations

import shlex
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from helpers import environment, messages, paths, progress
from helpers.errors import NotOpenAI, ServerDied, ServerTimeout, Unreachable
from helpers.options import Options
from helpers.server import log as logs
from helpers.server import problems, process, state, stopping
from helpers.server.endpoint import LocalEndpoint, address
from helpers.tables import Table

POLL_SECONDS = 0.05
LOG_SECONDS = 0.2  # a server may answer a moment before its log says that it has started
ANSWER_SECONDS = 0.5  # a process that dies is told within a second, though it stopped in an answer


class Server(LocalEndpoint):
    """A server that this course started, here or in an earlier kernel.

    Attributes:
        options: what it was asked for.
        adopted: True where it was already running and was taken over.
        stages: how far its start has come, as its log tells.
        stopped: True once this kernel has stopped it.
    """

    def __init__(
        self,
        path: Path,
        found: state.State,
        options: Options,
        env: Mapping[str, str],
        child: subprocess.Popen[bytes] | None = None,
    ) -> None:
        super().__init__(
            address(found.host, found.port),
            found.served_model_name,
            found.stand_in,
            None if found.capabilities is None else frozenset(found.capabilities),
        )
        self.options = options
        self.adopted = child is None
        self._env = dict(env)
        self._path, self._found, self._child = path, found, child
        self._log = Path(found.log)
        self._begun = time.monotonic()
        self.stages = logs.StageReader(self._log)
        self.stopped = False

    @property
    def command(self) -> str:
        """Return the exact command line, as it could be typed in the checkout."""
        return paths.shown(shlex.join(self._found.argv))

    @property
    def env(self) -> Table:
        """Return the variables that the engine adds for this process, as a table."""
        return environment.show(*self._env, additions=self._env)

    @property
    def log(self) -> str:
        """Return the path of this start's log."""
        return paths.shown(self._log)

    @property
    def log_file(self) -> Path:
        """Return the file itself, for whoever reads it."""
        return self._log

    @property
    def pid(self) -> int:
        """Return the number of the process that leads the group."""
        return self._found.pid

    @property
    def port(self) -> int:
        """Return the TCP port."""
        return self._found.port

    def processes(self) -> list[str]:
        """Return "pid name" of each process of the group."""
        return process.names(process.members(self._found.identity()))

    def tail(self, lines: int = 20) -> str:
        """Return the last lines of the log."""
        return logs.tail(self._log, lines)

    def find_in_log(self, pattern: str, limit: int = 5) -> list[str]:
        """Return the first log lines that match a regular expression, without process and time."""
        return logs.find(self._log, pattern, limit)

    @property
    def status(self) -> str:
        """Return "dead", "ready" or "starting"."""
        if not self._is_alive():
            return "dead"
        return "ready" if self.is_healthy() else "starting"

    @property
    def is_ready(self) -> bool:
        """Return True if it is healthy and lists its model."""
        return self._is_alive() and self._serves()

    def _is_alive(self) -> bool:
        if process.reap(self._child) is not None:
            return False
        # The leader itself: a child that outlives it holds the device but will never answer.
        return self.pid in process.members(self._found.identity())

    def _serves(self) -> bool:
        if not self.is_healthy(ANSWER_SECONDS):
            return False
        try:
            return self.served_model_name in [entry["id"] for entry in self.models(ANSWER_SECONDS)]
        except (Unreachable, NotOpenAI):  # it ended in between, or is not up to it yet
            return False

    def seconds(self) -> float:
        """Return the seconds since this kernel started or adopted it."""
        return time.monotonic() - self._begun

    def ended(self) -> str:
        """Return how the process ended: exit code or signal; "?" where it was not this kernel's
        child.
        """
        try:  # the group's leader is a zombie some milliseconds before its last thread has ended
            code = self._child.wait(0.5) if self._child is not None else None
        except subprocess.TimeoutExpired:
            code = None
        return process.told_status(code)

    def wait_ready(self, timeout: float = 600.0) -> float:
        """Return the seconds until the server answers with its model.

        Polls /health, then /v1/models, while watching the process: a server that dies is reported
        at once with the tail of its log, not after the timeout.

        Args:
            timeout: seconds to wait before giving up.
        Raises:
            ServerDied: the process ended first; UnrecognizedArguments, ParserUnknown or
                ParserMissing where its command line was the cause.
            ServerTimeout: still starting; carries the stage reached.
        Source: vLLM 0.23 envs.py, VLLM_ENGINE_READY_TIMEOUT_S = 600.
        """
        begun = time.monotonic()
        stages = self.stages = logs.StageReader(self._log)
        with progress.Live() as live:
            while True:
                if not self._is_alive():
                    raise self.death(time.monotonic() - begun)
                ready, before = self._serves(), len(stages.reached)
                stage = stages.settle(LOG_SECONDS) if ready else stages.read()
                elapsed = time.monotonic() - begun
                for name, reached in list(stages.reached.items())[before:]:
                    live.step(f"  {reached:5.1f} s  {messages.text(f'server.stage.{name}')}")
                if ready:
                    told = {"name": self.served_model_name, "seconds": f"{elapsed:.1f}"}
                    live.done(messages.text("server.ready", None, **told))
                    return elapsed
                stage = messages.text(f"server.stage.{stage}")
                if elapsed > timeout:
                    told = {"seconds": f"{timeout:.0f}", "stage": stage, "log": self.log}
                    raise ServerTimeout(evidence=self.tail(), log_file=self._log, **told)
                live.update(messages.text("server.waiting", stage=stage, seconds=f"{elapsed:.0f}"))
                time.sleep(POLL_SECONDS)

    def death(self, seconds: float) -> ServerDied:
        """Return the error that tells this server's end: how, after how many seconds, and the end
        of its log.
        """
        evidence = self.tail(12)
        values = {"ended": self.ended(), "seconds": f"{seconds:.1f}", "log": self.log}
        told: dict[str, Any] = {"evidence": evidence, "log_file": self._log, **values}
        refused = problems.of_command_line(**told)
        return refused or ServerDied(**told, original=logs.last_error(self.tail(400)))

    def stop(self, grace: float | None = None) -> stopping.StopProof:
        """Return the proof that the whole process group has ended and the port is free.

        Args:
            grace: seconds between TERM and KILL; None as `stopping.stop`.
        Raises:
            StopFailed: something of the group outlived SIGKILL.
        """
        proof = stopping.stop(self._path, self._found, self._child, grace)
        self.stopped = True
        return proof

    def __repr__(self) -> str:
        return f"Server({self.served_model_name} at {self.base_url}, {self.status}, log {self.log})"
