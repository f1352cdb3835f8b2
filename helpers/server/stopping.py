"""Stop a server by its state, and the proof that it is gone: no process of the group, port closed,
device memory back.
"""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from helpers import device_memory, messages
from helpers.errors import StopFailed
from helpers.server import process, state
from helpers.server.endpoint import LocalEndpoint

SERVING_GRACE, LOADING_GRACE = 15.0, 3.0


@dataclass(frozen=True)
class StopProof:
    """What was seen after stopping.

    Attributes:
        processes_left: "pid name" of each process of the group that still lives; empty is the
            proof.
        port_free: True if nobody listens on the port any more.
        device_memory: "not applicable" (CPU); on an NPU "returned" where npu-smi shows, within
            60 s, no more than 1 GiB above what was in use before the start, else "unknown", never
            "free".
        seconds: from the first signal to the proof.
    """

    processes_left: list[str] = field(default_factory=list)
    port_free: bool = True
    device_memory: str = "not applicable"
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Return True if no process is left and the port is free."""
        return not self.processes_left and self.port_free

    def __str__(self) -> str:
        return messages.text(
            "server.stopped",
            left=len(self.processes_left),
            port=messages.text("yes" if self.port_free else "no"),
            memory=messages.text(f"server.memory.{self.device_memory.replace(' ', '_')}"),
        )

    __repr__ = __str__


def stop(
    path: Path,
    found: state.State,
    child: subprocess.Popen[bytes] | None = None,
    grace: float | None = None,
) -> StopProof:
    """Return the proof that a server of ours has ended; its state file is removed, its log stays.

    Args:
        path, found: the state file and what it says.
        child: the Popen object where it is this kernel's child.
        grace: seconds between TERM and KILL; None gives a server that answers 15 s for its requests
            and one that is still loading 3 s: vLLM does not heed TERM before it serves.
    Raises:
        StopFailed: something of the group outlived SIGKILL, or the port is still held.
    """
    begun = time.monotonic()
    alive = found.is_alive()
    if grace is None:
        grace = SERVING_GRACE if _answers(found) else LOADING_GRACE
    left = process.names(process.end(found.identity(), child, grace)) if found.is_here() else []
    has_port = found.kind == "server"
    free = not has_port or _becomes_free(found.host, found.port, 5.0 if alive else 0.2)
    memory = device_memory.returned(found.engine, found.memory_before)
    proof = StopProof(left, free, memory, time.monotonic() - begun)
    if left or (alive and not free):  # where it had died before, its port may be a stranger's now
        raise StopFailed(
            left=", ".join(left) or "-",
            port=found.port,
            evidence=process.port_owner(found.port) or None,
        )
    state.forget(path)
    return proof


def _answers(found: state.State) -> bool:
    url = f"http://{found.host}:{found.port}"
    return found.kind == "server" and LocalEndpoint(url, found.served_model_name).is_healthy()


def _becomes_free(host: str, port: int, patience: float) -> bool:
    """Return True once nobody listens on the port; the kernel closes a dead process's sockets a
    moment after its end.
    """
    deadline = time.monotonic() + patience
    while not process.port_is_free(host, port):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
