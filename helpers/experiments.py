"""Experiments that this kernel must not make on itself: cells that end or break a kernel, and what
an event does to processes that were started in different ways.

They run in a second kernel, through nbclient; every process that they start carries a random token
and has ended when the function returns. Not for starting servers: that is `server`'s.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

import nbformat
from jupyter_core.utils import run_sync
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError

from helpers import messages, tokens
from helpers.tables import Table

LIGHT = "{python} -m helpers.light --token {token}"
WAYS = {
    # A kernel that has not waited for a dead child takes seconds to restart gracefully (the zombie
    # still counts) and is then ended with its whole group. The threads wait, so that one row does
    # not change another.
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
    "!… & echo": "!" + LIGHT + " > /dev/null 2>&1 & echo started",
}
"""Way of starting, as the lab's table names it → the cell that does it."""

NEVER_LIVES = "!… & echo"
"""The way whose process ends with the line that started it."""

PATIENCE = 60.0
"""Seconds that a graceful end may take. jupyter_client's own 5 would make the table depend on the
machine's load: half of them gone, it ends the kernel's whole group.
"""

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
    """What papermill made of a notebook: its exit status, and how many cells it executed."""

    returncode: int
    executed: int
    cells: int


def versions() -> dict[str, str]:
    """Return the versions that the experiments depend on."""
    names = ("ipykernel", "ipython", "nbclient", "papermill")
    return {name: metadata.version(name) for name in names}


def run_cells(cells: Sequence[str], timeout: float = 60.0) -> list[CellResult]:
    """Return what became of each cell in a second kernel, which ends afterwards.

    Args:
        cells: sources, run in order; an error does not stop the next one, a dead kernel does.
        timeout: seconds for one cell.
    """
    return list(run_sync(_run_cells)(list(cells), timeout))


async def _run_cells(cells: list[str], timeout: float) -> list[CellResult]:
    results: list[CellResult] = []
    leaves = False

    def told(execute_reply: Mapping[str, Any], **_: object) -> None:
        nonlocal leaves
        payload = execute_reply["content"].get("payload", [])
        leaves = any(one.get("source") == "ask_exit" for one in payload)

    with tempfile.TemporaryDirectory() as folder:
        client = _client(cells, folder, timeout)
        client.on_cell_executed = told
        async with client.async_setup_kernel(**_quiet()):
            for number, cell in enumerate(client.nb.cells):
                if results and not results[-1].alive:
                    results.append(CellResult("not run", alive=False))
                    continue
                try:
                    await client.async_execute_cell(cell, number)
                except DeadKernelError as error:
                    name = type(error).__name__
                    results.append(CellResult("error", name, str(error), alive=False))
                    continue
                # A kernel that was asked to exit answers first and ends a moment later.
                results.append(_result(cell, alive=not (leaves and await _has_died(client))))
    return results


def _result(cell: Any, alive: bool) -> CellResult:
    errors = [one for one in cell.outputs if one.output_type == "error"]
    printed = "".join(one.text for one in cell.outputs if one.get("name") == "stdout")
    if not errors:
        return CellResult("ok", stdout=printed, alive=alive)
    return CellResult("error", errors[0].ename, errors[0].evalue, printed, alive)


async def _has_died(client: Any, limit: float = 10.0) -> bool:
    deadline = time.monotonic() + limit
    while await client.km.is_alive():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.05)
    return True


def run_papermill(cells: Sequence[str]) -> PapermillResult:
    """Return what papermill says of a notebook with these cells; `python -m papermill` really
    runs.
    """
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.ipynb", Path(folder) / "out.ipynb"
        source.write_text(json.dumps(_notebook(cells)), encoding="utf-8")
        options = ["-k", "python3", "--cwd", folder, "--no-progress-bar", "--log-level", "CRITICAL"]
        argv = [sys.executable, "-m", "papermill", str(source), str(target), *options]
        done = subprocess.run(argv, capture_output=True, stdin=subprocess.DEVNULL)
        told = json.loads(target.read_text(encoding="utf-8"))["cells"]
    own = [one for one in told if "".join(one["source"]) in cells]  # papermill may add a banner
    ran = sum(one["execution_count"] is not None for one in own)
    return PapermillResult(done.returncode, ran, len(cells))


def survivors(event: str) -> dict[str, bool]:
    """Return, for each way of starting, whether its process outlives an event.

    One second kernel starts a light process in each way; then the event really happens to it.
    Whatever still runs afterwards is ended.

    Args:
        event: key of EVENTS.
    Raises:
        KeyError: no such event.
    """
    if event not in EVENTS:
        raise KeyError(event)
    carried = {way: tokens.new() for way in WAYS}
    try:
        alive = run_sync(_survivors)(event, carried)
    finally:
        tokens.end(*carried.values())
    return {way: token in alive for way, token in carried.items()}


def table(outcomes: Mapping[str, Mapping[str, bool]]) -> Table:
    """Return the table of what survives.

    Args:
        outcomes: event → what `survivors` returned for it.
    """
    head = [messages.text("experiment.way"), *(messages.text(EVENTS[one]) for one in outcomes)]
    told = {True: messages.text("experiment.lives"), False: messages.text("experiment.dies")}
    return Table(head, [(way, *(told[one[way]] for one in outcomes.values())) for way in WAYS])


async def _survivors(event: str, carried: Mapping[str, str]) -> set[str]:
    cells = [
        source.format(python=sys.executable, token=carried[way]) for way, source in WAYS.items()
    ]
    with tempfile.TemporaryDirectory() as folder:
        client = _client(cells, folder, timeout=60.0)
        client.shutdown_kernel = "graceful" if event == "finished" else "immediate"
        async with client.async_setup_kernel(**_quiet()):
            client.km.shutdown_wait_time = PATIENCE
            for number, cell in enumerate(client.nb.cells):
                await client.async_execute_cell(cell, number)
            await _have_started([carried[way] for way in WAYS if way != NEVER_LIVES])
            if event != "finished":
                await _happen(event, client)
                return await tokens.steady(carried.values(), 1.2)
    return await tokens.steady(carried.values(), 1.2)


async def _have_started(wanted: Sequence[str], limit: float = 20.0) -> None:
    """Return once all processes run and have had a moment to get ready."""
    deadline = time.monotonic() + limit
    while len(tokens.find(*wanted)) < len(wanted) and time.monotonic() < deadline:
        await asyncio.sleep(0.1)
    await tokens.steady(wanted, 0.5)


async def _happen(event: str, client: Any) -> None:
    if event == "interrupt":
        await client.km.interrupt_kernel()
    elif event == "killed":
        os.kill(client.km.provisioner.pid, signal.SIGKILL)
        await _has_died(client)
    else:
        await client.km.restart_kernel(now=event == "restart_now")


def _notebook(cells: Sequence[str]) -> Any:
    made: Any = nbformat.v4  # its functions carry no types
    return made.new_notebook(cells=[made.new_code_cell(one) for one in cells])


def _client(cells: Sequence[str], folder: str, timeout: float) -> Any:
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
