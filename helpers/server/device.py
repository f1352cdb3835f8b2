"""One device, one server: find the one that runs, tell whether it may be taken over, refuse a
second.

The caller holds `state.device_lock`. Starts and stops nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from helpers import messages
from helpers.errors import DeviceBusy
from helpers.server import process, state
from helpers.server.fingerprint import Fingerprint
from helpers.server.problems import OfflineBusy


def find_running(mark: str) -> tuple[Path, state.State] | None:
    """Return state file and state of a living server with this fingerprint, or None."""
    for path, found in state.read_all():
        if found.kind == "server" and found.fingerprint == mark and found.is_alive():
            return path, found
    return None


def adoptable(wanted: Fingerprint, port: int) -> tuple[Path, state.State] | None:
    """Return the running server that is the same, on the port that is asked for (0: any), or None.

    One whose leader has ended is not: what is left of its group holds the device but never answers.
    """
    found = find_running(wanted.digest())
    if found is None or port not in (0, found[1].port) or not process.is_running(found[1].pid):
        return None
    return found


def refuse_second(wanted: Fingerprint | None = None, port: int = 0) -> None:
    """Refuse a second process on the device, an offline run as well as a server.

    Args:
        wanted: the server that is asked for, so that the refusal tells what differs; None for an
            offline run.
        port: the one that is asked for; 0 for any.
    Raises:
        DeviceBusy: names the one that runs, and what is another in the one that is wanted.
        OfflineBusy: what runs is offline inference.
    """
    for path, found in state.read_all():
        if found.is_alive():
            values: dict[str, Any] = {
                "name": found.served_model_name,
                "port": found.port,
                "pid": found.pid,
            }
            if found.kind != "server":
                raise OfflineBusy(**values)
            differs = found.differences(wanted) if wanted else []
            if port not in (0, found.port):
                differs.append(
                    messages.text(
                        "server.differs.argument", name="--port", here=found.port, there=port
                    )
                )
            if not process.is_running(found.pid):
                differs = [messages.text("server.differs.leader", pid=found.pid)]
            raise DeviceBusy(**values, evidence="\n".join(differs) or None)
        if found.is_over():
            state.set_aside(path, "dead")
        elif not found.is_here():
            where = f"{found.hostname} {found.pid_namespace}"
            print(messages.text("server.foreign", port=found.port, where=where))
