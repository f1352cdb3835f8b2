"""Tests of state files: their form, who may read them, and when they still mean something."""

from __future__ import annotations

import json
import os
import socket
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from helpers import records
from helpers.errors import StateUnwritable
from helpers.server import process, state
from helpers.server.problems import DeviceLocked

pytestmark = pytest.mark.usefixtures("own_state")

# DESIGN.md, Interfaces: "server state file". Fields may be added, never renamed.
KEYS = (
    *(
        "schema",
        "pid",
        "pgid",
        "started",
        "boot_id",
        "hostname",
        "pid_namespace",
        "argv",
        "fingerprint",
    ),
    *("host", "port", "served_model_name", "engine", "engine_version", "run", "log", "created"),
)


def _state(**changes: object) -> state.State:
    """Return the state of this very process, which surely lives."""
    values = {
        "pid": os.getpid(),
        "pgid": os.getpid(),
        "started": process.start_ticks(os.getpid()),
        "boot_id": state.boot_id(),
        "hostname": socket.gethostname(),
        "pid_namespace": state.pid_namespace(),
        "argv": ["vllm", "serve", "中文 m"],
        "fingerprint": "f",
        "host": "127.0.0.1",
        "port": 8000,
        "served_model_name": "M",
        "engine": "cpu",
        "engine_version": "0.32.0",
        "run": None,
        "log": "log",
        "created": records.now(),
    }
    return state.State(**(values | changes))


@pytest.fixture
def living(tmp_path: Path) -> Iterator[state.State]:
    """Return the state of a process that lives as long as the test."""
    child, identity = process.spawn(["sleep", "60"], os.environ, tmp_path / "log", tmp_path)
    yield _state(pid=identity.pid, pgid=identity.pgid, started=identity.started)
    process.end(identity, child, grace=1.0)


def test_state_written_and_read_is_the_same() -> None:
    written = _state(run="r", stand_in=True)

    path = state.write(written)

    assert state.read_all() == [(path, written)]


def test_state_file_has_the_keys_of_the_design() -> None:
    body = json.loads(state.write(_state()).read_text("utf-8"))

    assert set(KEYS) <= set(body)
    assert body["schema"] == 1
    assert set(body) - set(KEYS) <= {
        "kind",
        "stand_in",
        "made_from",
        "capabilities",
        "memory_before",
    }


def test_state_file_is_named_by_its_port_and_readable_by_its_owner_only() -> None:
    path = state.write(_state(port=8123))

    assert path.name == "8123.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_state_file_written_over_an_open_one_is_for_its_owner_only() -> None:
    first = state.write(_state())
    first.chmod(0o666)

    assert stat.S_IMODE(state.write(_state()).stat().st_mode) == 0o600


def test_state_write_leaves_no_temporary_file() -> None:
    path = state.write(_state())

    assert [found.name for found in path.parent.iterdir()] == [path.name]


def test_state_of_an_offline_run_does_not_replace_a_servers() -> None:
    server = state.write(_state(port=0))

    offline = state.write(_state(port=0, kind="offline"))

    assert server != offline


@pytest.mark.parametrize(
    "body",
    ["", "{", "[]", "null", '{"schema": 1}', '{"pid": "x"}'],
    ids=["empty", "cut", "list", "null", "few", "wrong"],
)
def test_state_file_that_cannot_be_read_is_set_aside_with_its_content(body: str) -> None:
    path = state.directory() / "8000.json"
    path.write_text(body, encoding="utf-8")

    found = state.read_all()

    assert found == []
    assert not path.exists()
    assert path.with_suffix(".corrupt").read_text("utf-8") == body


def test_state_file_with_an_unknown_field_is_read() -> None:
    path = state.write(_state())
    path.write_text(json.dumps(json.loads(path.read_text()) | {"new": 1}), encoding="utf-8")

    assert len(state.read_all()) == 1


def test_read_all_without_a_directory_is_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_STATE_DIR", str(tmp_path / "nothing"))

    assert state.read_all() == []
    assert not (tmp_path / "nothing").exists()


def test_state_of_a_living_process_is_alive(living: state.State) -> None:
    assert living.is_alive()


@pytest.mark.parametrize("field", ["boot_id", "hostname", "pid_namespace"])
def test_state_of_another_boot_host_or_container_is_not_here(
    living: state.State, field: str
) -> None:
    found = replace(living, **{field: "another"})

    assert not found.is_here()
    assert not found.is_alive()


def test_state_of_a_reused_number_is_not_alive(living: state.State) -> None:
    assert not replace(living, started=living.started - 1).is_alive()


def test_set_aside_keeps_the_file_under_another_ending() -> None:
    path = state.write(_state())

    state.set_aside(path, "dead")

    assert state.read_all() == []
    assert path.with_suffix(".dead").is_file()


def test_directory_that_cannot_be_made_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("LAB_STATE_DIR", str(tmp_path / "file" / "state"))

    with pytest.raises(StateUnwritable) as caught:
        state.directory()

    assert "Not a directory" in str(caught.value.original)


def test_device_lock_is_held_by_one_at_a_time() -> None:
    with state.device_lock(), pytest.raises(DeviceLocked) as caught, state.device_lock(0.05):
        pass

    assert "device.lock" in str(caught.value.original)


def test_state_of_another_container_on_the_same_port_is_left_as_it_is(living: state.State) -> None:
    foreign = replace(living, pid_namespace="another")
    first = state.write(foreign)

    second = state.write(living)

    assert second != first
    assert state.read_all() == sorted([(first, foreign), (second, living)], key=lambda row: row[0])


@pytest.mark.parametrize(
    ("changed", "over"),
    [
        ({"boot_id": "another"}, True),
        ({"started": 1}, True),
        ({"pid_namespace": "another"}, False),
        ({"hostname": "another"}, False),
        ({"hostname": "another", "boot_id": "another"}, False),
        ({}, False),
    ],
    ids=["boot", "reused pid", "container", "host", "host and boot", "living"],
)
def test_state_is_over_only_where_that_is_sure(
    living: state.State, changed: dict[str, object], over: bool
) -> None:
    assert replace(living, **changed).is_over() is over  # type: ignore[arg-type]
