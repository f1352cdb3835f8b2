"""Tell those who work in threads that the kernel was interrupted: SIGINT reaches the main thread.

Heard while a cell runs (it ends with KeyboardInterrupt) and while none does, when ipykernel would
ignore the signal. Stops nothing itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

_stops: list[Callable[[], object]] = []


def watch(stop: Callable[[], object]) -> None:
    """Have a function called whenever this kernel is interrupted; it must return at once."""
    if not _stops:
        _listen()
    _stops.append(stop)


def _tell() -> None:
    for stop in _stops:
        stop()


def _listen() -> None:
    ipython = sys.modules["IPython"].get_ipython()
    ipython.events.register("post_run_cell", _after_cell)
    kernel = ipython.kernel
    # ipykernel keeps here what it sets again after this cell (kernelbase.py, post_handler_hook).
    before = getattr(kernel, "saved_sigint_handler", None)

    def while_idle(number: int, frame: Any) -> None:
        _tell()
        if callable(before):
            before(number, frame)

    kernel.saved_sigint_handler = while_idle


def _after_cell(result: Any) -> None:
    # Between two statements IPython is in its own code, and calls the error "before".
    if isinstance(result.error_in_exec or result.error_before_exec, KeyboardInterrupt):
        _tell()
