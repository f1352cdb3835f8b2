"""Tests of what a class does to a server: a hundred starts and stops, kills in the middle, signals
that must not reach anybody else. On a process double that forks a child, as vLLM does.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from helpers import chat, messages, server
from helpers.errors import ServerGone
from helpers.server import process, state
from helpers.server.problems import ApiServerDied

pytestmark = pytest.mark.usefixtures("own_state")
Start = Callable[..., server.Server]


def test_hundred_starts_and_stops_leave_no_process_no_port_and_no_file(
    start: Start, own_state: Path
) -> None:
    members: list[int] = []
    ports: list[int] = []
    for _ in range(100):
        one = start()
        members += process.members(one._found.identity())
        ports.append(one.port)
        assert one.stop(grace=2.0).ok

    assert not any(process.is_running(pid) for pid in members)
    assert all(process.port_is_free("127.0.0.1", port) for port in ports)
    assert [path.name for path in (own_state / "servers").iterdir()] == ["device.lock"]


@pytest.mark.parametrize(
    "changed",
    [{"boot_id": "another"}, {"pid_namespace": "another"}, {"hostname": "another"}, {"started": 1}],
    ids=lambda value: next(iter(value)),
)
def test_stop_of_what_is_not_ours_signals_nothing(
    start: Start, monkeypatch: pytest.MonkeyPatch, changed: dict[str, object]
) -> None:
    one = start("--delay", "60")
    state.forget(one._path)
    state.write(replace(one._found, **changed))  # type: ignore[arg-type]
    sent: list[object] = []
    with monkeypatch.context() as patch:
        patch.setattr(os, "kill", lambda *words: sent.append(words))
        patch.setattr(os, "killpg", lambda *words: sent.append(words))

        server.stop_all()

    assert sent == []
    assert process.is_running(one.pid)


def test_stop_signals_the_group_of_the_server_and_nothing_else(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = start()
    one.wait_ready(10)
    sent: list[tuple[int, int]] = []
    killpg = os.killpg
    with monkeypatch.context() as patch:
        patch.setattr(os, "kill", lambda *words: sent.append(words))
        patch.setattr(os, "killpg", lambda *words: (sent.append(words), killpg(*words)))

        one.stop()

    assert sent == [(one.pid, signal.SIGTERM)]


def test_answer_of_a_server_that_dies_meanwhile_is_a_typed_error(start: Start) -> None:
    one = start("--answer-after", "60")
    one.wait_ready(10)
    threading.Timer(0.3, os.killpg, (one.pid, signal.SIGKILL)).start()

    with pytest.raises(ServerGone) as caught:
        chat.ask("?", server=one)

    assert caught.value.values["ended"] == "signal SIGKILL"
    assert "Application startup complete" in str(caught.value.evidence)


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_answer_of_a_server_whose_leader_alone_dies_names_what_is_left(
    start: Start, language: str
) -> None:
    one = start("--answer-after", "60")
    one.wait_ready(10)
    child = next(pid for pid in process.members(one._found.identity()) if pid != one.pid)
    threading.Timer(0.3, os.kill, (one.pid, signal.SIGKILL)).start()

    with pytest.raises(ApiServerDied) as caught:
        chat.ask("?", server=one)

    assert str(child) in caught.value.told(language)
    assert one.stop().ok


def test_interrupt_between_the_start_and_its_state_file_leaves_nothing(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def interrupted(found: state.State) -> Path:
        seen.append(found.pid)
        raise KeyboardInterrupt

    monkeypatch.setattr(state, "write", interrupted)

    with pytest.raises(KeyboardInterrupt):
        start()

    assert not process.is_running(seen[0])
