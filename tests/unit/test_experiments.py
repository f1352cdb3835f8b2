"""Tests of the experiments of lab 00: the second kernel, what survives it, and that nothing stays."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from helpers import environment, experiments, light, messages, tokens
from helpers.server import process

OWN_SESSION = "Popen(…, start_new_session=True)"


@pytest.fixture
def token() -> Iterator[str]:
    """Return a token; whatever carries it at the end is killed."""
    one = tokens.new()
    yield one
    tokens.end(one)


def start(token: str, *more: str) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-m", "helpers.light", "--token", token, *more]
    return subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_cells_in_a_second_kernel_report_errors_and_go_on() -> None:
    found = experiments.run_cells(["1 / 0", "print('on')"])

    assert found[0] == experiments.CellResult("error", "ZeroDivisionError", "division by zero")
    assert found[1] == experiments.CellResult("ok", stdout="on\n")


def test_exit_in_a_second_kernel_is_ok_and_ends_it() -> None:
    found = experiments.run_cells(["import sys; sys.exit()", "exit()", "print('on')"])

    assert [(one.status, one.ename, one.alive) for one in found] == [
        ("error", "SystemExit", True),
        ("ok", "", False),
        ("not run", "", False),
    ]


def test_kernel_that_dies_in_a_cell_is_told() -> None:
    found = experiments.run_cells(["import os; os._exit(0)", "print('on')"])

    assert [(one.status, one.ename) for one in found] == [
        ("error", "DeadKernelError"),
        ("not run", ""),
    ]


def test_second_kernel_leaves_no_process() -> None:
    said = experiments.run_cells(["import os; print(os.getpid())"])[0].stdout

    assert not process.is_running(int(said))


def test_exit_under_papermill_is_a_success_although_cells_are_left() -> None:
    found = experiments.run_papermill(["import sys; sys.exit()", "print('on')"])

    assert found == experiments.PapermillResult(returncode=0, executed=1, cells=2)


@pytest.mark.parametrize("event", ["interrupt", "killed"])
def test_survivors_of_an_event_are_those_of_another_group(
    event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    carried: list[str] = []
    made = tokens.new
    monkeypatch.setattr(tokens, "new", lambda: carried.append(made()) or carried[-1])

    found = experiments.survivors(event)

    assert list(found) == list(experiments.WAYS)
    assert found[OWN_SESSION] and found["%%bash … &"]
    assert found["Popen(…)"] == (event == "killed")
    assert not found[experiments.NEVER_LIVES]
    assert len(carried) == len(found)
    assert tokens.find(*carried) == {}


@pytest.mark.full
@pytest.mark.parametrize("event", ["restart", "restart_now", "finished"])
def test_survivors_of_the_kernels_end_include_an_own_session(event: str) -> None:
    found = experiments.survivors(event)

    assert found[OWN_SESSION]
    assert not found["Popen(…)"]
    assert found["%%bash … &"] == (event != "restart_now")


def test_survivors_of_an_unknown_event_are_refused() -> None:
    with pytest.raises(KeyError):
        experiments.survivors("earthquake")


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_table_of_outcomes_has_a_row_a_way_and_a_column_an_event(language: str) -> None:
    messages.use(language)
    outcomes = {event: dict.fromkeys(experiments.WAYS, True) for event in experiments.EVENTS}

    made = experiments.table(outcomes)

    assert [row[0] for row in made.rows] == list(experiments.WAYS)
    assert {len(row) for row in made.rows} == {len(made.head)} == {len(experiments.EVENTS) + 1}


def test_token_of_a_running_process_is_found_and_ended(token: str) -> None:
    child = start(token)

    assert list(tokens.find(token)) == [token]
    assert tokens.end(token) == []
    assert child.wait(10) == -9


def test_token_on_the_line_of_a_shell_is_not_found(token: str) -> None:
    line = f"sleep 60; {sys.executable} -m helpers.light --token {token}"
    shell = subprocess.Popen(["sh", "-c", line], start_new_session=True)

    found = tokens.find(token)

    os.killpg(shell.pid, 9)
    shell.wait()
    assert found == {}


def test_token_of_a_zombie_is_not_living(token: str) -> None:
    child = start(token, "--die-after", "0")

    found = tokens.living(token)

    assert found == []
    assert child.wait(10) == 1


def test_light_server_answers_health_once_it_has_loaded(token: str) -> None:
    port = process.free_port("127.0.0.1")
    child = start(token, "--port", str(port), "--load-seconds", "0.2")
    session = requests.Session()
    session.trust_env = False

    deadline, status = time.monotonic() + 20, 0
    while not status and time.monotonic() < deadline:
        try:
            status = session.get(f"http://127.0.0.1:{port}/health", timeout=2).status_code
        except requests.ConnectionError:
            time.sleep(0.05)

    tokens.end(token)
    child.wait(10)
    assert status == 200


def test_light_engine_has_a_name_of_its_own_and_ends_with_the_group(
    token: str, tmp_path: Path
) -> None:
    argv = [sys.executable, "-m", "helpers.light", "--token", token, "--engine"]
    child, identity = process.spawn(argv, environment.child(), tmp_path / "log", tmp_path)

    deadline = time.monotonic() + 20
    while light.ENGINE_NAME not in str(process.names(process.members(identity))):
        assert time.monotonic() < deadline, "no engine"
        time.sleep(0.05)

    assert process.end(identity, child) == []


def test_versions_of_the_experiments_are_those_of_the_notebook() -> None:
    assert set(experiments.versions()) >= {"ipykernel", "papermill"}
