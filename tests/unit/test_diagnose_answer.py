"""The answer: its form for programs, its order for people, the command, and honesty where nothing is known."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from diagnose_logs import CASES

from helpers import diagnose
from helpers.cli import main
from helpers.diagnose.answer import Diagnosis

FORM = [
    *("schema", "verdict", "entry", "confidence", "stage", "evidence", "cause", "advice"),
    *("sources", "also", "harmless"),
]
CASE = CASES["E43-parser-keyerror"]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "server.log"
    path.write_text(f"INFO 11-30 10:00:00 [x.py:1] non-default args: {{}}\n{CASE}\n")
    return path


def run(*words: str, stdin: str | None = None):
    return CliRunner().invoke(main, ["diagnose", *words], input=stdin)


def test_json_has_the_fields_that_others_rely_on(log: Path) -> None:
    done = run(str(log), "--json")

    found = json.loads(done.output)
    assert set(FORM) <= set(found)
    assert (found["schema"], found["verdict"], found["entry"]) == (
        1,
        "fault",
        "tool_parser_unknown",
    )
    assert found["evidence"] == [{"line": 2, "text": CASE}]
    assert found["stage"] == "loading"
    assert Diagnosis.model_validate(found).entry == "tool_parser_unknown"


def test_text_begins_with_the_conclusion_and_shows_file_and_line(log: Path) -> None:
    said = run(str(log), "--language", "en").output

    order = [said.index(w) for w in ("Fault ·", "Evidence", "Why", "What to do", "How to tell")]
    assert order == sorted(order)
    assert order[0] == 0
    assert f"server.log:2  {CASE[:40]}" in said
    assert "minicpm5" in said.splitlines()[0]


@pytest.mark.parametrize(("language", "word"), [("zh", "有故障"), ("en", "Fault")])
def test_language_is_the_one_asked_for(log: Path, language: str, word: str) -> None:
    assert run(str(log), "--language", language).output.startswith(word)


def test_html_escapes_what_the_log_says() -> None:
    html = diagnose.read_text(f"{CASE} <script>alert(1)</script>")._repr_html_()

    assert "<script>" not in html
    assert "&lt;script&gt;" in html


@pytest.mark.parametrize(
    ("text", "status"),
    [(CASE, 1), ("INFO:     Application startup complete.\n", 0), ("nothing at all\n", 3)],
)
def test_exit_status_follows_the_verdict(text: str, status: int) -> None:
    assert run("-", stdin=text).exit_code == status


def test_last_takes_the_newest_log(own_state: Path) -> None:
    folder = own_state / "logs"
    folder.mkdir(parents=True)
    for age, (name, text) in enumerate([("new", CASE), ("old", "INFO:     Shutting down\n")]):
        (folder / f"{name}.log").write_text(text)
        os.utime(folder / f"{name}.log", (10_000 - age, 10_000 - age))

    found = json.loads(run("--last", "--json").output)

    assert (found["entry"], Path(found["source"]).name) == ("tool_parser_unknown", "new.log")


def test_last_without_any_log_is_a_message(own_state: Path) -> None:
    done = CliRunner().invoke(main, ["--language", "en", "diagnose", "--last"])

    assert done.exit_code == 1
    assert done.stderr.startswith("[diagnose.command.no_log] There is no log")


def test_missing_file_and_directory_are_messages(tmp_path: Path) -> None:
    for path in (tmp_path / "none.log", tmp_path):
        done = run(str(path))
        assert done.exit_code == 1
        assert done.stderr.startswith("[diagnose.command.unreadable]")


@pytest.mark.parametrize("words", [(), ("a.log", "--last")])
def test_neither_or_both_of_file_and_last_is_a_usage_error(words: tuple[str, ...]) -> None:
    assert run(*words).exit_code == 2


def test_error_that_nobody_knows_is_said_to_be_unknown_and_shown() -> None:
    found = diagnose.read_text(
        'Traceback (most recent call last):\n  File "x.py", line 1\nFrobError: the flux is low\n',
        "en",
    )

    assert (found.verdict, found.entry, found.confidence) == ("unknown", None, "low")
    said = [(item.line, item.text) for item in found.evidence]
    assert said == [(3, "FrobError: the flux is low"), (2, 'File "x.py", line 1')]
    assert "Collect" in " ".join(found.advice) or "collect" in " ".join(found.advice)


def test_failed_start_with_an_unknown_cause_is_a_fault_without_a_guess() -> None:
    log = "(EngineCore pid=1) ERROR 11-30 10:00:00 [core.py:1] EngineCore failed to start.\n(EngineCore pid=1) ERROR 11-30 10:00:00 [core.py:1] FrobError: the flux is low\n"

    found = diagnose.read_text(log, "en")

    assert (found.verdict, found.entry) == ("fault", None)
    assert "does not have the cause" in found.title
    assert found.evidence[0].text == "FrobError: the flux is low"


def test_warning_is_no_failure() -> None:
    log = "(APIServer pid=1) WARNING 11-30 10:00:00 [x.py:1] Failed to import from vllm._C with ImportError('undefined symbol: _Z')\nINFO:     Application startup complete.\n"

    assert diagnose.read_text(log).verdict == "healthy"


def test_what_the_log_says_is_filled_in() -> None:
    said = diagnose.read_text(CASES["E26-kv-too-small-for-max-len"], "en")

    assert "131072" in said.cause
    assert "3.10 GiB" in said.cause
    assert any("77392" in line for line in said.advice)


def test_value_that_the_log_does_not_name_leaves_no_placeholder() -> None:
    said = diagnose.read_text("KeyError: 'invalid tool call parser: ", "en")

    assert "{" not in str(said)
