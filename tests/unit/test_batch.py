"""Tests of runs through papermill, on notebooks that start the light server and never stop it
themselves.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import psutil
import pytest
from light.light_notebook import CHECK, READY, START, checked_notebook, light_notebook

from helpers import batch, catalog, paths
from helpers.errors import SecretParameter
from helpers.schemas import Report
from helpers.server import ledger, process, state

pytestmark = pytest.mark.usefixtures("own_state")
LAB = next(iter(catalog.labs()))
STEPS = [step["id"] for step in catalog.lab("02_minicpm5")["checkpoints"]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "build" / "run-1"
    made.mkdir(parents=True)
    return made


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _run(folder: Path, *jobs: batch.Job) -> tuple[Report, list[str]]:
    lines: list[str] = []
    return batch.run(jobs, folder, say=lines.append), lines


def _written(folder: Path) -> Report:
    return Report(**json.loads((folder / "report.json").read_text("utf-8")))


@pytest.mark.parametrize("failing", STEPS)
def test_run_failing_at_a_checkpoint_reports_it_and_leaves_nothing(
    tmp_path: Path, folder: Path, failing: str
) -> None:
    book = checked_notebook(tmp_path / "light.ipynb", STEPS)

    summary, _ = _run(folder, batch.Job("light", "en", book, parameters={"FAIL_AT": failing}))

    run = summary.runs[0]
    detail = run.checkpoints[-1].detail
    assert [one.step for one in run.checkpoints] == STEPS[: STEPS.index(failing) + 1]
    assert (run.checkpoints[-1].status, summary.ok, run.ok) == ("fail", False, False)
    assert run.error is not None
    assert (run.error.code, failing in run.error.message) == ("checkpoint.failed", True)
    assert len(detail["members"]) == 2
    assert not any(_runs(pid) for pid in detail["members"])
    assert process.port_is_free("127.0.0.1", detail["port"])
    assert summary.teardown.model_dump() == {"processes_left": 0, "ports_left": []}
    assert state.read_all() == []
    assert _written(folder) == summary


def test_run_where_all_passes_is_ok_and_stops_the_server_too(tmp_path: Path, folder: Path) -> None:
    book = checked_notebook(tmp_path / "light.ipynb", ["a", "b"])

    summary, lines = _run(folder, batch.Job("light", "en", book))

    run = summary.runs[0]
    assert (summary.ok, run.ok, run.error, run.engine) == (True, True, None, "light")
    assert (summary.engine_starts, run.engine_starts) == (1, 1)
    assert [one.status for one in run.checkpoints] == ["pass", "pass"]
    assert not any(_runs(pid) for pid in run.checkpoints[0].detail["members"])
    assert (folder / run.notebook).is_file()
    assert [line for line in lines if " a " in line and "通过" in line]


def test_run_of_a_failed_and_a_good_notebook_goes_on_after_the_failure(
    tmp_path: Path, folder: Path
) -> None:
    book = checked_notebook(tmp_path / "light.ipynb", ["a"])
    bad = light_notebook(tmp_path / "bad.ipynb", ["1 / 0"])

    summary, _ = _run(folder, batch.Job("bad", "zh", bad), batch.Job("light", "zh", book))

    assert [run.ok for run in summary.runs] == [False, True]
    assert not summary.ok
    assert summary.runs[0].error is not None
    assert summary.runs[0].error.code == "ZeroDivisionError"


def test_run_of_a_notebook_that_leaves_early_is_not_ok(tmp_path: Path, folder: Path) -> None:
    cells = [START, READY, CHECK.format(step="a"), "import sys; sys.exit()", CHECK.format(step="b")]
    book = light_notebook(tmp_path / "light.ipynb", cells)

    summary, _ = _run(folder, batch.Job("light", "en", book))

    assert not summary.ok
    assert summary.teardown.processes_left == 0


def test_run_of_a_notebook_without_any_checkpoint_is_not_ok(tmp_path: Path, folder: Path) -> None:
    book = light_notebook(tmp_path / "light.ipynb", ["pass"])

    summary, _ = _run(folder, batch.Job("light", "en", book))

    assert not summary.ok


def test_run_whose_kernel_dies_reports_it_and_leaves_nothing(tmp_path: Path, folder: Path) -> None:
    cells = [START, READY, CHECK.format(step="a"), "import os; os._exit(1)", CHECK.format(step="b")]
    book = light_notebook(tmp_path / "light.ipynb", cells)

    summary, _ = _run(folder, batch.Job("light", "en", book))

    run = summary.runs[0]
    assert (summary.ok, run.error and run.error.code) == (False, "DeadKernelError")
    assert [one.step for one in run.checkpoints] == ["a"]
    assert not any(_runs(pid) for pid in run.checkpoints[0].detail["members"])


def test_run_of_a_notebook_that_is_not_there_reports_it(tmp_path: Path, folder: Path) -> None:
    summary, _ = _run(folder, batch.Job("none", "en", tmp_path / "nothing.ipynb"))

    assert not summary.ok
    assert summary.runs[0].error is not None
    assert (summary.runs[0].checkpoints, summary.engine_starts) == ([], 0)


def test_run_points_latest_to_its_folder_and_a_later_one_moves_it(
    tmp_path: Path, folder: Path
) -> None:
    second = folder.with_name("run-2")
    second.mkdir()

    seen = []
    for one in (folder, second):
        _run(one, batch.Job("none", "en", tmp_path / "nothing.ipynb"))
        seen.append((folder.parent / "latest").resolve())

    assert seen == [folder, second]
    assert sorted(path.name for path in folder.parent.iterdir()) == ["latest", "run-1", "run-2"]


def test_run_restores_the_run_id_that_was_set(
    tmp_path: Path, folder: Path, session_run: str
) -> None:
    _run(folder, batch.Job("none", "en", tmp_path / "nothing.ipynb"))

    assert os.environ["LAB_RUN"] == session_run
    assert ledger.count(session_run) == 0


def test_run_passes_parameters_and_language_into_the_notebook(tmp_path: Path, folder: Path) -> None:
    cells = [
        "from helpers import checkpoint\ncheckpoint.check('a', (LANGUAGE, FAIL_AT) == ('en', 'x'))"
    ]
    book = light_notebook(tmp_path / "light.ipynb", cells)

    summary, _ = _run(folder, batch.Job("light", "en", book, parameters={"FAIL_AT": "x"}))

    assert summary.ok
    assert summary.runs[0].parameters == {"FAIL_AT": "x"}


@pytest.mark.parametrize("name", ["API_KEY", "hf_token", "MY_SECRET", "KEY"])
def test_jobs_with_a_secret_as_parameter_are_refused(name: str) -> None:
    with pytest.raises(SecretParameter, match=name):
        batch.jobs(parameters={name: "s3cr3t"})


def test_job_with_a_secret_as_parameter_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SecretParameter, match="API_KEY"):
        batch.Job("light", "en", tmp_path / "light.ipynb", parameters={"API_KEY": "s3cr3t"})


def test_jobs_without_choice_are_every_lab_in_both_languages() -> None:
    found = [(job.lab, job.language) for job in batch.jobs()]

    assert found == [(lab, language) for lab in catalog.labs() for language in ("zh", "en")]


@pytest.mark.parametrize(
    ("variable", "chosen", "expected"), [("en", (), ["en"]), ("en", ("zh",), ["zh"])]
)
def test_jobs_with_the_language_variable_are_in_that_language_unless_chosen(
    monkeypatch: pytest.MonkeyPatch, variable: str, chosen: tuple[str, ...], expected: list[str]
) -> None:
    monkeypatch.setenv("LAB_LANGUAGE", variable)

    assert [job.language for job in batch.jobs(chosen, [LAB])] == expected


def test_jobs_lie_in_the_notebooks_of_their_language() -> None:
    job = batch.jobs(["en"], [LAB])[0]

    assert job.notebook == paths.NOTEBOOKS / "en" / f"{LAB}.ipynb"
