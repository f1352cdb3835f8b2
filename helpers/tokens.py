"""Light processes by their token: find them, wait until nothing changes, end them.

A token is a random word on the command line of one process of `helpers.light`. Nothing else is ever
found or signalled here. Servers are recognised otherwise: `server.process`.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
import time
from collections.abc import Iterable

import psutil
from jupyter_core.utils import run_sync


def new() -> str:
    """Return a random word that only one process will carry."""
    return secrets.token_hex(8)


def find(*tokens: str) -> dict[str, psutil.Process]:
    """Return the running light processes by token.

    A shell that merely mentions a token does not count, nor does a zombie.
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


def living(*tokens: str) -> list[str]:
    """Return the tokens whose process runs, sorted, once that has not changed for a second."""
    return sorted(run_sync(steady)(tokens))


async def steady(tokens: Iterable[str], seconds: float = 1.0, limit: float = 20.0) -> set[str]:
    """Return the tokens whose process runs, once that has not changed for some seconds.

    Args:
        seconds: without a change.
        limit: seconds after which the last answer counts anyway.
    """
    wanted = list(tokens)
    deadline = time.monotonic() + limit
    seen, since = set(find(*wanted)), time.monotonic()
    while time.monotonic() < min(since + seconds, deadline):
        await asyncio.sleep(0.1)
        now = set(find(*wanted))
        if now != seen:
            seen, since = now, time.monotonic()
    return seen


def end(*tokens: str) -> list[str]:
    """End the processes of these tokens, and return the tokens whose process is left.

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
