"""The class view's page in headless Chromium: it fits a desk and a phone, and asks nothing of anybody."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from light import class_of_30, light_class
from light.light_class import Learner
from test_jupyterlab import browser_python  # noqa: F401  # the fixture

from helpers import classview, messages, paths
from helpers.classview import page

pytestmark = pytest.mark.full
DESK, PHONE = "1280", "390"
LONG = "a-very-long-name-without-any-place-to-break-" * 3


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_page_of_a_class_fits_a_desk_and_a_phone(
    language: str,
    tmp_path: Path,
    browser_python: Path,  # noqa: F811
) -> None:
    notebook = light_class.run("02_minicpm5", "en", 1)
    light_class.fail(notebook, NameError(LONG))
    people = [*class_of_30.learners(), Learner(LONG[:80], {"02_minicpm5.ipynb": notebook})]
    file, pictures = tmp_path / f"class-{language}.html", paths.build_dir()
    pictures.mkdir(parents=True, exist_ok=True)
    with light_class.speaking(language):
        page.write(classview.view(light_class.write(tmp_path / "class", people)), file)
    script = Path(__file__).with_name("drive_page.py")

    done = subprocess.run(
        [str(browser_python), str(script), str(file), str(pictures), DESK, PHONE],
        capture_output=True,
        text=True,
        timeout=600,
    )

    assert done.returncode == 0, done.stderr[-3000:]
    seen = json.loads(done.stdout)
    for width in (DESK, PHONE):
        assert seen[width]["width"] <= int(width)
        assert seen[width]["sticking_out"] == []
        assert seen[width]["elsewhere"] == []
        assert seen[width]["details_in_view"]
    assert (seen[DESK]["head"], seen[PHONE]["head"]) == (True, False)
