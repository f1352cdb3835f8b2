"""Tests of a server's death on a process double: told at once, with its code and the end of its
log.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers import messages, server
from helpers.errors import ServerDied, UnrecognizedArguments
from helpers.server import process

pytestmark = pytest.mark.usefixtures("own_state")
Start = Callable[..., server.Server]


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_death_while_loading_is_told_at_once_with_code_and_log(start: Start, language: str) -> None:
    one = start("--delay", "60", "--die-after", "0.3", "--exit-code", "3")
    _until(lambda: not Path(f"/proc/{one.pid}/cmdline").read_bytes())
    begun = time.monotonic()

    with pytest.raises(ServerDied) as caught:
        one.wait_ready(60)

    assert time.monotonic() - begun < 1.0
    told = caught.value.told(language)
    assert "exit code 3" in told
    assert "RuntimeError: the light server was told to die" in told
    assert caught.value.original == "RuntimeError: the light server was told to die"
    assert caught.value.diagnosis is None


def test_death_during_the_wait_is_told_within_a_second(start: Start) -> None:
    one = start("--delay", "60", "--die-after", "0.5")

    with pytest.raises(ServerDied):
        one.wait_ready(60)

    last_words = one._log.stat().st_mtime
    assert time.time() - last_words < 1.0


def test_death_of_the_leader_alone_is_told_although_its_child_lives(start: Start) -> None:
    one = start("--delay", "60", "--die-after", "0.3", "--orphan")

    with pytest.raises(ServerDied):
        one.wait_ready(60)

    assert len(one.processes()) == 1
    assert one.stop().ok


def test_death_by_a_signal_names_the_signal(start: Start) -> None:
    one = start("--delay", "60")
    os.kill(one.pid, signal.SIGKILL)

    with pytest.raises(ServerDied, match="SIGKILL"):
        one.wait_ready(10)


def test_death_by_an_unknown_argument_names_it(start: Start) -> None:
    one = start("--max-modle-len", "8")

    with pytest.raises(UnrecognizedArguments) as caught:
        one.wait_ready(10)

    assert caught.value.values["argument"] == "--max-modle-len 8"
    assert "exit code 2" in str(caught.value)


def test_adopted_server_whose_leader_died_is_told_dead(start: Start) -> None:
    port = process.free_port("127.0.0.1")
    one = start(port=port)
    one.wait_ready(10)
    other = start(port=port)
    os.kill(one.pid, signal.SIGKILL)
    one._child.wait(10)  # type: ignore[union-attr]

    with pytest.raises(ServerDied):
        other.wait_ready(3)

    assert len(other.processes()) == 1


def _until(holds: Callable[[], object], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it never came to hold"
        time.sleep(0.01)
