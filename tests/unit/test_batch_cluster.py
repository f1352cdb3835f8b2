"""Tests of a matrix on a Ray cluster of two nodes: its results are those of this machine's own
executor, a node that goes away takes no run along, Ctrl-C leaves a report and nothing else.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from light.light_notebook import light_notebook
from light.ray_cluster import Nodes, two_nodes, with_ray
from light.waiting import until

from helpers import paths, report
from helpers.batch import cluster, folders, many, matrix, tasks
from helpers.batch.problems import RayMissing
from helpers.schemas import Report

pytestmark = pytest.mark.usefixtures("own_state", "kept_environ")
SECONDS = 120.0
REMOTE = "parameters: {ENGINE: remote}\n"
"""A run with an engine of its own would wait for the machine, which both nodes share."""
# Marks the node that it runs on, then waits for the word to go on.
WAITS = """
import os, pathlib, time
folder = pathlib.Path({folder!r})
if FAIL_AT.startswith("wait"):
    (folder / f"{{FAIL_AT}}-{{os.environ['RAY_RAYLET_PID']}}").touch()
    while not (folder / "go").exists():
        time.sleep(0.1)
"""
CHECK = """
from helpers import checkpoint
checkpoint.begin("light")
checkpoint.check("a", FAIL_AT != "a", "told to fail", number=NUMBER)
"""


@pytest.fixture(scope="module")
def ray() -> dict[str, str]:
    return with_ray()


@pytest.fixture
def nodes(ray: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    with two_nodes(ray, tmp_path_factory.mktemp("ray")) as found:
        yield found


def _matrix(tmp_path: Path, text: str) -> Path:
    cells = ["NUMBER = 0", WAITS.format(folder=str(tmp_path)), CHECK]
    light_notebook(tmp_path / "light.ipynb", cells)
    source = tmp_path / "matrix.yml"
    source.write_text(f"labs: [light.ipynb]\nlanguages: [en]\n{REMOTE}{text}", encoding="utf-8")
    return source


def _begun(ray: dict[str, str], source: Path, address: str = "") -> subprocess.Popen[str]:
    env = {**os.environ, **ray, "RAY_ADDRESS": address}
    words = [sys.executable, "-m", "helpers", "run", source, "--out", source.with_name("out")]
    pipe, out = subprocess.PIPE, subprocess.STDOUT
    return subprocess.Popen(words, cwd=paths.ROOT, env=env, stdout=pipe, stderr=out, text=True)


def _runs_left() -> list[list[str]]:
    """Return the command lines of runs that are still there."""
    words = [one.info["cmdline"] or [] for one in psutil.process_iter(["cmdline"])]
    return [one for one in words if "helpers.batch.child" in one]


def _kill(nodes: Nodes, go: Path) -> None:
    """Kill the second node, and let the runs go on once its own are gone with it."""
    until(lambda: len(_runs_left()) == 2)
    nodes.kill_second()
    until(lambda: len(_runs_left()) == 1)
    go.touch()


def _told(found: Report) -> list[tuple[Any, ...]]:
    """Return what a report says, without times, places and how it was run."""
    return [
        (
            run.lab,
            run.language,
            run.parameters,
            run.ok,
            run.error and run.error.code,
            [(one.step, one.status, one.reason, one.detail) for one in run.checkpoints],
            Path(run.notebook).parent.name,
        )
        for run in found.runs
    ]


@pytest.mark.full
def test_results_on_a_cluster_equal_those_of_this_machine(
    tmp_path: Path, ray: dict[str, str], nodes: Nodes
) -> None:
    source = _matrix(tmp_path, "vary: {FAIL_AT: ['', a, b]}\nworkers: 2\nexecutor: ray\n")
    one = _begun(ray, source, nodes.address)
    said, _ = one.communicate(timeout=SECONDS)
    there = report.read(source.with_name("out"))
    local = source.with_name("local.yml")
    local.write_text(source.read_text("utf-8").replace("ray", "local"), "utf-8")
    (tmp_path / "here").mkdir()

    here = many.run(matrix.read(local), local, tmp_path / "here", say=lambda _: None)

    assert one.returncode == 1, said
    assert (there.executor, here.executor) == ("ray", "local")
    assert _told(there) == _told(here)
    places = [source.with_name("out") / run.notebook for run in there.runs]
    assert all(place.with_name(folders.LOG).is_file() for place in places)
    assert all(run.page and (source.with_name("out") / run.page).is_file() for run in there.runs)


def _with_the_second_node_killed(
    ray: dict[str, str], nodes: Nodes, source: Path
) -> tuple[int, str, str, Report]:
    """Return exit status, output, the value of the run that the second node had, and the report."""
    folder = source.parent
    one = _begun(ray, source, nodes.address)
    (mark,) = until(lambda: list(folder.glob(f"wait*-{nodes.raylet}")))
    _kill(nodes, folder / "go")
    said, _ = one.communicate(timeout=SECONDS)
    return one.returncode, said, mark.name.split("-")[0], report.read(folder / "out")


@pytest.mark.full
def test_runs_of_a_node_that_is_killed_in_the_middle_are_done_again_on_the_other(
    tmp_path: Path, ray: dict[str, str], nodes: Nodes
) -> None:
    waiting = "vary: {FAIL_AT: [wait1, wait2, wait3, wait4]}\nworkers: 2\n"
    source = _matrix(tmp_path, f"{waiting}executor: ray\n")

    status, said, lost, found = _with_the_second_node_killed(ray, nodes, source)

    attempts = {run.parameters["FAIL_AT"]: run.attempts for run in found.runs}
    assert status == 0, said
    assert found.ok
    assert attempts.pop(lost) == 2
    assert set(attempts.values()) == {1}
    assert "↻" in said
    until(lambda: not _runs_left())


@pytest.mark.full
def test_run_whose_node_is_gone_is_told_where_it_may_not_be_done_again(
    tmp_path: Path, ray: dict[str, str], nodes: Nodes
) -> None:
    waiting = "vary: {FAIL_AT: [wait1, wait2]}\nworkers: 2\n"
    source = _matrix(tmp_path, f"{waiting}executor: ray\nretries: 0\n")

    status, said, lost, found = _with_the_second_node_killed(ray, nodes, source)

    codes = {run.parameters["FAIL_AT"]: run.error.code for run in found.runs if run.error}
    assert status == 1, said
    assert codes == {lost: "run.node_lost"}


@pytest.mark.full
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_batch_ends_its_runs_on_the_cluster_and_writes_the_report(
    tmp_path: Path, ray: dict[str, str], number: int
) -> None:
    source = _matrix(tmp_path, "vary: {FAIL_AT: [wait1, wait2]}\nexecutor: ray\n")
    one = _begun(ray, source)
    until(lambda: list(tmp_path.glob("wait1-*")))

    one.send_signal(number)
    said, _ = one.communicate(timeout=SECONDS)

    found = report.read(source.with_name("out"))
    assert one.returncode == 130, said
    assert "Traceback" not in said
    assert [run.error and run.error.code for run in found.runs] == ["run.interrupted", None]
    assert found.runs[1].skipped
    assert _runs_left() == []


@pytest.mark.full
def test_cluster_that_does_not_answer_is_told(tmp_path: Path, ray: dict[str, str]) -> None:
    source = _matrix(tmp_path, "executor: ray\n")

    one = _begun(ray, source, "127.0.0.1:1")
    said, _ = one.communicate(timeout=SECONDS)

    assert one.returncode == 1
    assert "run.ray_unreachable" in said
    assert "127.0.0.1:1" in said


def test_matrix_for_ray_without_ray_is_told_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster.importlib.util, "find_spec", lambda name: None)
    source = _matrix(tmp_path, "executor: ray\n")

    with pytest.raises(RayMissing, match=r"pip install -r requirements/cluster\.lock"):
        many.run(matrix.read(source), source, tmp_path, say=lambda _: None)


def test_runs_are_done_again_on_a_cluster_only_unless_the_matrix_says_it(tmp_path: Path) -> None:
    told = {}
    for text in ("executor: local", "executor: ray", "executor: ray\nretries: 0"):
        told[text] = matrix.read(_matrix(tmp_path, text + "\n")).further

    assert list(told.values()) == [0, 3, 0]


def test_task_takes_the_labs_variables_along_and_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_MODEL_DIR", "/weights")
    monkeypatch.setenv("LAB_API_KEY", "planted")
    source = tmp_path / "matrix.yml"
    source.write_text("labs: [02_minicpm5]\nlanguages: [en]\nexecutor: ray\n", encoding="utf-8")
    (task,) = many.tasks(matrix.read(source), source, tmp_path)

    *_, variables = cluster._arguments(task, tasks.Rules())

    assert variables == {"LAB_MODEL_DIR": "/weights"}


@pytest.mark.parametrize(("npus", "resources"), [(True, {"NPU": 1}), (False, None)])
def test_run_with_an_engine_of_its_own_asks_for_an_npu_where_there_are_some(
    tmp_path: Path, npus: bool, resources: dict[str, int] | None
) -> None:
    source = tmp_path / "matrix.yml"
    source.write_text("labs: [02_minicpm5]\nlanguages: [en]\nexecutor: ray\n", encoding="utf-8")
    (task,) = many.tasks(matrix.read(source), source, tmp_path)

    assert cluster._options(task, npus).get("resources") == resources


def test_device_of_a_task_is_the_card_that_ray_has_given_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ASCEND_RT_VISIBLE_DEVICES", "5")

    with cluster._device(True) as found:
        assert Path(found["LAB_STATE_DIR"]).name == "ray-5"
    with cluster._device(False) as found:
        assert found == {}
