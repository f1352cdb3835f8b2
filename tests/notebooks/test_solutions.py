"""The solution edition, zh and en, through papermill: every exercise is solved, nothing is left to do."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import nbformat
import pytest

from helpers import batch, catalog, engines

pytestmark = pytest.mark.full


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("lab", list(catalog.labs()))
def test_solution_edition_run_through_papermill_leaves_nothing_to_do(
    lab: str, language: batch.Language, build: ModuleType, tmp_path: Path, own_state: Path
) -> None:
    if catalog.lab(lab)["engine_starts"] and not engines.Cpu().available().ok:
        pytest.skip("no CPU engine on this machine")
    solved = tmp_path / f"{lab}.ipynb"
    nbformat.write(build.solution(build.read(lab, language)), str(solved))
    folder = tmp_path / "run"
    folder.mkdir()

    summary = batch.run([batch.Job(lab, language, solved, "solution", {"PORT": 0})], folder)

    statuses = {one.step: one.status for one in summary.runs[0].checkpoints}
    assert summary.ok, summary.runs[0].error
    assert set(statuses.values()) <= {"pass", "skipped"}
    assert [step for step in statuses if step.startswith("exercise_")]
