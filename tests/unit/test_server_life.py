"""Tests of one server's life on a process double: start, wait, adopt, refuse, die, stop, and the
proof.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from light.light_engine import LightEngine

from helpers import messages, server
from helpers.errors import (
    DeviceBusy,
    EngineUnavailable,
    PortTaken,
    ServerDied,
    ServerTimeout,
)
from helpers.server import ledger, process, state

pytestmark = pytest.mark.usefixtures("own_state")
Start = Callable[..., server.Server]


def _port() -> int:
    return process.free_port("127.0.0.1")


def test_start_then_wait_then_stop_proves_the_end(start: Start) -> None:
    one = start()
    one.wait_ready(10)
    members = process.members(one._found.identity())

    proof = one.stop()

    assert len(members) == 2
    assert proof.ok
    assert proof.processes_left == []
    assert not any(_runs(pid) for pid in members)
    assert process.port_is_free("127.0.0.1", one.port)
    assert state.read_all() == []


def test_stop_proof_is_told_without_time_port_or_number(start: Start) -> None:
    one = start()
    messages.use("en")

    proof = one.stop()

    assert str(proof) == "processes left: 0; port free: yes; device memory: not applicable (CPU)"


def test_stop_keeps_the_log(start: Start) -> None:
    one = start()
    one.wait_ready(10)

    one.stop()

    assert "Application startup complete" in one.tail()


def test_stop_twice_is_proved_again(start: Start) -> None:
    one = start()
    one.stop()

    assert one.stop().ok


def test_stop_of_a_stubborn_server_kills_it(start: Start) -> None:
    one = start("--stubborn")
    one.wait_ready(10)

    proof = one.stop(grace=0.3)

    assert proof.ok
    assert proof.seconds >= 0.3


def test_stop_while_loading_leaves_nothing(start: Start) -> None:
    one = start("--delay", "60")

    assert one.stop().ok
    assert process.members(one._found.identity()) == []


def test_start_with_port_zero_takes_a_free_one(start: Start) -> None:
    one = start(port=0)

    assert one.port > 0
    assert str(one.port) in one.command
    one.wait_ready(10)


def test_wait_ready_returns_seconds_and_status_is_ready(start: Start) -> None:
    one = start("--delay", "0.3")
    before = one.status

    seconds = one.wait_ready(10)

    assert before == "starting"
    assert 0.3 <= seconds < 10
    assert (one.status, one.is_ready, one.max_model_len) == ("ready", True, 64)


def test_wait_ready_after_the_time_tells_the_stage_and_keeps_the_process(start: Start) -> None:
    one = start("--delay", "60")
    while "Starting to load model" not in one.tail():
        assert one.seconds() < 30

    with pytest.raises(ServerTimeout) as caught:
        one.wait_ready(0.1)

    assert caught.value.values["stage"] == messages.text("server.stage.weights")
    assert "Starting to load model" in str(caught.value.evidence)
    assert one.status == "starting"


def test_start_of_the_same_adopts_it(start: Start, capsys: pytest.CaptureFixture[str]) -> None:
    port = _port()
    one = start(port=port)

    other = start(port=port)

    assert (other.pid, other.adopted, one.adopted) == (one.pid, True, False)
    assert str(one.pid) in capsys.readouterr().out
    other.wait_ready(10)


def test_adopted_server_is_stopped_by_whoever_adopted_it(start: Start) -> None:
    port = _port()
    one = start(port=port)
    other = start(port=port)

    proof = other.stop()

    assert proof.ok
    assert one.status == "dead"


@pytest.mark.parametrize("changed", ["flags", "variables", "version"])
def test_start_of_another_is_refused_and_names_the_first(start: Start, changed: str) -> None:
    port = _port()
    one = start(port=port)
    engines = {
        "flags": LightEngine(("--delay", "0.01")),
        "variables": LightEngine(variables={"VLLM_X": "1"}),
        "version": LightEngine(version="0.0.1"),
    }

    with pytest.raises(DeviceBusy) as caught:
        start(port=port, engine=engines[changed])

    assert caught.value.values == {"name": "Light", "port": port, "pid": one.pid}
    assert one.stop().ok


def test_start_on_another_port_is_refused_while_one_runs(start: Start) -> None:
    start(port=_port())

    with pytest.raises(DeviceBusy):
        start(port=_port())


def test_start_after_the_first_has_died_succeeds_and_keeps_its_state_aside(
    start: Start, own_state: Path
) -> None:
    one = start("--delay", "60", "--die-after", "0.1")
    with pytest.raises(ServerDied):
        one.wait_ready(10)

    other = start()

    assert other.wait_ready(10) >= 0
    assert [path.name for path in (own_state / "servers").glob("*.dead")] == [f"{one.port}.dead"]


def test_start_on_a_strangers_port_names_the_stranger(start: Start) -> None:
    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()
        port = stranger.getsockname()[1]

        with pytest.raises(PortTaken) as caught:
            start(port=port)

    assert str(port) in caught.value.what
    assert str(os.getpid()) in caught.value.what


def test_start_of_a_program_that_is_not_there_is_told_and_holds_nothing(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LightEngine, "command", lambda *_: ["nothing-here"])

    with pytest.raises(EngineUnavailable, match="nothing-here"):
        start()

    assert state.read_all() == []


def test_start_counts_in_the_ledger_of_its_run(start: Start, session_run: str) -> None:
    start()

    assert ledger.count(session_run) == 1


def test_log_of_each_start_is_a_new_file(start: Start) -> None:
    one = start()
    one.stop()

    other = start()

    assert one.log != other.log


def _runs(pid: int) -> bool:
    """Return True for a process that exists and is no zombie waiting for whoever inherited it."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
