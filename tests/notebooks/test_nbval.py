"""nbval runs the learner edition, strictly: what a learner sees is what the committed notebook shows."""

from __future__ import annotations

import subprocess

import pytest
import regression

from helpers import catalog, engines, paths


def jobs() -> list[object]:
    """Return (lab, language): the catalogue's test language in `make test`, the other one in the full suite."""
    found = []
    for name, lab in catalog.labs().items():
        for language in ("zh", "en"):
            marks = [] if language == lab["test_language"] else [pytest.mark.full]
            found.append(pytest.param(name, language, marks=marks, id=f"{name}-{language}"))
    return found


@pytest.mark.parametrize(("lab", "language"), jobs())
def test_lab_run_by_nbval_shows_what_the_committed_notebook_shows(
    lab: str, language: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    if not engines.Cpu().available().ok:
        pytest.skip("the committed outputs are those of the CPU engine, which is not here")
    env = regression.environment(language, tmp_path_factory.mktemp("nbval"))
    command = regression.command(paths.NOTEBOOKS / language / f"{lab}.ipynb")

    done = subprocess.run(command, cwd=paths.ROOT, env=env, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
