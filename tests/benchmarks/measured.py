"""One figure of a benchmark, in the form of build/bench.json, and how repeated ones are boiled
down.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Figure = dict[str, Any]


def at_most(name: str, value: float, limit: float, unit: str) -> Figure:
    """Return a figure that is good where it is not above its limit."""
    return _figure(name, value, limit, unit, value <= limit)


def at_least(name: str, value: float, limit: float, unit: str) -> Figure:
    """Return a figure that is good where it is not below its limit."""
    return _figure(name, value, limit, unit, value >= limit)


def _figure(name: str, value: float, limit: float, unit: str, ok: bool) -> Figure:
    return {"name": name, "value": round(value, 4), "unit": unit, "limit": limit, "ok": ok}


def interleaved(pairs: int, *measured: Callable[[], float]) -> list[list[float]]:
    """Return each function's values; they take turns, so that a machine that becomes slower
    becomes so for all of them.
    """
    values: list[list[float]] = [[] for _ in measured]
    for _ in range(pairs):
        for found, measure in zip(values, measured, strict=True):
            found.append(measure())
    return values
