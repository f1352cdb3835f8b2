"""Tests of servers that runs share: which runs may, in what order they go, and one that does not come
up.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from helpers.batch import folders, jobs, many, matrix, shared, tasks
from helpers.schemas import Report

pytestmark = pytest.mark.usefixtures("own_state", "kept_environ")


def _command(lab: str, **parameters: Any) -> dict[str, Any] | None:
    (job,) = jobs(["en"], [lab], parameters)
    return shared.command(job)


def _matrix(tmp_path: Path, text: str) -> Path:
    source = tmp_path / "matrix.yml"
    source.write_text(f"share_server: true\n{text}", encoding="utf-8")
    return source


def _tasks(tmp_path: Path, text: str) -> list[tasks.Task]:
    source = _matrix(tmp_path, text)
    return many.tasks(matrix.read(source), source, tmp_path / "out")


@pytest.mark.parametrize(
    ("lab", "parameters", "able"),
    [
        ("02_minicpm5", {}, True),
        ("03_tool_calling", {"MAX_MODEL_LEN": 1024}, True),
        ("02_minicpm5", {"ENGINE": "remote"}, False),
        # The batch chooses the device of a shared server.
        ("02_minicpm5", {"DEVICES": [1]}, False),
        ("02_minicpm5", {"BASE_URL": "http://127.0.0.1:1"}, False),
        ("00_check_environment", {}, False),
        # Its server takes a limit of pictures and a host that the notebook works out.
        ("01_minicpm_v", {}, False),
        # Its servers are meant to fail.
        ("04_broken_deployment", {}, False),
    ],
)
def test_lab_shares_a_server_where_its_parameters_say_all_of_the_command(
    lab: str, parameters: dict[str, Any], able: bool
) -> None:
    assert (_command(lab, **parameters) is not None) is able


def test_command_is_equal_where_only_what_the_server_never_sees_differs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = _command("02_minicpm5")
    assert _command("02_minicpm5", KEEP_SERVER=True) == plain
    assert _command("02_minicpm5", MAX_MODEL_LEN=512) != plain
    assert _command("02_minicpm5", ENGINE="cpu") != plain
    assert _command("03_tool_calling") != plain
    monkeypatch.setenv("LAB_DEVICES", "[3]")
    assert _command("02_minicpm5") == plain
    monkeypatch.setenv("LAB_MAX_MODEL_LEN", "512")
    assert _command("02_minicpm5") == _command("02_minicpm5", MAX_MODEL_LEN=512)


def test_runs_of_one_server_stand_next_to_each_other(tmp_path: Path) -> None:
    found = _tasks(
        tmp_path,
        "labs: [02_minicpm5]\nlanguages: [zh, en]\nvary: {KEEP_SERVER: [true, false], MAX_NUM_SEQS: [1, 2]}\n",
    )

    ordered = shared.together(found)

    servers = [shared.key(task) for task in ordered]
    assert len(found) == 8
    assert [servers.count(one) for one in dict.fromkeys(servers)] == [4, 4]
    assert servers == sorted(servers, key=servers.index)
    assert not any(task.device for task in found)


def test_matrix_without_sharing_gives_each_run_a_device(tmp_path: Path) -> None:
    source = tmp_path / "matrix.yml"
    source.write_text("labs: [02_minicpm5]\nlanguages: [en]\n", encoding="utf-8")

    (task,) = many.tasks(matrix.read(source), source, tmp_path / "out")

    assert task.device and task.command is None


def test_shared_server_that_does_not_come_up_is_told_in_every_run_of_it(tmp_path: Path) -> None:
    source = _matrix(
        tmp_path,
        "labs: [02_minicpm5]\nlanguages: [zh, en]\nworkers: 2\nparameters: {ENGINE: cpu, MODEL_DIR: /no/such/place}\n",
    )
    out = tmp_path / "out"
    folders.mark(out, source)

    found = many.run(matrix.read(source), source, out, say=lambda _: None)

    told = [run.error for run in found.runs if run.error]
    assert [one.code for one in told] == ["model.missing"] * 2
    assert "/no/such/place" in told[0].message
    assert (found.engine_starts, found.engine_starts_declared) == (0, 1)
    assert found.teardown.model_dump() == {"processes_left": 0, "ports_left": []}
    assert Report(**json.loads((out / "report.json").read_text("utf-8"))) == found
