"""The executor of a Ray cluster: each run is a Ray task, on this machine or, with RAY_ADDRESS, on a
cluster that is there. Imported only where a matrix asks for it; Ray is an extra of its own.

Ray decides where a run goes; an NPU is Ray's resource "NPU", whose ASCEND_RT_VISIBLE_DEVICES Ray
sets in the task's process. Notebooks and results travel with the task: nodes need the course
installed, no common file system. Secrets do not travel: LAB_API_KEY is set on the nodes.

Source: Ray 2.60, ray/_private/accelerators/npu.py; docs.ray.io, "Accelerator Support" and
"ray.init" (how an address is found).
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import socket
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

from filelock import FileLock

from helpers import catalog, marked, messages, paths
from helpers.batch import folders, local, supervised
from helpers.batch.job import Job
from helpers.batch.problems import RayMissing, RayUnreachable
from helpers.batch.tasks import Finished, Rules, Task, Told
from helpers.schemas import RunRecord

LOCK = "requirements/cluster.lock"
CONNECT = 10.0
"""Seconds that a head node has to take a connection."""
Files = dict[str, bytes]


def run(tasks: Sequence[Task], rules: Rules, told: Told, finished: Finished) -> None:
    """Run all tasks on the cluster, at most `rules.workers` at once. What a run had written is lost
    where its node goes away or the batch is interrupted; the record says so.

    Raises:
        RayMissing, RayUnreachable: there is no Ray, or no cluster.
        KeyboardInterrupt: after what ran has been asked to end.
    """
    with _connected(rules.workers) as ray:
        remote, npus = ray.remote(_perform), bool(ray.cluster_resources().get("NPU"))
        waiting = deque((task, 1) for task in tasks)
        running: dict[Any, tuple[Task, int]] = {}
        try:
            while waiting or running:
                while waiting and len(running) < rules.workers:
                    task, number = waiting.popleft()
                    begun = remote.options(**_options(task, npus)).remote(*_arguments(task, rules))
                    running[begun] = task, number
                    told(task, "running" if number == 1 else "again")
                (ended,), _ = ray.wait(list(running))
                task, number = running.pop(ended)
                record = _received(ray, ended, task, number)
                if number <= rules.retries and supervised.outcome(record) in rules.retry_on:
                    waiting.appendleft((task, number + 1))
                else:
                    finished(task, record)
        finally:
            with marked.undisturbed():
                _cancelled(ray, running)


@contextlib.contextmanager
def _connected(workers: int) -> Iterator[Any]:
    """Yield Ray, connected to the cluster of RAY_ADDRESS or to one of this machine alone."""
    if importlib.util.find_spec("ray") is None:
        raise RayMissing(command=f"{paths.shown(sys.executable)} -m pip install -r {LOCK}")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    address = os.environ.get("RAY_ADDRESS") or "local"
    alone = {"num_cpus": workers, "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    here = address == "local"
    with _signals_kept():
        try:
            _answers(address)
            ray.init(address, log_to_driver=False, logging_level="ERROR", **(alone if here else {}))
        except Exception as error:  # noqa: BLE001 - a node that does not come up is a bare Exception
            told = messages.text("run.ray_here") if here else address
            raise RayUnreachable(address=told, original=str(error)) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _answers(address: str) -> None:
    """Try to connect to host:port: Ray itself takes minutes to find that nobody listens there.

    Raises:
        OSError: nobody does.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdigit():
        socket.create_connection((host, int(port)), CONNECT).close()


@contextlib.contextmanager
def _signals_kept() -> Iterator[None]:
    """Keep what SIGTERM does here: Ray takes it for itself, and the batch would end unreported."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, before)


def _options(task: Task, npus: bool) -> dict[str, Any]:
    """Return what Ray needs to know of a task. It is not to repeat it: which end of a run is worth
    another attempt, the matrix says.
    """
    options: dict[str, Any] = {"num_cpus": 1, "max_retries": 0, "name": task.job.title}
    return options | ({"resources": {"NPU": 1}} if task.device and npus else {})


def _arguments(task: Task, rules: Rules) -> tuple[Any, ...]:
    try:
        source = task.job.notebook.read_bytes()
    except OSError:
        source = b""  # the run tells that it is not there
    names = catalog.labs().get(task.job.lab, {}).get("parameters", [])
    given = {name: os.environ[name] for name in map("LAB_{}".format, names) if name in os.environ}
    variables = {**given, **task.variables}
    return task.job, source, task.key, rules.timeout, messages.language(), task.device, variables


def _perform(
    job: Job,
    source: bytes,
    key: str,
    timeout: float | None,
    language: str,
    device: bool,
    variables: dict[str, str],
) -> tuple[str, Files]:
    """Return the record of a run and its files; this is the task, on a node of the cluster."""
    messages.use(language)
    with tempfile.TemporaryDirectory(prefix="labs-") as folder, _device(device) as own:
        notebook, place = Path(folder) / f"{job.lab}.ipynb", Path(folder) / "run"
        if source:
            notebook.write_bytes(source)
        here = replace(job, notebook=notebook)
        record = supervised.attempt(here, place, key, Event(), timeout, {**variables, **own})
        names = (folders.target(place, job).name, folders.LOG)
        files = {name: (place / name).read_bytes() for name in names if (place / name).exists()}
        return record.model_dump_json(by_alias=True), files


@contextlib.contextmanager
def _device(wanted: bool) -> Iterator[dict[str, str]]:
    """Yield the variables of the device that a run has to itself: the NPU that Ray has given it;
    without NPUs the machine, for which runs wait in turn.
    """
    card = os.environ.get("ASCEND_RT_VISIBLE_DEVICES")
    if not wanted:
        yield {}
    elif card:
        state = local.state_of(f"ray-{card.replace(',', '-')}")
        yield {"LAB_PORT": "0", "LAB_STATE_DIR": str(state)}
    else:
        state = local.state_of("ray")
        with FileLock(state / "run.lock"):
            yield {"LAB_PORT": "0", "LAB_STATE_DIR": str(state)}


def _received(ray: Any, ended: Any, task: Task, number: int) -> RunRecord:
    """Return the record of a task that is over; its files are in the run's folder then."""
    folders.set_aside(task.place)
    try:
        told, files = ray.get(ended)
        for name, content in files.items():
            (task.place / name).write_bytes(content)
        record = RunRecord.model_validate_json(told)
    except ray.exceptions.RayError as error:
        own = isinstance(error, ray.exceptions.RayTaskError)
        record = _lost(task, "run.task_failed" if own else "run.node_lost", status=_said(error))
    record.run.attempts = number
    folders.write(task.place, record)
    return record


def _lost(task: Task, code: str, **values: str) -> RunRecord:
    return supervised.lost(task.job, task.key, code, messages.text(code, **values), 0.0)


def _said(error: Exception) -> str:
    """Return the kind of an error and the last line of what it says: Ray's own text is a page."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return ": ".join([type(error).__name__, *lines[-1:]])


def _cancelled(ray: Any, running: dict[Any, tuple[Task, int]]) -> None:
    """Ask what still runs to end, and wait as long as a run may take to stop its engine."""
    for reference, (task, _) in running.items():
        ray.cancel(reference)
        folders.set_aside(task.place)
        folders.write(task.place, _lost(task, "run.interrupted"))
    if running:
        ray.wait(list(running), num_returns=len(running), timeout=supervised.GRACE)
