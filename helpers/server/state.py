"""The state files of our servers: one a port, so that another kernel, the command line and a run's
teardown find them.

Reading, writing, and telling a living process of ours from a reused number. Starts and stops
nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, ValidationError

from helpers import paths
from helpers.errors import StateUnwritable
from helpers.server import process

# Variables that change what a server does. The rest of an environment differs from kernel to kernel
# and means nothing.
FINGERPRINT_PREFIXES = (
    "VLLM_",
    "ASCEND_",
    "CUDA_",
    "HF_HUB_",
    "PYTORCH_",
    "TORCH_",
    "HCCL_",
    "OMP_",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "PYTHONPATH",
    "TASK_QUEUE_",
)
FINGERPRINT_SECRET = "VLLM_API_KEY"


class State(BaseModel):
    """One server, as its state file says (DESIGN.md, Interfaces). Fields may be added, never
    renamed.
    """

    model_config = ConfigDict(extra="ignore", protected_namespaces=())

    schema_: int = 1
    kind: str = "server"
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
        created=now(),
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
def device_lock(timeout: float = 30.0) -> Iterator[None]:
    """Hold the one device while looking whether it is free and starting a process on it.

    Args:
        timeout: seconds to wait for another kernel that is just starting.
    """
    with FileLock(str(directory() / "device.lock"), timeout=timeout):
        yield


def write(state: State) -> Path:
    """Return the path of the state file, written whole or not at all, for its owner only."""
    name = f"{state.port}.json" if state.kind == "server" else f"{state.kind}-{state.pid}.json"
    path = directory() / name
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    body = state.model_dump()
    body = {"schema": body.pop("schema_"), **body}
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(body, file, indent=1)
    temporary.replace(path)
    return path


def read_all() -> list[tuple[Path, State]]:
    """Return every state file that can be read; one that cannot is set aside as *.corrupt, never
    deleted.
    """
    folder = paths.state_dir() / "servers"
    found = []
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else []:
        try:
            body = json.loads(path.read_text(encoding="utf-8"))
            body["schema_"] = body.pop("schema", 1)
            found.append((path, State(**body)))
        except FileNotFoundError:
            continue
        except (OSError, ValueError, TypeError, AttributeError, ValidationError):
            set_aside(path, "corrupt")
    return found


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


def now() -> str:
    """Return this moment as ISO 8601 with the zone, for people; durations come from the monotonic
    clock.
    """
    return datetime.now(timezone.utc).astimezone().isoformat(timespec="seconds")


def fingerprint(
    argv: Sequence[str], env: Mapping[str, str], model: Path, engine_version: str
) -> str:
    """Return a hash of all that makes one server the same as another.

    argv, the variables that matter, the model files' sizes and times (records of ours beside the
    weights begin with a dot and do not count), the engine's version.
    """
    variables = {
        name: hashlib.sha256(value.encode(errors="surrogateescape")).hexdigest()[:16]
        if name == FINGERPRINT_SECRET
        else value
        for name, value in sorted(env.items())
        if name.startswith(FINGERPRINT_PREFIXES)
    }
    files = []
    if model.is_dir():
        counted = [p for p in model.iterdir() if p.is_file() and not p.name.startswith(".")]
        files = sorted((p.name, p.stat().st_size, p.stat().st_mtime_ns) for p in counted)
    body = json.dumps([list(argv), variables, files, engine_version])
    return hashlib.sha256(body.encode(errors="surrogateescape")).hexdigest()[:32]
