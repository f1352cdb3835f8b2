"""Tests of a matrix on this machine: what is finished is kept, what is killed or late is told and
repeated as asked, devices go round, and Ctrl-C leaves a report.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from light.light_notebook import light_notebook
from light.run_processes import of_folder

from helpers import paths
from helpers.batch import folders, many, matrix
from helpers.cli import main
from helpers.schemas import Report, Run
from helpers.server import ledger

pytestmark = pytest.mark.usefixtures("own_state", "kept_environ")
CHECK = """
from helpers import checkpoint
checkpoint.begin("light")
checkpoint.check("a", FAIL_AT != "a", "told to fail", environment=dict(__import__("os").environ))
"""
# The run's own process is the kernel's parent: killing it is what a full machine would do.
KILLED = """
import os, pathlib, signal
mark = pathlib.Path({mark!r})
if FAIL_AT == "killed" and not mark.exists():
    mark.touch()
    os.kill(os.getppid(), signal.SIGKILL)
    import time; time.sleep(600)
"""
WAITS = "import time, pathlib\nif FAIL_AT == 'late':\n    pathlib.Path({mark!r}).touch()\n    time.sleep(600)\n"


def _matrix(tmp_path: Path, text: str, *cells: str) -> Path:
    light_notebook(tmp_path / "light.ipynb", [*cells, CHECK])
    source = tmp_path / "matrix.yml"
    source.write_text(f"labs: [light.ipynb]\nlanguages: [en]\n{text}", encoding="utf-8")
    return source


def _run(source: Path, *, again: bool = False) -> tuple[Report, list[str]]:
    lines: list[str] = []
    folder = source.with_name("out")
    folders.mark(folder, source)
    return many.run(
        matrix.read(source), source, folder, again=again, say=lines.append
    ), lines  # fmt: skip


def _by_value(report: Report) -> dict[str, Run]:
    return {str(run.parameters["FAIL_AT"]): run for run in report.runs}


def _code(run: Run) -> str:
    return run.error.code if run.error else ""


def test_matrix_with_a_run_killed_in_the_middle_goes_on_and_the_next_call_does_only_the_rest(
    tmp_path: Path, session_run: str
) -> None:
    source = _matrix(
        tmp_path,
        "parameters: {}\nvary: {FAIL_AT: ['', killed, z]}\nworkers: 2\n",
        KILLED.format(mark=str(tmp_path / "mark")),
    )

    first, _ = _run(source)
    second, lines = _run(source)

    runs = _by_value(first)
    assert [run.ok for run in first.runs] == [True, False, True]
    assert _code(runs["killed"]) == "run.killed"
    assert "SIGKILL" in (runs["killed"].error.message if runs["killed"].error else "")
    assert [run.kept for run in second.runs] == [True, False, True]
    assert [line for line in lines if "▶" in line and "killed" in line]
    assert second.ok
    assert second.runs[0].checkpoints == runs[""].checkpoints
    again = _by_value(second)["killed"]
    out = source.parent / "out"
    assert all((out / name).is_file() for name in (again.notebook, again.page, again.log) if name)
    ids = {run.checkpoints[-1].detail["environment"]["LAB_RUN"] for run in second.runs}
    assert len(ids) == 3 and session_run not in ids
    assert all(ledger.leftovers(one) == [] for one in ids)
    book = json.loads((out / again.notebook).read_text("utf-8"))
    code = [n for n, cell in enumerate(book["cells"]) if cell["cell_type"] == "code"]
    assert [one.cell for one in again.cells] == code


@pytest.mark.full
def test_run_that_is_killed_is_repeated_where_the_matrix_says_so(tmp_path: Path) -> None:
    source = _matrix(
        tmp_path,
        "parameters: {FAIL_AT: killed}\nretries: 1\n",
        KILLED.format(mark=str(tmp_path / "mark")),
    )

    report, lines = _run(source)

    place = source.parent / "out" / Path(report.runs[0].notebook).parent
    assert (report.ok, report.runs[0].attempts) == (True, 2)
    assert [line for line in lines if "↻" in line]
    assert (place / "attempt-1" / folders.LOG).is_file()


@pytest.mark.full
def test_run_that_failed_is_repeated_only_where_failures_are_named(tmp_path: Path) -> None:
    source = _matrix(tmp_path, "parameters: {FAIL_AT: a}\nretries: 1\n")

    once, _ = _run(source)
    source.write_text(source.read_text("utf-8") + "retry_on: [failed]\n", "utf-8")
    twice, _ = _run(source)

    assert (once.runs[0].attempts, twice.runs[0].attempts) == (1, 2)
    assert _code(once.runs[0]) == _code(twice.runs[0]) == "checkpoint.failed"


def test_run_over_its_time_is_stopped_and_told_and_leaves_nothing(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    source = _matrix(
        tmp_path, "parameters: {FAIL_AT: late}\ntimeout: 5\n", WAITS.format(mark=str(mark))
    )

    report, _ = _run(source)

    assert (report.ok, _code(report.runs[0])) == (False, "run.timeout")
    assert report.teardown.model_dump() == {"processes_left": 0, "ports_left": []}
    assert of_folder(tmp_path) == []


@pytest.mark.full
def test_changed_notebook_is_run_again_and_what_it_left_before_stays(tmp_path: Path) -> None:
    source = _matrix(tmp_path, "parameters: {FAIL_AT: ''}\n")
    before, _ = _run(source)

    light_notebook(tmp_path / "light.ipynb", ["1 + 1", CHECK])
    after, _ = _run(source)

    assert after.ok and not after.runs[0].kept
    assert after.runs[0].notebook != before.runs[0].notebook
    assert (source.parent / "out" / before.runs[0].notebook).is_file()


@pytest.mark.full
def test_again_runs_what_has_passed_too(tmp_path: Path) -> None:
    source = _matrix(tmp_path, "parameters: {FAIL_AT: ''}\n")
    _run(source)

    report, _ = _run(source, again=True)

    assert report.ok and not report.runs[0].kept


@pytest.mark.full
def test_runs_that_start_an_engine_take_turns_on_the_devices(tmp_path: Path) -> None:
    source = _matrix(
        tmp_path, "vary: {FAIL_AT: [x, y, z]}\ndevices: [4, 6]\nworkers: 3\n"
    )  # fmt: skip

    report, _ = _run(source)

    seen = [run.checkpoints[-1].detail["environment"] for run in report.runs]
    assert {one["LAB_DEVICES"] for one in seen} == {"[4]", "[6]"}
    assert {Path(one["LAB_STATE_DIR"]).name for one in seen} == {"4", "6"}
    assert {one["LAB_PORT"] for one in seen} == {"0"}
    assert (paths.state_dir() / "devices" / "4" / "models").resolve() == (
        paths.state_dir() / "models"
    )


def test_folder_of_another_matrix_is_refused(tmp_path: Path) -> None:
    source = _matrix(tmp_path, "parameters: {FAIL_AT: ''}\n")
    folders.mark(tmp_path / "out", tmp_path / "other.yml")

    done = CliRunner().invoke(
        main, ["--language", "en", "run", str(source), "--out", str(tmp_path / "out")]
    )

    assert done.exit_code == 1
    assert "[run.folder_of_another]" in done.output


def test_dry_run_shows_the_table_and_runs_nothing(tmp_path: Path) -> None:
    source = _matrix(tmp_path, "vary: {FAIL_AT: [x, y]}\n")
    before = sorted(tmp_path.iterdir())

    done = CliRunner().invoke(main, ["--language", "en", "run", str(source), "--dry-run"])

    assert done.exit_code == 0
    assert [line.split()[:4] for line in done.output.splitlines() if "light" in line] == [
        ["1", "light", "en", "waiting"],
        ["2", "light", "en", "waiting"],
    ]
    assert "FAIL_AT=x" in done.output
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("option", [["--workers", "2"], ["--out", "x"], ["--again"]])
def test_options_of_a_matrix_without_one_are_usage_errors(option: list[str]) -> None:
    done = CliRunner().invoke(main, ["run", "02_minicpm5", *option])

    assert done.exit_code == 2
    assert option[0] in done.output


def test_matrix_interrupted_leaves_a_report_of_all_runs_and_no_process(
    tmp_path: Path, own_state: Path
) -> None:
    mark = tmp_path / "mark"
    source = _matrix(
        tmp_path, "vary: {FAIL_AT: [late, z]}\nworkers: 1\n", WAITS.format(mark=str(mark))
    )
    # A shell that starts a job with `&` lets it ignore Ctrl-C; a run in a terminal heeds it.
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from helpers.cli import main; main(sys.argv[1:])"
    )
    words = ["--language", "en", "run", str(source), "--out", str(tmp_path / "out")]
    one = subprocess.Popen(
        [sys.executable, "-c", code, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": str(paths.ROOT)},
    )
    deadline = time.monotonic() + 600
    while not mark.exists():
        assert time.monotonic() < deadline and one.poll() is None
        time.sleep(0.1)

    one.send_signal(signal.SIGINT)
    out, _ = one.communicate(timeout=600)

    assert one.returncode == 130, out
    assert "Traceback" not in out and "Interrupted" in out
    report = Report(**json.loads((tmp_path / "out" / "report.json").read_text("utf-8")))
    runs = _by_value(report)
    assert not report.ok
    assert _code(runs["late"]) == "run.interrupted"
    assert runs["z"].skipped and runs["z"].error is None
    assert of_folder(tmp_path / "out") == []
