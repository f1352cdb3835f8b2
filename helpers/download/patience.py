"""How long a download waits and how often it tries again: one place for every such figure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Patience:
    """Seconds, and a number of tries.

    Attributes:
        connect: until the hub accepts a connection.
        answer: until it answers a request of ours. The hub's own listing may take 18 s (atomgit
            1.0.17, rate_limiter.py).
        stall: without a single new byte, before the client is ended and started again.
        tries: in a row without a new byte, before giving up; with new bytes it goes on.
        pause: before the second try; doubled before each further one.
    """

    connect: float = 10.0
    answer: float = 30.0
    stall: float = 90.0
    tries: int = 4
    pause: float = 2.0


DEFAULT = Patience()
