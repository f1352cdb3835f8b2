"""A run's report in headless Chromium: it fits a desk and a phone, its links lead somewhere, and it asks nothing of
anybody; nor do the pages of the executed notebooks.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from test_jupyterlab import browser_python  # noqa: F401  # the fixture

from helpers import catalog, execution, messages, pages, paths, report
from helpers.schemas import Report, Run, RunError, Teardown

pytestmark = pytest.mark.full
LAB = "02_minicpm5"
LONG = "a-very-long-word-without-any-place-to-break-" * 4


def _run(folder: Path, number: int, language: str) -> Run:
    """Return a run whose notebook is the committed one, outputs and all; every third one failed."""
    source = paths.NOTEBOOKS / language / f"{LAB}.ipynb"
    place = folder / f"{LAB}.{language}.{number}"
    place.mkdir()
    shutil.copy(source, place)
    page = pages.write(place / source.name, source, LAB, language)
    (place / "log.txt").write_text("…\n", encoding="utf-8")
    cells = json.loads(source.read_text(encoding="utf-8"))["cells"]
    failed = (
        RunError(code="server.died", message=f"[server.died] {LONG}") if number % 3 == 0 else None
    )
    return Run(
        lab=LAB,
        language=language,
        edition="learner",
        engine="cpu",
        parameters={"MAX_MODEL_LEN": 1024 + number, "MODEL_DIR": LONG if number == 3 else ""},
        ok=failed is None,
        seconds=60.0 + number,
        notebook=f"{place.name}/{source.name}",
        page=f"{place.name}/{page.name}",
        log=f"{place.name}/log.txt",
        checkpoints=execution.records(cells),
        error=failed,
    )


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_report_of_a_matrix_fits_a_desk_and_a_phone(
    language: str,
    tmp_path: Path,
    browser_python: Path,  # noqa: F811
) -> None:
    runs = [_run(tmp_path, number, ("zh", "en")[number % 2]) for number in range(1, 13)]
    nothing = Teardown(processes_left=0, ports_left=[])
    summary = Report(
        schema=1,
        started="2026-11-30T12:00:00+00:00",
        ok=False,
        engine_starts=24,
        engine_starts_declared=24,
        runs=runs,
        teardown=nothing,
        matrix="matrix.yml",
        executor="local",
        seconds=400.0,
    )
    report.write(summary, tmp_path, language)
    shown = shutil.copy(tmp_path / "report.html", tmp_path / f"report-{language}.html")
    pictures = paths.build_dir()
    pictures.mkdir(parents=True, exist_ok=True)
    script = Path(__file__).with_name("drive_report.py")

    done = subprocess.run(
        [str(browser_python), str(script), str(shown), str(pictures), "1280", "390"],
        capture_output=True,
        text=True,
        timeout=600,
    )

    assert done.returncode == 0, done.stderr[-3000:]
    seen = json.loads(done.stdout)
    for width in ("1280", "390"):
        assert seen[width]["width"] <= int(width)
        assert (seen[width]["elsewhere"], seen[width]["broken"]) == ([], [])
    assert (seen["1280"]["head"], seen["390"]["head"]) == (True, False)


@pytest.mark.parametrize("language", messages.LANGUAGES)
@pytest.mark.parametrize("lab", catalog.labs())
def test_page_of_a_notebook_needs_nothing_from_elsewhere(
    lab: str, language: str, tmp_path: Path
) -> None:
    source = paths.NOTEBOOKS / language / f"{lab}.ipynb"
    executed = Path(shutil.copy(source, tmp_path))

    page = pages.write(executed, source, lab, language).read_text(encoding="utf-8")

    assert re.findall(r"<(?:script|link|iframe)\b", page) == []
    assert [
        src
        for src in re.findall(r'<img\b[^>]*\bsrc="([^"]*)"', page)
        if not src.startswith("data:")
    ] == []
    assert re.findall(r"@import|url\(", page) == []
