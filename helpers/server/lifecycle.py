"""Start a server that an engine describes, or take over the running one that is the same.

A server outlives its kernel on purpose: its state file lets the next kernel find it. One server
holds the device.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from helpers import device_memory, environment, messages, paths
from helpers.engines import Engine, Remote
from helpers.errors import EngineUnavailable, PortTaken, StateUnwritable
from helpers.models import Model
from helpers.options import Options
from helpers.server import device, fingerprint, ledger, process, state
from helpers.server.endpoint import Endpoint, RemoteServer
from helpers.server.fingerprint import Fingerprint
from helpers.server.running import Server

AnyEndpoint = TypeVar("AnyEndpoint", bound=Endpoint)
_current: Endpoint | None = None


def start(engine: Engine, model: Model, options: Options) -> Server | RemoteServer:
    """Return a server that has just been started (or a running one that is the same); `wait_ready`
    waits for it.

    Raises:
        DeviceBusy: another process of ours holds the device, and what differs.
        DeviceLocked: another kernel is starting one for too long.
        PortTaken: somebody else listens on the port.
        StateUnwritable: state or log directory cannot be written.
        EngineUnavailable: the engine's program cannot be run.
    """
    if isinstance(engine, Remote):
        return attach(engine.base_url, options.served_model_name)
    assert model.path is not None
    added = engine.environment(options)
    env = environment.child(added)
    neutral = engine.command(model.path, options.with_values(port=0))
    wanted = fingerprint.of(neutral, env, model.path, engine.versions())
    with state.device_lock():
        running = device.adoptable(wanted, options.port)
        if running:
            name, pid = running[1].served_model_name, running[1].pid
            print(messages.text("server.adopted", name=name, pid=pid))
            return use(Server(*running, options, added))
        device.refuse_second(wanted, options.port)
        options = _with_port(options)
        argv = engine.command(model.path, options)
        launched = launch(engine, argv, env, "server", options, model, wanted)
    return use(Server(*launched[:2], options, added, launched[2]))


def launch(
    engine: Engine,
    argv: list[str],
    env: Mapping[str, str],
    kind: str,
    options: Options,
    model: Model,
    made_from: Fingerprint,
) -> tuple[Path, state.State, subprocess.Popen[bytes]]:
    """Return state file, state and child of a process that holds the device from now on.

    The caller holds the device lock. An interrupt between the process's start and its state file
    ends the process: nobody else would find it.

    Args:
        kind: "server" or "offline".
    Raises:
        StateUnwritable, EngineUnavailable: as `start`.
    """
    port = options.port if kind == "server" else 0
    log, memory = new_log(port, kind), device_memory.used(engine.name)
    try:
        child, identity = process.spawn(argv, env, log, paths.state_dir())
    except OSError as error:
        reason = paths.shown(error)
        raise EngineUnavailable(engine=engine.name, reason=reason, original=reason) from error
    try:
        found = state.describe(
            identity,
            kind=kind,
            argv=argv,
            fingerprint=made_from.digest(),
            made_from=asdict(made_from),
            host=options.host,
            port=port,
            served_model_name=options.served_model_name,
            engine=engine.name,
            engine_version=made_from.engine_version,
            log=str(log),
            memory_before=memory,
            stand_in=model.stand_in,
            capabilities=None if model.capabilities is None else sorted(model.capabilities),
        )
        if found.run:
            ledger.record(found.run, kind, found.pid, found.port)
        return state.write(found), found, child
    except BaseException as error:
        process.end(identity, child, grace=2.0)
        if not isinstance(error, OSError):
            raise
        raise _unwritable(paths.state_dir(), error) from error


def _unwritable(path: Path, error: OSError) -> StateUnwritable:
    return StateUnwritable(path=paths.shown(path), original=paths.shown(error))


def _with_port(options: Options) -> Options:
    if options.port == 0:
        return options.with_values(port=process.free_port(options.host))
    if not process.port_is_free(options.host, options.port):
        raise PortTaken(port=options.port, owner=process.port_owner(options.port) or "?")
    return options


def new_log(port: int, kind: str) -> Path:
    """Return a path for a start's own log: an old server's last line must never read as this one's
    success.

    Raises:
        StateUnwritable: the directory cannot be made or written.
    """
    folder = paths.state_dir() / "logs"
    stem = f"{datetime.now():%Y%m%d-%H%M%S-%f}-{kind}{f'-{port}' if port else ''}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        while True:
            path = folder / f"{stem}.log"
            try:
                path.touch(mode=0o600, exist_ok=False)
            except FileExistsError:  # the clock has been set back
                stem += "-"
            else:
                return path
    except OSError as error:
        raise _unwritable(folder, error) from error


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
