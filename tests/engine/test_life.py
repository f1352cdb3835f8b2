"""Three starts and three ends of the real engine: its processes are killed while it answers and
while it loads, and what is left is told, ended and proved.

Each test starts its own server, because it kills it.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from helpers import chat, offline, server
from helpers.engines import Cpu
from helpers.errors import DeviceBusy, LabError, ServerDied, ServerGone
from helpers.models import Model
from helpers.options import Options
from helpers.server import Server, process, state
from helpers.server.problems import ApiServerDied, EngineDied

LONG = {"min_tokens": 1500, "max_tokens": 1500, "temperature": 1.0, "thinking": False}


@pytest.fixture
def started(device: Cpu, model: Model, options: Options) -> Iterator[Server]:
    """Yield a server of the test's own that has just been started; at the end nothing of it is
    left.
    """
    one = server.start(device, model, options)
    assert isinstance(one, Server)
    members: set[int] = set()
    watching = threading.Event()
    thread = threading.Thread(target=_collect, args=(one, members, watching))
    thread.start()
    yield one
    proof = one.stop()
    watching.set()
    thread.join()

    assert proof.ok, proof
    assert len(members) >= 2
    assert [pid for pid in members if process.is_running(pid)] == []
    assert server.port_is_free("127.0.0.1", one.port)
    assert one.port not in [found.port for _, found in state.read_all()]


def _collect(one: Server, members: set[int], done: threading.Event) -> None:
    while not done.wait(0.2):
        members.update(process.members(one._found.identity()))


def _pid(one: Server, name: str) -> int:
    """Return the number of a process of the server, once it is there."""
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        found = [line.split()[0] for line in one.processes() if name in line]
        if found:
            return int(found[0])
        time.sleep(0.05)
    raise TimeoutError(f"no process named {name}: {one.processes()}")


def _killed_while_answering(one: Server, pid: int, ask: Callable[[], object]) -> LabError:
    """Return the error of a request in whose middle a process was killed."""
    begun = threading.Event()

    def kill() -> None:
        begun.wait(60)
        time.sleep(0.3)
        os.kill(pid, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    begun.set()
    with pytest.raises(LabError) as caught:
        while True:  # a small model may have finished before the kill
            ask()
    thread.join()
    return caught.value


def test_engine_process_killed_while_it_answers_is_told_as_such(
    started: Server, device: Cpu, model: Model, options: Options
) -> None:
    """Also, while it runs: the same is adopted, another is refused, and so is an offline batch."""
    started.wait_ready(300)
    other = server.start(device, model, options)
    with pytest.raises(DeviceBusy, match="--max-model-len"):
        server.start(device, model, options.with_values(max_model_len=1024))
    with pytest.raises(DeviceBusy):
        offline.run(device, model, options, "print('never run')")

    error = _killed_while_answering(
        started,
        _pid(started, "VLLM::EngineCore"),
        lambda: chat.ask("Tell me about Ascend.", server=started, **LONG),
    )

    assert (other.adopted, other.pid) == (True, started.pid)
    assert isinstance(error, EngineDied)
    assert "EngineCore" in str(error.original)
    assert error.values["log"] in error.told("zh")
    with pytest.raises(ServerGone):
        chat.ask("?", server=started)


def test_api_process_killed_while_it_streams_leaves_an_engine_that_is_named_and_ended(
    started: Server,
) -> None:
    started.wait_ready(300)

    error = _killed_while_answering(
        started,
        started.pid,
        lambda: list(chat.stream("Tell me about Ascend.", server=started, **LONG)),
    )

    assert isinstance(error, ApiServerDied)
    assert error.values["ended"] == "signal SIGKILL"
    assert "VLLM::EngineCore" in error.told("en")
    assert started.status == "dead"


def test_engine_process_killed_while_it_loads_ends_the_wait(started: Server) -> None:
    pid = _pid(started, "VLLM::EngineCore")
    threading.Timer(1.0, os.kill, (pid, signal.SIGKILL)).start()

    with pytest.raises(ServerDied) as caught:
        started.wait_ready(300)

    assert caught.value.values["ended"] == "exit code 1"
    assert "Engine core initialization failed" in str(caught.value.original)
