"""The executor of this machine: processes of a pool, one device a run, one server for those that
share it.

A run that starts an engine takes a device out of the pool; so does a shared server. Where there are
several, each has a state directory of its own, since "one device, one server" is kept there.
"""

from __future__ import annotations

import contextlib
import queue
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path

from helpers import engines, marked, paths
from helpers.batch import folders, prepared, shared, supervised
from helpers.batch.tasks import Finished, Rules, Slot, Task, Told
from helpers.schemas import RunRecord

SHARED = ("models", "downloads", "verified", "atomgit-home")
"""What all devices' state directories have in common: weights and the records of their download."""


def run(tasks: Sequence[Task], rules: Rules, told: Told, finished: Finished) -> None:
    """Run all tasks, at most `rules.workers` at once.

    Raises:
        KeyboardInterrupt: after what ran has been ended.
    """
    pool: queue.Queue[Slot] = queue.Queue()
    for slot in slots(rules.devices or engines.Ascend().devices()):
        pool.put(slot)
    servers = shared.Servers(tasks, rules, pool)
    with (
        _begins(min(rules.workers, len(tasks))) as begins,
        ThreadPoolExecutor(rules.workers) as threads,
    ):
        futures: dict[Future[RunRecord | None], Task] = {
            threads.submit(_one, task, rules, pool, begins, servers, told): task
            for task in shared.together(tasks)
        }
        try:
            for future in as_completed(futures):
                record = future.result()
                if record is not None:
                    finished(futures[future], record)
        finally:
            rules.ending.set()
            with marked.undisturbed():
                threads.shutdown(wait=True, cancel_futures=True)
                servers.close()


@contextlib.contextmanager
def _begins(count: int) -> Iterator[queue.Queue[supervised.Begin | None]]:
    """Yield what begins the runs, one for each that goes on at a time."""
    found: queue.Queue[supervised.Begin | None] = queue.Queue()
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            if sys.platform == "linux":
                one = prepared.Prepared()
                stack.callback(one.close)
                found.put(one.begin)
            else:
                found.put(None)
        yield found


def slots(devices: Sequence[int]) -> list[Slot]:
    """Return the pool: a slot for each device; one without a number where there is at most one."""
    if len(devices) < 2:
        return [Slot({"LAB_DEVICES": f"[{devices[0]}]"} if devices else {})]
    return [
        Slot(
            {
                "LAB_DEVICES": f"[{device}]",
                "LAB_PORT": "0",
                "LAB_STATE_DIR": str(state_of(str(device))),
            }
        )
        for device in devices
    ]


def state_of(device: str) -> Path:
    """Return a device's own state directory, made with links to what all of them share."""
    folder = paths.state_dir() / "devices" / device
    folder.mkdir(parents=True, exist_ok=True)
    for name in SHARED:
        common, link = paths.state_dir() / name, folder / name
        common.mkdir(exist_ok=True)
        if not link.exists():
            link.symlink_to(common, target_is_directory=True)
    return folder


def _one(
    task: Task,
    rules: Rules,
    pool: queue.Queue[Slot],
    begins: queue.Queue[supervised.Begin | None],
    servers: shared.Servers,
    told: Told,
) -> RunRecord | None:
    """Return the record of a run, of its last attempt; None where the batch ended before it."""
    begin, slot = begins.get(), shared.taken(pool, rules) if task.device else None
    variables = {**task.variables, **(slot.variables if slot else {})}
    try:
        with servers.used(task) as given:
            asked = replace(task, job=replace(task.job, parameters=task.job.parameters | given))
            return _attempts(asked, rules, begin, variables, lambda _, state: told(task, state))
    except shared.NotStarted as failure:
        told(task, "running")
        found = supervised.lost(task.job, task.key, failure.code, failure.said, 0.0)
        folders.set_aside(task.place)
        folders.write(task.place, found)
        return found
    finally:
        begins.put(begin)
        if slot is not None:
            pool.put(slot)


def _attempts(
    task: Task,
    rules: Rules,
    begin: supervised.Begin | None,
    variables: dict[str, str],
    told: Told,
) -> RunRecord | None:
    found: RunRecord | None = None
    for number in range(1, rules.retries + 2):
        if rules.ending.is_set():
            break
        told(task, "running" if number == 1 else "again")
        found = supervised.attempt(
            task.job, task.place, task.key, rules.ending, rules.timeout, variables, begin
        )
        found.run.attempts = number
        folders.write(task.place, found)
        if supervised.outcome(found) not in rules.retry_on:
            break
    return found
