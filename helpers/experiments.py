"""Experiments that this kernel must not make on itself: cells that end or break a kernel, and what
an event does to processes that were started in different ways.

They run in a second kernel, through nbclient; every process that they start carries a random token
and has ended when the function returns. Not for starting servers: that is `server`'s.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

import nbformat
import psutil
from jupyter_core.utils import run_sync
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError

from helpers import messages
from helpers.server import process
from helpers.tables import Table

LIGHT = "{python} -m helpers.light --token {token}"
WAYS = {
    # In a kernel that has not waited for a child, a graceful restart takes seconds (the zombie
    # still counts as a child) and then ends the whole group. The thread keeps this row's process
    # from changing the others'.
    "Popen(…)": (
        "import subprocess, threading\n"
        "argv = '" + LIGHT + "'.split()\n"
        "quiet = dict.fromkeys(('stdin', 'stdout', 'stderr'), subprocess.DEVNULL)\n"
        "child = subprocess.Popen(argv, **quiet)\n"
        "threading.Thread(target=child.wait, daemon=True).start()"
    ),
    "Popen(…, start_new_session=True)": (
        "argv = '" + LIGHT + "'.split()\n"
        "own = subprocess.Popen(argv, **quiet, start_new_session=True)\n"
        "threading.Thread(target=own.wait, daemon=True).start()"
    ),
    "%%bash … &": "%%bash\n" + LIGHT + " > /dev/null 2>&1 &",
    "%%bash --bg": "%%bash --bg\n" + LIGHT + " > /dev/null 2>&1",
    "!… & echo": "!" + LIGHT + " & echo started",
}
"""Way of starting, as the lab's table names it → the cell that does it."""

EVENTS = {
    "interrupt": "experiment.event.interrupt",
    "restart": "experiment.event.restart",
    "restart_now": "experiment.event.restart_now",
    "killed": "experiment.event.killed",
    "finished": "experiment.event.finished",
}
"""Event → code of its name."""


@dataclass(frozen=True)
class CellResult:
    """What became of one cell.

    Attributes:
        status: "ok" or "error", as nbclient has it; "not run" after the kernel has died.
        ename, evalue: the exception, "" without one.
        stdout: what it printed.
        alive: whether the kernel still ran afterwards.
    """

    status: Literal["ok", "error", "not run"]
    ename: str = ""
    evalue: str = ""
    stdout: str = ""
    alive: bool = True


@dataclass(frozen=True)
class PapermillResult:
    """What papermill made of a notebook: its exit status, and how many cells it really executed."""

    returncode: int
    executed: int
    cells: int


@dataclass(frozen=True)
class NoEngine:
    """Stands for engine and model in a lab that needs neither; its versions are the kernel's."""

    name: None = None
    stand_in: None = None
    distributions: Sequence[str] = field(default=("ipykernel", "ipython", "nbclient", "papermill"))

    def versions(self) -> dict[str, str]:
        """Return the versions that the experiments depend on."""
        return {name: metadata.version(name) for name in self.distributions}


def new_token() -> str:
    """Return a random word that only one process of ours will carry."""
    return secrets.token_hex(8)


def find(*tokens: str) -> dict[str, psutil.Process]:
    """Return the running light processes by token; a shell that merely mentions one does not count,
    nor does a zombie.
    """
    found = {}
    for one in psutil.process_iter():
        try:
            words = one.cmdline()
            if words[:1] != [sys.executable] or "helpers.light" not in words[:3]:
                continue
            token = words[words.index("--token") + 1] if "--token" in words[:-1] else ""
            if token in tokens and one.status() != psutil.STATUS_ZOMBIE:
                found[token] = one
        except psutil.Error:
            continue
    return found


def lives(token: str, steady: float = 1.0, limit: float = 10.0) -> bool:
    """Return whether the light process of a token runs, once that has not changed for a while.

    Args:
        steady: seconds without a change.
        limit: seconds after which the last answer counts anyway.
    """
    return bool(run_sync(_steady)([token], steady, limit))


def end(*tokens: str) -> list[str]:
    """End the light processes of these tokens, and return the tokens whose process is left.

    psutil compares pid and start time before it signals: a number that somebody else has by now is
    not touched.
    """
    for one in find(*tokens).values():
        try:
            one.kill()
        except psutil.Error:
            continue
    deadline = time.monotonic() + 5.0
    while find(*tokens) and time.monotonic() < deadline:
        time.sleep(0.05)
    return sorted(find(*tokens))


def run_cells(cells: Sequence[str], timeout: float = 60.0) -> list[CellResult]:
    """Return what became of each cell in a second kernel, which ends afterwards.

    Args:
        cells: sources, run in order; an error does not stop the next one, a dead kernel does.
        timeout: seconds for one cell.
    """
    results: list[CellResult] = run_sync(_run_cells)(list(cells), timeout)
    return results


