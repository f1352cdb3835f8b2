"""A process group of ours: started in its own session, recognised by number and start time, ended,
and the end proved.

Nothing outside the group is ever signalled. Knows neither vLLM nor HTTP.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import psutil

from helpers import paths


@dataclass(frozen=True)
class Identity:
    """A process group leader of ours.

    Attributes:
        pid, pgid: equal, since the leader starts its own session.
        started: start time of the leader in clock ticks since boot (field 22 of /proc/PID/stat):
            with the pid it is unique.
    """

    pid: int
    pgid: int
    started: int


class Reapable(Protocol):
    """What is needed of a process that was started here; a Popen has it."""

    def poll(self) -> int | None:
        """Return its status once it has ended, else None."""


def spawn(
    argv: Sequence[str], env: Mapping[str, str], log: Path, cwd: Path
) -> tuple[subprocess.Popen[bytes], Identity]:
    """Return a new process and its identity.

    Its own session (it outlives the kernel and never sees its Ctrl-C), stdin closed, stdout and
    stderr in one log file (a pipe that nobody drains would block it).

    Raises:
        OSError: the program cannot be run, or the log cannot be written.
    """
    with log.open("ab") as sink:
        child = subprocess.Popen(
            list(argv),
            env=dict(env),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return child, Identity(child.pid, child.pid, start_ticks(child.pid) or 0)


def start_ticks(pid: int) -> int | None:
    """Return a process's start time in clock ticks since boot, or None where there is no such
    process.
    """
    fields = _stat(pid)
    return int(fields[19]) if fields else None


def _stat(pid: int) -> list[str] | None:
    """Return the fields of /proc/PID/stat after the name: [0] state, [2] process group, [3]
    session, [19] start time.
    """
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None


def members(identity: Identity) -> list[int]:
    """Return the living processes of the group, zombies left out, sorted; [] where the number
    belongs to somebody else now.

    A member is a process of this user in the leader's group and session, started no earlier than
    the leader. Where the leader is gone its group may live on (an engine that lost its API server):
    the kernel does not give the number of a living group to a new process, so the start times still
    tell.
    """
    leader = _stat(identity.pid)
    if leader is not None and int(leader[19]) != identity.started:
        return []
    found = []
    for pid in psutil.pids():
        fields = _stat(pid)
        if (
            not fields
            or fields[0] in "ZX"
            or int(fields[2]) != identity.pgid
            or int(fields[3]) != identity.pgid
        ):
            continue
        if int(fields[19]) >= identity.started and _is_mine(pid):
            found.append(pid)
    return sorted(found)


def is_running(pid: int) -> bool:
    """Return True for a process that exists and is no zombie."""
    fields = _stat(pid)
    return fields is not None and fields[0] not in "ZX"


def _is_mine(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}").stat().st_uid == os.geteuid()
    except OSError:
        return False


def names(pids: Sequence[int]) -> list[str]:
    """Return "pid name" for each process that still exists."""
    found = []
    for pid in pids:
        try:
            words = psutil.Process(pid).cmdline() or [psutil.Process(pid).name()]
        except psutil.Error:
            continue
        found.append(f"{pid} {paths.shown(' '.join(words))[:80].strip()}")
    return found


def end(identity: Identity, child: Reapable | None, grace: float = 15.0) -> list[int]:
    """End the whole group, TERM then KILL, and return the processes that are left (an empty list is
    the proof).

    Args:
        identity: the group.
        child: the Popen object, or what stands for one, where the process is this kernel's child,
            so that it leaves no zombie.
        grace: seconds between TERM and KILL.
    """
    for number, patience in ((signal.SIGTERM, grace), (signal.SIGKILL, 10.0)):
        if not _signal(identity, number):
            break
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            reap(child)
            if not members(identity):
                break
            time.sleep(0.05)
    reap(child)
    return members(identity)


def _signal(identity: Identity, number: int) -> bool:
    """Return True if the group was ours, living, and has been signalled."""
    if not members(identity):
        return False
    try:
        os.killpg(identity.pgid, number)
    except ProcessLookupError:
        return False
    return True


def reap(child: Reapable | None) -> int | None:
    """Return the exit status of a child that has ended (negative: signal), or None; a child that
    ended is no zombie after.
    """
    return child.poll() if child is not None else None


def told_status(returncode: int | None) -> str:
    """Return an exit status in words: "exit code 1", "signal SIGKILL", or "?" where it is not ours
    to know.
    """
    if returncode is None:
        return "?"
    if returncode >= 0:
        return f"exit code {returncode}"
    try:
        return f"signal {signal.Signals(-returncode).name}"
    except ValueError:
        return f"signal {-returncode}"


def port_is_free(host: str, port: int) -> bool:
    """Return True if nobody listens on the port.

    Binds as a careful server would, with SO_REUSEADDR (a closed connection's rest does not count)
    but without SO_REUSEPORT: vLLM up to 0.24 sets that, and two of them would share the port
    without an error.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def free_port(host: str) -> int:
    """Return a port that was free a moment ago."""
    with socket.socket(
        socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM
    ) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def port_owner(port: int) -> str:
    """Return "pid name (user)" of who listens on a port, or "" where the system does not tell."""
    try:
        listening = [
            c
            for c in psutil.net_connections("tcp")
            if c.status == psutil.CONN_LISTEN and c.laddr and c.laddr.port == port
        ]
    except (psutil.Error, OSError):
        return ""
    for connection in listening:
        if connection.pid:
            try:
                owner = psutil.Process(connection.pid)
                return f"{connection.pid} {owner.name()} ({owner.username()})"
            except (psutil.Error, KeyError):
                return str(connection.pid)
    return ""
