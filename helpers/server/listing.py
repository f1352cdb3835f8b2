"""All servers of ours on this machine: what `status` lists and what a run's teardown stops."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import asdict, dataclass
from typing import Any

from helpers import messages, paths
from helpers.errors import StopFailed
from helpers.server import ledger, process, state, stopping
from helpers.server.endpoint import LocalEndpoint, address


@dataclass(frozen=True)
class Status:
    """One row of `status`.

    Attributes:
        port: TCP port; 0 for an offline run.
        served_model_name: name in requests.
        state: "starting", "ready", "dead" or "foreign" (another host's or container's, which cannot
            be judged from here).
        pid: the leader's number.
        seconds: since its start.
        log: path of its log.
    """

    port: int
    served_model_name: str
    state: str
    pid: int
    seconds: float
    log: str

    def as_json(self) -> dict[str, Any]:
        """Return the row as `status --json` prints it."""
        return asdict(self)


def status() -> list[Status]:
    """Return a row for each state file; asks each living server for its health (1 s at most)."""
    return [
        Status(
            found.port, found.served_model_name, _judged(found), found.pid, _age(found), found.log
        )
        for _, found in state.read_all()
    ]


def _judged(found: state.State) -> str:
    if not found.is_here():
        same_boot = found.boot_id == state.boot_id()
        return "foreign" if same_boot or found.hostname != socket.gethostname() else "dead"
    if not found.is_alive():
        return "dead"
    if found.kind != "server":
        return "starting"
    return (
        "ready"
        if LocalEndpoint(address(found.host, found.port), found.served_model_name).is_healthy()
        else "starting"
    )


def _age(found: state.State) -> float:
    """Return seconds since the start, from the boot clock: setting the wall clock does not change
    it.
    """
    if not found.is_here():
        return 0.0
    ticks = os.sysconf("SC_CLK_TCK")
    return round(max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - found.started / ticks), 1)


def stop_run(run: str) -> list[stopping.StopProof]:
    """Return the proofs of having stopped everything that was started under a run's id.

    Raises:
        StopFailed: something outlived it.
    """
    proofs: list[stopping.StopProof] = []
    failed: list[StopFailed] = []
    for path, found in state.read_all():
        if found.run == run and found.is_here():
            try:
                proofs.append(stopping.stop(path, found))
            except StopFailed as failure:
                failed.append(failure)
    for identity in ledger.leftovers(run):
        left = process.names(process.end(identity, None))
        if left:
            failed.append(StopFailed(left=", ".join(left), port=0))
        proofs.append(stopping.StopProof(left))
    if failed:
        raise failed[0]
    return proofs


def stop_all(port: int | None = None) -> list[str]:
    """Return a line for each server of ours that was stopped.

    Args:
        port: only the one on this port; None stops all of them.
    Raises:
        StopFailed: something outlived it.
    """
    lines = []
    failed: list[StopFailed] = []
    for path, found in state.read_all():
        if port not in (None, found.port) or not found.is_here():
            continue
        alive = found.is_alive()
        try:
            proof = stopping.stop(path, found)
        except StopFailed as failure:
            failed.append(failure)
            continue
        name = f"{found.served_model_name} :{found.port} pid {found.pid}"
        lines.append(
            f"{name} — {proof}"
            if alive
            else messages.text("server.was_dead", name=name, log=paths.shown(found.log))
        )
    if failed:
        raise failed[0]
    return lines
