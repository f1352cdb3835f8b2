"""nbval on other weights and another machine: every checkpoint's status is compared, the rest only where it may be.

Loaded by name (`-p tests.notebooks.nbval_npu`, with --nbval-lax) by regression.py. A cell whose source has the tag
nbval-check-output gives the same output with any model on any machine, and is compared as in a strict run. Of every
other cell only the checkpoints count. Not for strict runs on the CPU engine: there nbval compares each cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from nbval import plugin

from helpers import catalog
from helpers.checkpoint import MIME

SANITIZE = Path(__file__).with_name("sanitize_npu.cfg")
Record = Mapping[str, Any]


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Let a notebook be sanitized by sanitize_npu.cfg too, after the file of the command line."""
    if isinstance(collector, plugin.IPyNbFile):
        given = collector.get_sanitize_files
        collector.get_sanitize_files = lambda: [*given(), str(SANITIZE)]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have each cell's outputs compared by `compare`, tagged or not."""
    for item in items:
        if isinstance(item, plugin.IPyNbCell):
            _watch(item)


def _watch(cell: Any) -> None:
    tagged, strictly = cell.options["check"], cell.compare_outputs

    def compare(found: Sequence[Any], stored: Sequence[Any]) -> bool:
        cell.comparison_traceback = problems(records(stored), records(found))
        if cell.comparison_traceback:
            return False
        return not tagged or bool(strictly(others(found), others(stored)))

    cell.compare_outputs, cell.options["check"] = compare, True


def records(outputs: Sequence[Any]) -> list[Record]:
    """Return the checkpoints among a cell's outputs."""
    return [output["data"][MIME] for output in outputs if MIME in output.get("data", {})]


def others(outputs: Sequence[Any]) -> list[Any]:
    """Return a cell's outputs without the checkpoints."""
    return [output for output in outputs if MIME not in output.get("data", {})]


def problems(stored: Sequence[Record], found: Sequence[Record]) -> list[str]:
    """Return a line for each checkpoint whose status is not the committed notebook's.

    A step may be skipped where the catalogue says that it needs something of the model or the engine, and a step that
    the stand-in had to skip may pass.

    Args:
        stored: the checkpoints of a cell of the committed notebook.
        found: those of the same cell in this run.
    """
    now = {one["step"]: one for one in found}
    lines = []
    for one in stored:
        seen = now.pop(one["step"], None)
        if seen is None:
            lines.append(
                f"{one['step']}: no checkpoint, the committed notebook has {one['status']}"
            )
        elif seen["status"] != one["status"] and not _allowed(one, seen):
            told = f" ({seen['reason']})" if seen["reason"] else ""
            lines.append(f"{one['step']}: {seen['status']}{told}, not {one['status']}")
    return lines + [f"{step}: not in the committed notebook" for step in now]


def _allowed(stored: Record, found: Record) -> bool:
    if stored["status"] == "skipped":
        return bool(found["status"] == "pass")
    steps = catalog.labs().get(stored["lab"], {}).get("checkpoints", [])
    needs = [
        need for step in steps if step["id"] == stored["step"] for need in step.get("needs", [])
    ]
    return found["status"] == "skipped" and bool(needs) and bool(found["reason"])
