"""Tests of the report: report.json is the design's form, report.html is whole, escaped, and needs
nothing from outside.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner
from pydantic import ValidationError

from helpers import report
from helpers.cli import main
from helpers.schemas import Checkpoint, Report, Run, RunError, Teardown


def _checkpoint(
    step: str, status: str = "pass", reason: str | None = None, **changes: Any
) -> Checkpoint:
    values = {
        "lab": "02_minicpm5",
        "step": step,
        "status": status,
        "reason": reason,
        "ok": status != "fail",
        "seconds": 1.5,
        "engine": "cpu",
        "model": "MiniCPM5-2B",
        "stand_in": True,
        "versions": {"vllm": "0.32.0"},
        "detail": {},
    }
    return Checkpoint(**(values | changes))


def _run(language: str = "zh", **changes: Any) -> Run:
    values = {
        "lab": "02_minicpm5",
        "language": language,
        "edition": "learner",
        "engine": "cpu",
        "parameters": {},
        "ok": True,
        "seconds": 60.0,
        "notebook": f"02_minicpm5.{language}.ipynb",
        "checkpoints": [_checkpoint("serving")],
        "error": None,
    }
    return Run(**(values | changes))


def _report(*runs: Run, **changes: Any) -> Report:
    values = {
        "started": "2026-11-30T12:00:00+00:00",
        "ok": all(run.ok for run in runs),
        "engine_starts": 2,
        "engine_starts_declared": 2,
        "runs": list(runs),
        "teardown": Teardown(processes_left=0, ports_left=[]),
    }
    return Report(**(values | changes))


FAILED = _run(
    ok=False,
    checkpoints=[_checkpoint("serving"), _checkpoint("chat", "fail", "<script>alert(1)</script>")],
    error=RunError(
        code="checkpoint.failed", message="[checkpoint.failed] <script>alert(1)</script> & more"
    ),
)


def test_report_json_has_the_keys_of_the_design(tmp_path: Path) -> None:
    report.write(_report(_run()), tmp_path)

    body = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert {
        "schema",
        "started",
        "ok",
        "engine_starts",
        "engine_starts_declared",
        "runs",
        "teardown",
    } <= set(body)
    assert {
        "lab",
        "language",
        "edition",
        "engine",
        "parameters",
        "ok",
        "seconds",
        "notebook",
        "checkpoints",
        "error",
        "skipped",
    } <= set(body["runs"][0])
    assert body["schema"] == 1
    assert set(body["teardown"]) == {"processes_left", "ports_left"}


def test_report_json_read_again_is_the_same_report(tmp_path: Path) -> None:
    written = _report(_run(), FAILED)
    report.write(written, tmp_path)

    assert Report(**json.loads((tmp_path / "report.json").read_text("utf-8"))) == written


def test_report_with_an_unknown_field_is_refused() -> None:
    with pytest.raises(ValidationError):
        Report(**_report(_run()).model_dump(by_alias=True), surprise=1)


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("zh", ["课程运行报告", "通过", "检查点", "离线批量推理", "没有剩余进程"]),
        ("en", ["Course run", "passed", "Checkpoint", "offline batch", "no process left"]),
    ],
)
def test_html_in_each_language_holds_title_labs_and_statuses(
    language: str, words: list[str]
) -> None:
    page = report.html(_report(_run("zh"), _run("en")), language)

    assert f'<html lang="{language}">' in page
    assert [word for word in words if word not in page] == []
    assert "02_minicpm5" in page


def test_html_shows_engine_versions_and_the_stand_in_badge() -> None:
    page = report.html(_report(_run()), "en")

    assert "STAND-IN" in page
    assert "vllm 0.32.0" in page
    assert "MiniCPM5-2B" in page


def test_html_of_real_weights_has_no_stand_in_badge() -> None:
    run = _run(checkpoints=[_checkpoint("serving", stand_in=False)])

    assert "STAND-IN" not in report.html(_report(run), "en")


def test_html_escapes_a_failure_text_everywhere() -> None:
    page = report.html(_report(FAILED), "en")

    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 2


def test_html_of_a_failure_names_its_code_and_the_failed_step() -> None:
    page = report.html(_report(FAILED), "en")

    assert "checkpoint.failed" in page
    assert re.search(r'class="b fail">fail<', page)


@pytest.mark.parametrize("status", ["pass", "fail", "skipped", "todo", "kept"])
def test_html_shows_each_status_in_its_own_word(status: str) -> None:
    page = report.html(_report(_run(checkpoints=[_checkpoint("serving", status, "why")])), "en")

    assert f'<span class="b {status}">{status}</span>' in page


def test_html_refers_to_nothing_outside() -> None:
    page = report.html(_report(_run(), FAILED), "zh")

    assert re.findall(r"https?://|//cdn|@import|url\(|<link|<script|<img|<iframe", page) == []
    assert set(re.findall(r'href="([^"]+)"', page)) == {"02_minicpm5.zh.ipynb"}


def test_html_of_two_runs_of_one_lab_has_a_column_for_each() -> None:
    page = report.html(_report(_run("zh"), _run("en")), "en")

    assert page.count("<h2>02_minicpm5") == 1
    assert re.search(r"<th>zh</th>.*<th>en</th>", page)


def test_html_of_one_lab_with_two_parameter_sets_shows_both_results() -> None:
    first = _run(parameters={"SEED": 1}, checkpoints=[_checkpoint("serving", "pass")])
    second = _run(
        parameters={"SEED": 2}, ok=False, checkpoints=[_checkpoint("serving", "fail", "no")]
    )

    page = report.html(_report(first, second), "en")

    assert '<span class="b pass">pass</span>' in page
    assert '<span class="b fail">fail</span>' in page


def test_html_of_a_report_with_leftovers_says_so() -> None:
    page = report.html(
        _report(_run(), ok=False, teardown=Teardown(processes_left=1, ports_left=[8000])), "en"
    )

    assert "left over" in page
    assert "[8000]" in page


def test_html_of_a_run_that_was_interrupted_before_any_lab_is_whole() -> None:
    page = report.html(_report(ok=False), "en")

    assert page.rstrip().endswith("</html>")


def test_html_of_a_lab_outside_of_the_catalogue_shows_its_name() -> None:
    page = report.html(_report(_run(lab="my_lab")), "en")

    assert "my_lab" in page


def test_report_command_makes_the_page_again_in_the_language_asked(
    tmp_path: Path, kept_environ: None
) -> None:
    report.write(_report(_run()), tmp_path, "zh")
    (tmp_path / "report.html").unlink()

    done = CliRunner().invoke(main, ["report", str(tmp_path), "--language", "en"])

    assert done.exit_code == 0
    assert "report.html" in done.output
    assert '<html lang="en">' in (tmp_path / "report.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("content", "code"), [(None, "report.missing"), ('{"schema": 2}', "report.unreadable")]
)
def test_report_command_without_a_report_to_read_says_so(
    tmp_path: Path, kept_environ: None, content: str | None, code: str
) -> None:
    if content is not None:
        (tmp_path / "report.json").write_text(content, "utf-8")

    done = CliRunner().invoke(main, ["report", str(tmp_path)])

    assert done.exit_code == 1
    assert f"[{code}]" in done.output
    assert "Traceback" not in done.output


def test_report_writes_junit_beside_it(tmp_path: Path) -> None:
    report.write(_report(_run(), FAILED), tmp_path)

    root = ET.parse(tmp_path / "junit.xml").getroot()
    assert (root.tag, root.get("tests"), root.get("failures")) == ("testsuites", "3", "1")
