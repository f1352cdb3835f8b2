"""Tests of process groups: who belongs to one, how it ends, and that nothing else is ever
signalled.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from light.light_engine import SERVER

from helpers.server import process

Spawned = tuple["subprocess.Popen[bytes]", process.Identity]
Spawn = Callable[..., Spawned]


@pytest.fixture
def spawn(tmp_path: Path) -> Iterator[Spawn]:
    """Return a function that spawns Python code or the light server; whatever is left is killed at
    the end.
    """
    started: list[Spawned] = []

    def made(*words: str) -> Spawned:
        argv = [sys.executable, "-I", "-S", *words]
        one = process.spawn(argv, os.environ, tmp_path / "log", tmp_path)
        started.append(one)
        return one

    yield made
    for child, identity in started:
        process.end(identity, child, grace=0.0)


@pytest.fixture
def light(spawn: Spawn) -> Spawn:
    """Return a function that spawns the light server and waits for its child."""

    def made(*flags: str) -> Spawned:
        child, identity = spawn(str(SERVER), "--port", "0", *flags)
        _until(lambda: len(process.members(identity)) == 2)
        return child, identity

    return made


def _until(holds: Callable[[], object], seconds: float = 10.0) -> None:
    """Return once the condition holds; fail after some seconds."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it never came to hold"
        time.sleep(0.01)


def _is_zombie(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def test_spawn_gives_the_process_a_session_of_its_own(spawn: Spawn) -> None:
    child, identity = spawn("-c", "import time; time.sleep(60)")

    assert os.getsid(child.pid) == child.pid
    assert identity == process.Identity(child.pid, child.pid, process.start_ticks(child.pid) or -1)


def test_spawn_closes_stdin_and_logs_both_streams(spawn: Spawn, tmp_path: Path) -> None:
    code = "import sys; print(repr(sys.stdin.read()), flush=True); print('oh', file=sys.stderr)"

    child, _ = spawn("-c", code)

    child.wait(10)
    assert (tmp_path / "log").read_text() == "''\noh\n"


def test_spawn_of_a_program_that_is_not_there_raises(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nothing"):
        process.spawn([str(tmp_path / "nothing")], os.environ, tmp_path / "log", tmp_path)


def test_members_of_a_forking_process_are_leader_and_child(light: Spawn) -> None:
    child, identity = light()

    found = process.members(identity)

    assert child.pid in found
    assert len(found) == 2


def test_members_leave_out_a_child_in_a_session_of_its_own(light: Spawn) -> None:
    child, identity = light()
    code = "import os, time; os.setsid(); print(1, flush=True); time.sleep(60)"
    other = subprocess.Popen([sys.executable, "-I", "-S", "-c", code], stdout=subprocess.PIPE)
    assert other.stdout is not None
    other.stdout.readline()

    found = process.members(identity)

    other.kill()
    other.communicate()
    assert child.pid in found
    assert other.pid not in found


def test_end_of_a_willing_group_leaves_nothing_by_term(light: Spawn) -> None:
    child, identity = light()

    left = process.end(identity, child)

    assert left == []
    assert child.returncode == -signal.SIGTERM


def test_end_of_a_stubborn_group_kills_after_the_grace(light: Spawn) -> None:
    child, identity = light("--stubborn")
    begun = time.monotonic()

    left = process.end(identity, child, grace=0.3)

    assert left == []
    assert child.returncode == -signal.SIGKILL
    assert time.monotonic() - begun >= 0.3


def test_end_leaves_no_zombie_of_a_child_of_ours(light: Spawn) -> None:
    child, identity = light()

    process.end(identity, child)

    assert not Path(f"/proc/{child.pid}").exists()


def test_end_of_a_group_twice_is_no_error(light: Spawn) -> None:
    child, identity = light()
    process.end(identity, child)

    assert process.end(identity, child) == []


def test_zombie_leader_is_no_member_although_the_system_still_lists_it(spawn: Spawn) -> None:
    child, identity = spawn("-c", "pass")
    _until(lambda: _is_zombie(child.pid))

    os.kill(child.pid, 0)

    assert process.members(identity) == []


def test_group_whose_leader_died_still_has_its_child(light: Spawn) -> None:
    child, identity = light()
    os.kill(child.pid, signal.SIGKILL)
    child.wait(10)

    found = process.members(identity)

    assert len(found) == 1
    assert found != [child.pid]


def test_end_of_a_group_whose_leader_died_ends_its_child(light: Spawn) -> None:
    child, identity = light()
    os.kill(child.pid, signal.SIGKILL)
    child.wait(10)

    assert process.end(identity, None, grace=2.0) == []


def test_end_of_a_reused_number_signals_nobody(light: Spawn) -> None:
    child, identity = light()
    other = replace(identity, started=identity.started - 1)

    left = process.end(other, None, grace=0.1)

    assert left == []
    assert child.poll() is None
    assert len(process.members(identity)) == 2


def test_start_ticks_of_nobody_are_none() -> None:
    assert process.start_ticks(2**22 + 1) is None


def test_start_ticks_of_a_name_with_blanks_and_brackets_are_read(tmp_path: Path) -> None:
    name = tmp_path / "a) S (b"
    name.symlink_to("/bin/sleep")
    child = subprocess.Popen([str(name), "60"])

    ticks = process.start_ticks(child.pid)

    child.kill()
    child.wait()
    own = process.start_ticks(os.getpid())
    assert ticks is not None and own is not None
    assert ticks > own


def test_names_of_processes_leave_out_those_that_are_gone(light: Spawn) -> None:
    child, _ = light()

    found = process.names([child.pid, 2**22 + 1])

    assert len(found) == 1
    assert found[0].startswith(f"{child.pid} ")


def test_five_lives_in_a_row_leave_no_process(light: Spawn) -> None:
    ends = []
    for _ in range(5):
        child, identity = light()
        ends.append(process.end(identity, child))

    assert ends == [[]] * 5


@pytest.mark.parametrize(
    ("returncode", "told"),
    [
        (0, "exit code 0"),
        (3, "exit code 3"),
        (-9, "signal SIGKILL"),
        (-99, "signal 99"),
        (None, "?"),
    ],
)
def test_told_status_of_an_end_is_code_or_signal(returncode: int | None, told: str) -> None:
    assert process.told_status(returncode) == told


@pytest.fixture
def listener() -> Iterator[Callable[..., int]]:
    """Return a function that listens on a free port and returns it."""
    opened: list[socket.socket] = []

    def made(host: str = "127.0.0.1", option: int | None = None) -> int:
        one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if option is not None:
            one.setsockopt(socket.SOL_SOCKET, option, 1)
        one.bind((host, 0))
        one.listen()
        opened.append(one)
        return int(one.getsockname()[1])

    yield made
    for one in opened:
        one.close()


@pytest.mark.parametrize("option", [None, socket.SO_REUSEADDR, socket.SO_REUSEPORT])
@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_port_with_a_listener_of_any_kind_is_not_free(
    listener: Callable[..., int], host: str, option: int | None
) -> None:
    port = listener(host, option)

    assert not process.port_is_free("127.0.0.1", port)
    assert not process.port_is_free("0.0.0.0", port)


def test_port_without_a_listener_is_free() -> None:
    assert process.port_is_free("127.0.0.1", process.free_port("127.0.0.1"))


def test_port_owner_of_a_listener_is_this_process(listener: Callable[..., int]) -> None:
    assert process.port_owner(listener()).startswith(f"{os.getpid()} ")


def test_port_owner_of_a_free_port_is_nobody() -> None:
    assert process.port_owner(process.free_port("127.0.0.1")) == ""
