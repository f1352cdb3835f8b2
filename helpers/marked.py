"""What surrounds a run: its id in the environment, and signals that end it like Ctrl-C."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

# Windows, where only the remote engine runs, has no SIGHUP.
ENDING = [n for n in (signal.SIGTERM, getattr(signal, "SIGHUP", None)) if n is not None]


@contextmanager
def run_id(name: str) -> Iterator[None]:
    """Set LAB_RUN for what is started meanwhile, and put back what was there."""
    before = os.environ.get("LAB_RUN")
    os.environ["LAB_RUN"] = name
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("LAB_RUN", None)
        else:
            os.environ["LAB_RUN"] = before


@contextmanager
def undisturbed() -> Iterator[None]:
    """Ignore Ctrl-C and the other requests to end while a teardown lasts (its time is bounded)."""
    numbers = [signal.SIGINT, *ENDING]
    before = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def terminated_like_ctrl_c() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into KeyboardInterrupt while a run is on.

    The end of a job must also end its engines.
    """

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
