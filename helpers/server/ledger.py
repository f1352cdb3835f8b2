"""What a run has started: a line for each engine start, and the search for processes that carry the
run's id.

A run's id is LAB_RUN. The count goes into the report; the search finds a process whose state file
was never written, because its kernel was killed in between.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import psutil

from helpers import paths
from helpers.server import process


def _path(run: str) -> Path:
    return paths.state_dir() / "runs" / f"{run}.jsonl"


def record(run: str, kind: str, pid: int, port: int) -> None:
    """Add an engine start to a run's ledger; kind is "server" or "offline", port 0 for an offline
    run.
    """
    path = _path(run)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"kind": kind, "pid": pid, "port": port}) + "\n")


def entries(run: str) -> list[dict[str, Any]]:
    """Return a run's engine starts in order."""
    try:
        return [json.loads(line) for line in _path(run).read_text(encoding="utf-8").splitlines()]
    except FileNotFoundError:
        return []


def count(run: str) -> int:
    """Return how many engines a run has started."""
    return len(entries(run))


def leftovers(run: str) -> list[process.Identity]:
    """Return the process groups whose leader, or what is left of the group where the leader has
    died, carries the run's id in its environment; this process's own line is left out.
    """
    if not Path("/proc").is_dir():  # no engine runs on such a system, only requests to a remote one
        return []
    own = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    marker = f"LAB_RUN={run}".encode()
    found: dict[int, process.Identity] = {}
    for pid in psutil.pids():
        leader = _leader(pid)
        if leader is None or leader in found or pid in own or leader in own:
            continue
        if pid != leader and process.is_running(leader):
            continue  # the leader speaks for its group: it may be a shell that a run was started in
        try:
            variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if marker in variables:
            found[leader] = process.Identity(leader, leader, process.start_ticks(leader) or 0)
    return list(found.values())


def _leader(pid: int) -> int | None:
    """Return the leader of a process's session where the process is in the leader's own group."""
    try:
        session, group = os.getsid(pid), os.getpgid(pid)
    except OSError:
        return None
    return session if session == group else None