async def _run_cells(cells: list[str], timeout: float) -> list[CellResult]:
    results: list[CellResult] = []
    with tempfile.TemporaryDirectory() as folder:
        client = _client(cells, folder, timeout)
        asked_to_exit: list[bool] = []

        def told(execute_reply: Mapping[str, Any], **_: object) -> None:
            payload = execute_reply["content"].get("payload", [])
            asked_to_exit.append(any(one.get("source") == "ask_exit" for one in payload))

        client.on_cell_executed = told
        async with client.async_setup_kernel(**_quiet()):
            for number, cell in enumerate(client.nb.cells):
                if results and not results[-1].alive:
                    results.append(CellResult("not run", alive=False))
                    continue
                try:
                    await client.async_execute_cell(cell, number)
                except DeadKernelError as error:
                    died = CellResult("error", type(error).__name__, str(error), alive=False)
                    results.append(died)
                    continue
                leaves = bool(asked_to_exit) and asked_to_exit[-1]
                results.append(_result(cell, alive=not (leaves and await _has_died(client))))
    return results


def _result(cell: Any, alive: bool) -> CellResult:
    errors = [one for one in cell.outputs if one.output_type == "error"]
    printed = "".join(one.text for one in cell.outputs if one.get("name") == "stdout")
    if not errors:
        return CellResult("ok", stdout=printed, alive=alive)
    return CellResult("error", errors[0].ename, errors[0].evalue, printed, alive)


async def _has_died(client: NotebookClient, limit: float = 10.0) -> bool:
    deadline = time.monotonic() + limit
    while await client.km.is_alive():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.05)
    return True


def run_papermill(cells: Sequence[str]) -> PapermillResult:
    """Return what papermill says of a notebook with these cells: `python -m papermill`, really
    run.
    """
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.ipynb", Path(folder) / "out.ipynb"
        nbformat.write(_notebook(cells), source)
        options = ["-k", "python3", "--cwd", folder, "--no-progress-bar", "--log-level", "CRITICAL"]
        argv = [sys.executable, "-m", "papermill", str(source), str(target), *options]
        done = subprocess.run(argv, capture_output=True, stdin=subprocess.DEVNULL)
        told = nbformat.read(target, as_version=4).cells
    own = [one for one in told if one.cell_type == "code" and one.source in cells]
    ran = sum(one.execution_count is not None for one in own)
    return PapermillResult(done.returncode, ran, len(cells))


def survivors(event: str) -> dict[str, bool]:
    """Return, for each way of starting, whether its process outlives an event.

    One second kernel starts a light process in each way; then the event really happens to it.
    Whatever still runs afterwards is ended.

    Args:
        event: key of EVENTS.
    """
    if event not in EVENTS:
        raise KeyError(event)
    tokens = {way: new_token() for way in WAYS}
    try:
        alive: set[str] = run_sync(_survivors)(event, tokens)
    finally:
        end(*tokens.values())
    return {way: token in alive for way, token in tokens.items()}


def table(outcomes: Mapping[str, Mapping[str, bool]]) -> Table:
    """Return the table of what survives.

    Args:
        outcomes: event → what `survivors` returned for it.
    """
    head = [messages.text("experiment.way"), *(messages.text(EVENTS[one]) for one in outcomes)]
    told = {True: messages.text("experiment.lives"), False: messages.text("experiment.dies")}
    return Table(head, [(way, *(told[one[way]] for one in outcomes.values())) for way in WAYS])


async def _survivors(event: str, tokens: Mapping[str, str]) -> set[str]:
    cells = [
        source.format(python=sys.executable, token=tokens[way]) for way, source in WAYS.items()
    ]
    with tempfile.TemporaryDirectory() as folder:
        client = _client(cells, folder, 60.0)
        client.shutdown_kernel = "graceful" if event == "finished" else "immediate"
        async with client.async_setup_kernel(**_quiet()):
            for number, cell in enumerate(client.nb.cells):
                await client.async_execute_cell(cell, number)
            await _steady(tokens.values(), 0.7, 20.0)
            if event != "finished":
                await _happen(event, client)
                return await _steady(tokens.values(), 1.0, 20.0)
    return await _steady(tokens.values(), 1.0, 20.0)


async def _happen(event: str, client: NotebookClient) -> None:
    if event == "interrupt":
        await client.km.interrupt_kernel()
    elif event == "killed":
        os.kill(client.km.provisioner.pid, signal.SIGKILL)
        await _has_died(client)
    else:
        await client.km.restart_kernel(now=event == "restart_now")


async def _steady(tokens: Iterable[str], steady: float, limit: float) -> set[str]:
    """Return the tokens whose process runs, once that has not changed for `steady` seconds."""
    wanted = list(tokens)
    deadline = time.monotonic() + limit
    seen, since = set(find(*wanted)), time.monotonic()
    while time.monotonic() < min(since + steady, deadline):
        await asyncio.sleep(0.1)
        now = set(find(*wanted))
        if now != seen:
            seen, since = now, time.monotonic()
    return seen


def _notebook(cells: Sequence[str]) -> Any:
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(one) for one in cells])


def _client(cells: Sequence[str], folder: str, timeout: float) -> NotebookClient:
    return NotebookClient(
        _notebook(cells),
        kernel_name="python3",
        timeout=timeout,
        allow_errors=True,
        resources={"metadata": {"path": folder}},
    )


def _quiet() -> dict[str, int]:
    """Return where the second kernel's own streams go: its warnings are not the lab's output."""
    return dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)
