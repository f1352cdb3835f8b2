"""One notebook through papermill, each checkpoint told as its cell ends.

Knows no run, no report and no server: `batch` does.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import papermill
from papermill.engines import NBClientEngine, papermill_engines

from helpers.checkpoint import MIME
from helpers.schemas import Checkpoint

Listener = Callable[[Checkpoint], None]


class _WatchedEngine(NBClientEngine):  # type: ignore[misc]  # papermill has no types
    """papermill's own engine, which also tells each checkpoint as its cell ends."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **kwargs: Any) -> Any:
        listener: Listener = kwargs.pop("listener")
        complete = nb_man.cell_complete

        def told(cell: Any, cell_index: int | None = None, **more: Any) -> Any:
            for found in records([cell]):
                listener(found)
            return complete(cell, cell_index, **more)

        nb_man.cell_complete = told
        return super().execute_managed_notebook(nb_man, kernel_name, **kwargs)


papermill_engines.register("labs", _WatchedEngine)


def records(cells: Sequence[Mapping[str, Any]]) -> list[Checkpoint]:
    """Return the checkpoints that cells carry in their outputs, in order."""
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    return [
        Checkpoint(**output["data"][MIME]) for output in outputs if MIME in output.get("data", {})
    ]


def execute(
    notebook: Path, target: Path, parameters: Mapping[str, Any], listener: Listener
) -> None:
    """Run a notebook with parameters; the executed one lies at `target`, also where it failed.

    Its working directory is `work` beside the target.

    Raises:
        PapermillExecutionError: a cell raised.
    """
    work = target.parent / "work"
    work.mkdir(exist_ok=True)
    try:
        papermill.execute_notebook(
            str(notebook),
            str(target),
            parameters=dict(parameters),
            engine_name="labs",
            kernel_name="python3",
            language="python",
            cwd=str(work),
            progress_bar=False,
            # The kernel's own warnings would stand between the lines of progress.
            extra_arguments=["--log-level=50"],
            listener=listener,
        )
    except KeyboardInterrupt:
        # nbclient leaves the task behind that waited for the kernel which it then ends; asyncio
        # would tell that as an error, with a traceback.
        logging.getLogger("asyncio").disabled = True
        raise
