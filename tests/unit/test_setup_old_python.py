"""Setup begun with a Python that is too old for the course: it looks for a newer one, and must not
fail over its own age first. Skipped where the machine has no such Python.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from helpers import paths

TABLE = """
from helpers import setup
from helpers.setup.environments import Outcome
setup._show_table([Outcome("course", "3.11.7", 140, 900, 31.5, "state-new")], 31.5)
"""


@pytest.fixture(params=["3.8", "3.9"])
def old(request: pytest.FixtureRequest) -> str:
    """Return the path of an old Python: of pyenv's, or on PATH."""
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    named = shutil.which(f"python{request.param}")
    places = [*sorted(pyenv.glob(f"versions/{request.param}.*/bin/python")), named]
    for place in filter(None, places):
        if subprocess.run([str(place), "-V"], capture_output=True, check=False).returncode == 0:
            return str(place)
    pytest.skip(f"no Python {request.param} here")


@pytest.mark.parametrize("words", [["-m", "helpers", "setup", "--check"], ["-c", TABLE]])
def test_setup_with_an_old_python_says_what_it_has_to_say(
    old: str, words: list[str], tmp_path: Path
) -> None:
    variables = {**os.environ, "LAB_STATE_DIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}

    done = subprocess.run(
        [old, *words], cwd=paths.ROOT, env=variables, capture_output=True, text=True, check=False
    )

    assert "course" in done.stdout
    assert (done.stderr, done.returncode in (0, 1)) == ("", True)
