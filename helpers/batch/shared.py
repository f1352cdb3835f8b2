"""One server for runs with the same command: which runs may share one, and the server seen from
outside: started for the first of them, asked by all, stopped after the last.

The process that holds it is `host`'s.
"""

from __future__ import annotations

import json
import os
import queue
import secrets
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from threading import Lock
from typing import Any

from helpers import catalog, messages
from helpers.batch import folders, supervised
from helpers.batch.job import Job, digest, is_remote
from helpers.batch.tasks import Rules, Slot, Task
from helpers.options import Options
from helpers.parameters import default
from helpers.server import process

APART = {"LANGUAGE", "ENGINE", "MODEL_DIR", "BASE_URL", "KEEP_SERVER", "HOST", "PORT", "DEVICES"}
"""Parameters that do not say what the server is asked for, or that are the batch's to choose."""


def command(job: Job) -> dict[str, Any] | None:
    """Return what a run's server is started with, for runs to be compared by; None where the run
    cannot share one: it starts none, it names its devices itself, its lab cannot work with somebody
    else's server, or the lab makes the command from more than its parameters.
    """
    lab = catalog.labs().get(job.lab, {})
    flags = sorted(set(lab.get("parameters", [])) - APART)
    known = {one.name for one in fields(Options)}
    able = "remote" in lab.get("engines", []) and all(name.lower() in known for name in flags)
    if not able or is_remote(job) or "DEVICES" in job.parameters:
        return None
    values = {name: job.parameters.get(name, default(name, None)) for name in flags}
    return {
        "lab": job.lab,
        "engine": job.parameters.get("ENGINE") or os.environ.get("LAB_ENGINE") or "auto",
        "model_dir": job.parameters.get("MODEL_DIR") or os.environ.get("LAB_MODEL_DIR") or "",
        "options": {name.lower(): value for name, value in values.items() if value is not None},
    }


class NotStarted(Exception):
    """The shared server did not come up; code and text are those of its own error."""

    def __init__(self, code: str, said: str) -> None:
        super().__init__(said)
        self.code, self.said = code, said


@dataclass
class _Server:
    """A shared server: its folder, and how many runs still need it."""

    place: Path
    command: dict[str, Any]
    left: int
    lock: Lock
    child: supervised.Child | None = None
    identity: process.Identity | None = None
    slot: Slot | None = None
    failed: NotStarted | None = None
    given: dict[str, str] | None = None


class Servers:
    """The shared servers of a batch; each takes a device for as long as its runs go on.

    Args:
        tasks: all runs; those that share are known by `Task.command`.
        slots: the pool of devices.
    """

    def __init__(self, tasks: Sequence[Task], rules: Rules, slots: queue.Queue[Slot]) -> None:
        self._rules, self._slots = rules, slots
        self._all: dict[str, _Server] = {}
        counts = Counter(key(task) for task in tasks if task.command)
        for task in tasks:
            if task.command:
                name, short = key(task), key(task)[:8]
                place = task.place.with_name(f"server.{task.job.lab}.{short}")
                self._all.setdefault(name, _Server(place, task.command, counts[name], Lock()))

    @contextmanager
    def used(self, task: Task) -> Iterator[dict[str, str]]:
        """Yield the parameters with which a run asks its shared server; {} where it shares none.

        Raises:
            NotStarted: it did not come up.
        """
        if not task.command:
            yield {}
            return
        one = self._all[key(task)]
        try:
            with one.lock:
                if one.child is None and one.failed is None and not self._rules.ending.is_set():
                    self._start(one)
            if one.failed is not None:
                raise one.failed
            yield one.given or {}
        finally:
            with one.lock:
                one.left -= 1
                if one.left == 0:
                    self._stop(one)

    def close(self) -> None:
        """Stop all that still run."""
        for one in self._all.values():
            self._stop(one)

    def _start(self, one: _Server) -> None:
        one.slot = taken(self._slots, self._rules)
        if one.slot is None:
            return
        folders.set_aside(one.place)
        run_id = f"{one.place.parent.name}-{secrets.token_hex(4)}"
        body = {"run_id": run_id, "command": one.command}
        (one.place / folders.ASKED).write_text(
            json.dumps(body, ensure_ascii=False), encoding="utf-8"
        )
        words = supervised.python("helpers.batch.host", one.place)
        env, log = supervised.environment(one.slot.variables), one.place / folders.LOG
        one.child, one.identity = process.spawn(words, env, log, one.place)
        while not (one.place / folders.READY).exists() and one.child.poll() is None:
            if self._rules.ending.is_set():
                return
            time.sleep(supervised.POLL)
        told = _read(one.place / folders.READY)
        if "base_url" in told:
            served = told["served_model_name"]
            one.given = {
                "ENGINE": "remote", "BASE_URL": told["base_url"], "SERVED_MODEL_NAME": served
            }  # fmt: skip
            return
        code = told.get("code", "run.killed")
        status = process.told_status(one.child.poll())
        one.failed = NotStarted(code, told.get("message") or messages.text(code, status=status))

    def _stop(self, one: _Server) -> None:
        if one.child is None or one.identity is None:
            return
        supervised.asked_to_end(one.child)
        process.end(one.identity, one.child, grace=0.0)
        told, aside = _read(one.place / folders.ENDED), self._rules.aside
        aside.servers += 1
        aside.starts += told.get("starts", 0)
        aside.left += told.get("processes_left", 1)
        aside.ports += told.get("ports_left", [])
        one.child = None
        if one.slot is not None:
            self._slots.put(one.slot)


def taken(slots: queue.Queue[Slot], rules: Rules) -> Slot | None:
    """Return a device of the pool as soon as one is free; None where the batch ends before."""
    while not rules.ending.is_set():
        try:
            return slots.get(timeout=supervised.POLL)
        except queue.Empty:
            continue
    return None


def together(tasks: Sequence[Task]) -> list[Task]:
    """Return the runs in order, those of one server next to each other, so that it holds its device
    no longer than it must.
    """
    first: dict[str, int] = {}
    for number, task in enumerate(tasks):
        first.setdefault(key(task), number)
    return sorted(tasks, key=lambda task: first[key(task)])


def key(task: Task) -> str:
    """Return what is equal for runs that share a server."""
    return digest(task.command) if task.command else task.key


def _read(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}
