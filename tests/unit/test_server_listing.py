"""Tests of status, stop_all and stop_run: what is found, what is ended, what is left alone; and of
asking too early.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from light.light_engine import SERVER
from setup_fakes import until

from helpers import chat, server
from helpers.errors import NeverStarted, ServerGone, StillStarting, StopFailed
from helpers.server import process, state

pytestmark = pytest.mark.usefixtures("own_state")
Start = Callable[..., server.Server]


def _kill(one: server.Server) -> None:
    """Kill the whole group, and wait until its last process is gone, not the leader only."""
    os.killpg(one.pid, signal.SIGKILL)
    one._child.wait(60)  # type: ignore[union-attr]
    until(lambda: not process.members(one._found.identity()), 60)


def _children(pid: int) -> list[int]:
    return [
        p
        for p in process.members(process.Identity(pid, pid, process.start_ticks(pid) or 0))
        if p != pid
    ]


def test_status_of_nothing_is_empty() -> None:
    assert server.status() == []


def test_status_of_a_loading_server_is_starting(start: Start) -> None:
    one = start("--delay", "60")

    rows = server.status()

    assert [(row.state, row.pid, row.port) for row in rows] == [("starting", one.pid, one.port)]


def test_status_of_a_serving_server_is_ready_with_its_age(start: Start) -> None:
    one = start()
    one.wait_ready(10)

    row = server.status()[0]

    assert (row.state, row.served_model_name) == ("ready", "Light")
    assert 0 <= row.seconds < 30
    assert Path(row.log).is_file()


def test_status_of_a_killed_server_is_dead(start: Start) -> None:
    one = start()
    one.wait_ready(10)
    _kill(one)

    assert [row.state for row in server.status()] == ["dead"]


@pytest.mark.parametrize(
    ("field", "expected"),
    [("hostname", "foreign"), ("pid_namespace", "foreign"), ("boot_id", "dead")],
)
def test_status_of_another_machines_file_is_not_judged_by_its_number(
    start: Start, field: str, expected: str
) -> None:
    one = start("--delay", "60")
    state.write(replace(one._found, **{field: "another"}))

    assert [row.state for row in server.status()] == [expected]


def test_status_as_json_has_the_keys_of_the_design(start: Start) -> None:
    start("--delay", "60")

    rows = json.loads(json.dumps([row.as_json() for row in server.status()]))

    assert list(rows[0]) == ["port", "served_model_name", "state", "pid", "seconds", "log"]


def test_stop_all_tells_a_line_for_each(start: Start) -> None:
    one = start()
    one.wait_ready(10)

    lines = server.stop_all()

    assert len(lines) == 1
    assert f"Light :{one.port} pid {one.pid}" in lines[0]
    assert server.status() == []


def test_stop_all_of_another_port_stops_nothing(start: Start) -> None:
    one = start("--delay", "60")

    assert server.stop_all(one.port + 1) == []
    assert one.status == "starting"


def test_stop_all_leaves_another_containers_server_alone(start: Start) -> None:
    one = start("--delay", "60")
    path = state.write(replace(one._found, pid_namespace="another"))

    assert server.stop_all() == []
    assert path.exists()
    assert process.members(one._found.identity())


def test_stop_all_of_a_dead_one_whose_port_a_stranger_took_removes_its_file(start: Start) -> None:
    one = start("--delay", "60")
    _kill(one)
    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", one.port))
        stranger.listen()

        lines = server.stop_all()

    assert len(lines) == 1
    assert server.status() == []


@pytest.mark.parametrize("stop", ["stop_all", "stop_run"])
def test_stop_goes_on_after_one_that_cannot_be_stopped(
    start: Start, session_run: str, monkeypatch: pytest.MonkeyPatch, stop: str
) -> None:
    words = [session_run] if stop == "stop_run" else []
    one = start("--delay", "60")
    state.write(replace(one._found, port=1, started=0))
    end = process.end
    with monkeypatch.context() as patch:
        patch.setattr(process, "end", lambda i, *a: [os.getpid()] if i.started == 0 else end(i, *a))

        with pytest.raises(StopFailed):
            getattr(server, stop)(*words)

    assert process.members(one._found.identity()) == []


def test_stop_run_ends_only_its_own_run(
    start: Start, session_run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_RUN", f"{session_run}-other")
    one = start("--delay", "60")

    server.stop_run(f"{session_run}-third")
    alive = process.members(one._found.identity())
    server.stop_run(f"{session_run}-other")

    assert len(alive) >= 1
    assert process.members(one._found.identity()) == []


def test_stop_run_ends_a_server_whose_state_file_is_missing(
    start: Start, session_run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = f"{session_run}-lost"
    monkeypatch.setenv("LAB_RUN", run)
    one = start()
    one.wait_ready(10)  # for a moment after its start a process has no environment to read
    one._path.unlink()

    proofs = server.stop_run(run)

    assert len(proofs) == 1
    assert process.members(one._found.identity()) == []


def test_stop_run_ends_a_child_whose_leader_died_and_whose_state_file_is_missing(
    start: Start, session_run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = f"{session_run}-orphan"
    monkeypatch.setenv("LAB_RUN", run)
    one = start("--orphan", "--die-after", "0.2", "--delay", "60")
    one._child.wait(10)  # type: ignore[union-attr]
    one._path.unlink()
    left = process.members(one._found.identity())

    server.stop_run(run)

    assert len(left) == 1
    assert process.members(one._found.identity()) == []


def test_stop_run_ends_a_child_that_opened_a_session_of_its_own(
    start: Start, session_run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = f"{session_run}-escape"
    monkeypatch.setenv("LAB_RUN", run)
    one = start("--escape")
    one.wait_ready(10)
    escaped = int(Path(f"/proc/{one.pid}/task/{one.pid}/children").read_text().split()[0])

    server.stop_run(run)

    assert not process.members(process.Identity(escaped, escaped, 0))


def test_stop_run_does_not_end_the_process_that_asks(session_run: str, tmp_path: Path) -> None:
    code = f"from helpers import server; server.stop_run({session_run!r} + '-self'); print('alive')"
    env = os.environ | {"LAB_RUN": f"{session_run}-self", "LAB_STATE_DIR": str(tmp_path / "state")}

    done = subprocess.run(
        [sys.executable, "-c", code],
        env=env,
        capture_output=True,
        text=True,
        start_new_session=True,
    )

    assert done.stdout == "alive\n"


def test_ask_before_anything_was_started_is_told() -> None:
    with pytest.raises(NeverStarted):
        chat.ask("Hello")


def test_ask_while_loading_is_told_still_starting(start: Start) -> None:
    one = start("--delay", "60")

    with pytest.raises(StillStarting) as caught:
        chat.ask("Hello")

    assert one.base_url in caught.value.what
    assert "refused" in str(caught.value.original)


def test_ask_after_this_kernel_stopped_the_server_is_told_that_there_is_none(start: Start) -> None:
    one = start()
    one.wait_ready(10)
    one.stop()

    with pytest.raises(NeverStarted) as caught:
        chat.ask("Hello")

    assert one.base_url in caught.value.why


def test_ask_after_the_server_died_is_told_gone_with_its_log(start: Start) -> None:
    one = start()
    one.wait_ready(10)
    os.killpg(one.pid, signal.SIGKILL)

    with pytest.raises(ServerGone) as caught:
        chat.ask("Hello")

    assert "SIGKILL" in caught.value.what
    assert "Application startup complete" in str(caught.value.evidence)


def test_ask_a_serving_server_returns_its_answer_labelled(start: Start) -> None:
    start().wait_ready(10)

    answer = chat.ask("Hello")

    assert (answer.text, answer.finish_reason, answer.stand_in) == ("light: Hello", "stop", True)
    assert "STAND-IN" in str(answer)


def test_server_outlives_the_process_that_started_it(tmp_path: Path, session_run: str) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\n"
        "from light.light_engine import LightEngine, light_model, light_options\n"
        "from helpers import server\n"
        "print(server.start(LightEngine(), light_model(Path(sys.argv[2])), light_options(0)).pid)"
    )
    words = [sys.executable, "-c", code, str(SERVER.parents[1]), str(tmp_path / "model")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)

    deadline = time.monotonic() + 10
    while [row.state for row in server.status()] != ["ready"] and time.monotonic() < deadline:
        time.sleep(0.05)

    assert [row.pid for row in server.status()] == [int(done.stdout)]
    assert len(server.stop_all()) == 1
