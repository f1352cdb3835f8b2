"""Tests of what a matrix adds to a report's page: failures by cause, skips by reason, parameters,
attempts, what was kept and what was not begun.
"""

from __future__ import annotations

import re

from markupsafe import escape
from test_report import FAILED, _checkpoint, _report, _run

from helpers import report
from helpers.diagnose import attached, knowledge
from helpers.schemas import CellTime, RunError


def test_html_groups_failures_by_cause_the_most_frequent_first() -> None:
    other = _run("en", ok=False, error=RunError(code="server.died", message="[server.died] gone"))

    page = report.html(_report(FAILED, other, FAILED), "en")

    assert re.findall(r"<h3><code>([^<]+)</code>[^·]*· (\d+)</h3>", page) == [
        ("checkpoint.failed · chat", "2"),
        ("server.died", "1"),
    ]


def test_html_of_a_diagnosed_failure_tells_its_cause_and_what_to_do() -> None:
    entry = next(iter(knowledge.entries()))
    broken = RunError(code="server.died", message="[server.died] gone", diagnosis=entry)

    page = report.html(_report(_run(ok=False, error=broken)), "en")

    told = {name: str(escape(text)) for name, text in attached.told(entry, "en").items()}
    assert told["title"] in page
    assert told["cause"] in page


def test_html_of_a_diagnosis_that_is_not_known_here_shows_its_name() -> None:
    broken = RunError(code="server.died", message="gone", diagnosis="of-a-later-version")

    assert "of-a-later-version" in report.html(_report(_run(ok=False, error=broken)), "en")


def test_html_tells_each_reason_of_skips_once_with_its_places() -> None:
    skipped = [_checkpoint("a", "skipped", "no NPU"), _checkpoint("b", "skipped", "no NPU")]

    page = report.html(
        _report(_run("zh", checkpoints=skipped), _run("en", checkpoints=skipped)), "en"
    )

    assert "<li>no NPU <span" in page
    assert "<code>02_minicpm5 a</code> ×2" in page


def test_html_of_a_matrix_shows_parameters_attempts_what_was_kept_and_what_was_not_begun() -> None:
    runs = [
        _run(parameters={"SEED": 1}, kept=True, page="a/x.html", log="a/log.txt"),
        _run(parameters={"SEED": 2}, attempts=2, cells=[CellTime(cell=7, seconds=31.2)]),
        _run(parameters={"SEED": 3}, ok=False, skipped="not begun", checkpoints=[]),
    ]

    page = report.html(_report(*runs, matrix="m.yml", executor="local", seconds=9.0), "en")

    for word in (
        "SEED=1",
        "kept from before",
        "2 attempts",
        "[7] 31.2 s",
        "not run",
        "m.yml · local",
    ):
        assert word in page
    assert 'href="a/x.html"' in page and 'href="a/log.txt"' in page
