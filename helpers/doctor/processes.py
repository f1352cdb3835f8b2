"""What runs on this machine that a lab would meet: who listens on its port, engines that somebody
left behind. Looks only; `server` stops what is ours.
"""

from __future__ import annotations

import json
import os

import psutil

from helpers import paths
from helpers.server import process


def memory_available() -> int:
    """Return the bytes of memory that a new process could have."""
    return int(psutil.virtual_memory().available)


def listener(port: int) -> str | None:
    """Return who listens on a port of this machine, "?" where the system does not tell, None if
    nobody.
    """
    if process.port_is_free("127.0.0.1", port):
        return None
    return process.port_owner(port) or "?"


def left_over() -> tuple[str, ...]:
    """Return "pid name" of processes named VLLM::… outside the groups of our own servers.

    vLLM names its children so (vllm/utils/system_utils.py, 0.18.0 and later).
    """
    try:
        ours = _groups_of_ours()
        found = []
        for one in psutil.process_iter(["pid", "name", "cmdline", "status"]):
            name = " ".join(one.info["cmdline"] or []) or one.info["name"] or ""
            if not name.startswith("VLLM::") or one.info["status"] == psutil.STATUS_ZOMBIE:
                continue
            if _group(one.info["pid"]) not in ours:
                found.append(f"{one.info['pid']} {name.split()[0]}")
    except psutil.Error:
        return ()
    return tuple(found)


def _groups_of_ours() -> set[int]:
    """Return the process groups in our state files, which are left as they are."""
    groups = set()
    for path in (paths.state_dir() / "servers").glob("*.json"):
        try:
            groups.add(int(json.loads(path.read_text(encoding="utf-8"))["pgid"]))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return groups


def _group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except OSError:
        return None
