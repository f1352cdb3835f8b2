"""The state files of our servers: one a port, so that another kernel, the command line and a run's
teardown find them.

Reading, writing, and telling a living process of ours from a reused number. Starts and stops
nothing.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from helpers import paths, records
from helpers.errors import StateUnwritable
from helpers.server import fingerprint as fingerprints
from helpers.server import process
from helpers.server.problems import DeviceLocked

LOCK_SECONDS = 30.0


@dataclass(frozen=True)
class State:
    """One server, as its state file says; a field that is not known is left out: a later version
    may have written it.

    Attributes:
        kind: "server", or "offline" for a batch that holds the device without a port.
        started: start time of the leader in clock ticks since boot.
        fingerprint: hash of `made_from`.
        capabilities: of the served model, as models.Model says.
        memory_before: bytes in use on each chip before the start; {} where there is none.
        made_from: the fields of `fingerprint.Fingerprint`; {} in a file of an earlier version.
    """

    pid: int
    pgid: int
    started: int
    boot_id: str
    hostname: str
    pid_namespace: str
    argv: list[str]
    fingerprint: str
    host: str
    port: int
    served_model_name: str
    engine: str
    engine_version: str
    run: str | None
    log: str
    created: str
    stand_in: bool = False
    kind: str = "server"
    made_from: dict[str, Any] = field(default_factory=dict)
    capabilities: list[str] | None = None
    memory_before: dict[str, int] = field(default_factory=dict)

    def identity(self) -> process.Identity:
        """Return the process that the file speaks of."""
        return process.Identity(self.pid, self.pgid, self.started)

    def is_here(self) -> bool:
        """Return True where the file speaks of this boot, this host and this container; else its
        numbers mean nothing here.
        """
        return (self.boot_id, self.hostname, self.pid_namespace) == (
            boot_id(),
            socket.gethostname(),
            pid_namespace(),
        )

    def is_alive(self) -> bool:
        """Return True while a process of that very server runs."""
        return self.is_here() and bool(process.members(self.identity()))

    def is_over(self) -> bool:
        """Return True where the server surely runs no more: it has ended here, or this host has
        been started anew since. Of another host or container nothing is known.
        """
        if self.is_here():
            return not self.is_alive()
        return self.hostname == socket.gethostname() and self.boot_id != boot_id()

    def differences(self, wanted: fingerprints.Fingerprint) -> list[str]:
        """Return what is another in a server that is wanted, a line each; [] where it is the same
        or this file does not say.
        """
        ours = fingerprints.read(self.made_from)
        return ours.differences(wanted) if ours else []


def describe(identity: process.Identity, **fields: Any) -> State:
    """Return the state of a process that has just been started here, under the run in force.

    Args:
        identity: the process.
        fields: the remaining fields of State.
    """
    return State(
        pid=identity.pid,
        pgid=identity.pgid,
        started=identity.started,
        boot_id=boot_id(),
        hostname=socket.gethostname(),
        pid_namespace=pid_namespace(),
        run=os.environ.get("LAB_RUN") or None,
        created=records.now(),
        **fields,
    )


def boot_id() -> str:
    """Return the kernel's id of this boot."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def pid_namespace() -> str:
    """Return the PID namespace's name: two containers that share a home have two, and the same
    numbers mean other processes.
    """
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def directory() -> Path:
    """Return the directory of state files, made if missing.

    Raises:
        StateUnwritable: it cannot be made or written.
    """
    path = paths.state_dir() / "servers"
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / f".probe-{os.getpid()}"
        probe.write_bytes(b"x" * 4096)
        probe.unlink()
    except OSError as error:
        raise StateUnwritable(path=paths.shown(path), original=paths.shown(error)) from error
    return path


@contextmanager
def device_lock(timeout: float = LOCK_SECONDS) -> Iterator[None]:
    """Hold the one device while looking whether it is free and starting a process on it.

    Args:
        timeout: seconds to wait for another kernel that is just starting.
    Raises:
        DeviceLocked: the other one is still at it.
        StateUnwritable: the lock cannot be made.
    """
    lock = FileLock(str(directory() / "device.lock"), timeout=timeout)
    try:
        lock.acquire()
    except Timeout as error:
        raise DeviceLocked(seconds=f"{timeout:.0f}", original=paths.shown(error)) from error
    except OSError as error:
        where = paths.shown(paths.state_dir())
        raise StateUnwritable(path=where, original=paths.shown(error)) from error
    try:
        yield
    finally:
        lock.release()


def write(state: State) -> Path:
    """Return the path of the state file, written whole or not at all, for its owner only.

    One a port; where another container that shares this home holds that name, its file is left as
    it is and ours gets a name with our PID.
    """
    name = f"{state.port}" if state.kind == "server" else f"{state.kind}-{state.pid}"
    path = directory() / f"{name}.json"
    if _is_foreign(path):
        path = path.with_name(f"{name}-{state.pid}.json")
    body = {"schema": 1, **asdict(state)}
    return records.write_whole(path, json.dumps(body, indent=1), 0o600)


def _is_foreign(path: Path) -> bool:
    """Return True for a state file that another host or container has written."""
    try:
        return not _read(path).is_here()
    except (OSError, ValueError):
        return False


def read_all() -> list[tuple[Path, State]]:
    """Return every state file that can be read; one that cannot is set aside as *.corrupt, never
    deleted.
    """
    folder = paths.state_dir() / "servers"
    found = []
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else []:
        try:
            found.append((path, _read(path)))
        except FileNotFoundError:
            continue
        except (OSError, ValueError):  # pydantic's ValidationError is a ValueError
            set_aside(path, "corrupt")
    return found


def _read(path: Path) -> State:
    """Return what a state file says.

    Raises:
        ValueError: it is no state file.
    """
    from pydantic import TypeAdapter  # costs a notebook's first cell 50 ms, where there is no file

    body = json.loads(path.read_text(encoding="utf-8"))
    return TypeAdapter(State).validate_python(body)


def set_aside(path: Path, why: str) -> None:
    """Rename a state file that no longer speaks of a process of ours, so that it can still be
    looked at.
    """
    try:
        path.replace(path.with_suffix(f".{why}"))
    except OSError:
        return


def forget(path: Path) -> None:
    """Remove the state file of a server that has been stopped."""
    path.unlink(missing_ok=True)
