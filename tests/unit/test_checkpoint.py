"""Tests of checkpoints: the record, its readable forms, and that a fail is recorded before it is
raised.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from light.light_engine import LightEngine

from helpers import checkpoint, messages, server
from helpers.errors import CheckFailed, ModelEmpty
from helpers.models import Model
from helpers.schemas import Checkpoint

MODEL = Model(None, "M", stand_in=True)
# DESIGN.md, Interfaces: "checkpoint output", in this order.
KEYS = [
    *(
        "schema",
        "lab",
        "step",
        "status",
        "reason",
        "ok",
        "seconds",
        "engine",
        "model",
        "stand_in",
        "versions",
    ),
    "detail",
]


@pytest.fixture
def bundles(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Return the list to which every checkpoint's display bundle is added; English, lab begun."""
    shown: list[dict[str, Any]] = []
    monkeypatch.setattr(checkpoint, "_show", shown.append)
    monkeypatch.setattr(checkpoint, "_context", dict(checkpoint._context))
    messages.use("en")
    checkpoint.begin("02_minicpm5", LightEngine(), MODEL)
    return shown


def _record(bundles: list[dict[str, Any]]) -> dict[str, Any]:
    record: dict[str, Any] = bundles[-1][checkpoint.MIME]
    return record


def test_check_that_holds_leaves_a_record_of_the_designs_form(
    bundles: list[dict[str, Any]],
) -> None:
    checkpoint.check("serving", True, seconds=1.5)

    record = _record(bundles)
    assert list(record) == KEYS
    assert Checkpoint(**record).model_dump(by_alias=True) == record
    assert record | {"seconds": 0} == {
        "schema": 1,
        "lab": "02_minicpm5",
        "step": "serving",
        "status": "pass",
        "reason": None,
        "ok": True,
        "seconds": 0,
        "engine": "light",
        "model": "M",
        "stand_in": True,
        "versions": {"vllm": "0.0.0"},
        "detail": {"seconds": 1.5},
    }


def test_check_that_fails_is_recorded_before_it_raises(bundles: list[dict[str, Any]]) -> None:
    with pytest.raises(CheckFailed) as caught:
        checkpoint.check("serving", False, "no answer", code=3)

    record = _record(bundles)
    assert (record["status"], record["ok"], record["reason"]) == ("fail", False, "no answer")
    assert caught.value.values == {"step": "serving", "reason": "no answer"}
    assert caught.value.evidence == "code: 3"


def test_check_that_fails_without_reason_says_so(bundles: list[dict[str, Any]]) -> None:
    with pytest.raises(CheckFailed):
        checkpoint.check("serving", [])

    assert _record(bundles)["reason"] == "the condition does not hold"


def test_check_that_holds_has_no_reason_although_one_was_given(
    bundles: list[dict[str, Any]],
) -> None:
    checkpoint.check("serving", "text", "only where it fails")

    assert _record(bundles)["reason"] is None


@pytest.mark.parametrize("verb", ["skip", "todo", "kept"])
def test_other_statuses_are_ok_and_carry_their_reason(
    bundles: list[dict[str, Any]], verb: str
) -> None:
    getattr(checkpoint, verb)("serving", "because")

    record = _record(bundles)
    assert (record["status"], record["ok"], record["reason"]) == (
        verb.replace("skip", "skipped"),
        True,
        "because",
    )
    Checkpoint(**record)


def test_text_form_holds_step_status_and_reason_only(bundles: list[dict[str, Any]]) -> None:
    checkpoint.check("serving", True, seconds=1.5, port=8000)
    checkpoint.skip("stopped", "remote")

    texts = [bundle["text/plain"] for bundle in bundles]
    assert texts == ["checkpoint serving: pass", "checkpoint stopped: skipped — remote"]


def test_text_form_of_the_same_check_is_the_same_in_every_run(
    bundles: list[dict[str, Any]],
) -> None:
    for seconds in (1.0, 2.0):
        checkpoint.check("serving", True, seconds=seconds)

    assert bundles[0]["text/plain"] == bundles[1]["text/plain"]


def test_html_form_escapes_the_reason(bundles: list[dict[str, Any]]) -> None:
    checkpoint.skip("serving", "<script>")

    assert "<script>" not in bundles[0]["text/html"]


def test_detail_that_is_no_json_becomes_text(bundles: list[dict[str, Any]]) -> None:
    checkpoint.check("serving", True, error=ModelEmpty(path="x"), items=(1, 2))

    detail = _record(bundles)["detail"]
    assert detail["items"] == [1, 2]
    assert detail["error"].startswith("[model.empty]")


def test_seconds_count_from_the_checkpoint_before(
    bundles: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([10.0, 10.0, 11.25, 11.25])
    monkeypatch.setattr(checkpoint.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(checkpoint, "_since", 8.0)

    checkpoint.check("a", True)
    checkpoint.check("b", True)

    assert [bundle[checkpoint.MIME]["seconds"] for bundle in bundles] == [2.0, 1.25]


def test_record_after_attaching_to_a_remote_server_tells_what_it_serves(
    bundles: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = server.RemoteServer("http://127.0.0.1:1", "SmolLM2", stand_in=False)
    remote.told_version, remote.capabilities = "0.23.0", frozenset()
    engine = LightEngine(name="remote")
    engine.versions = dict  # type: ignore[method-assign]
    checkpoint.begin("02_minicpm5", engine, Model(None, "MiniCPM5-2B"))
    server.use(remote)

    checkpoint.check("serving", True)
    checkpoint.check("thinking", False)

    serving, thinking = (bundle[checkpoint.MIME] for bundle in bundles)
    assert (serving["versions"], serving["stand_in"]) == ({"vllm": "0.23.0"}, False)
    assert (serving["model"], serving["status"]) == ("SmolLM2", "pass")
    assert thinking["status"] == "skipped"


def _capable(*capabilities: str) -> Model:
    return Model(Path("/m/SmolLM2-135M"), "M", capabilities=frozenset(capabilities))


@pytest.mark.parametrize("language", messages.LANGUAGES)
@pytest.mark.parametrize("step", ["thinking", "prompt_seen", "budget", "reads_prompt"])
def test_step_that_needs_what_the_model_lacks_is_skipped_with_the_reason(
    bundles: list[dict[str, Any]], step: str, language: str
) -> None:
    messages.use(language)
    checkpoint.begin("02_minicpm5", LightEngine(), _capable("tools"))

    checkpoint.check(step, False)

    record = _record(bundles)
    assert (record["status"], record["ok"], record["model"]) == ("skipped", True, "SmolLM2-135M")
    assert "SmolLM2-135M" in record["reason"]


@pytest.mark.parametrize("step", ["serving", "models", "chat", "streaming", "stopped"])
def test_step_that_needs_nothing_of_the_model_is_never_skipped(
    bundles: list[dict[str, Any]], step: str
) -> None:
    checkpoint.begin("02_minicpm5", LightEngine(), _capable())

    with pytest.raises(CheckFailed):
        checkpoint.check(step, False)

    assert _record(bundles)["status"] == "fail"


def test_step_whose_needs_the_model_has_is_checked(bundles: list[dict[str, Any]]) -> None:
    checkpoint.begin("02_minicpm5", LightEngine(), _capable("thinking", "course_facts"))

    with pytest.raises(CheckFailed):
        checkpoint.check("thinking", False)

    checkpoint.check("thinking", True)
    assert _record(bundles)["status"] == "pass"


def test_exercise_not_solved_is_todo(bundles: list[dict[str, Any]]) -> None:
    checkpoint.exercise("exercise_budget", ..., 5)

    assert _record(bundles)["status"] == "todo"


def test_exercise_solved_passes(bundles: list[dict[str, Any]]) -> None:
    checkpoint.exercise("exercise_budget", 5, 5)

    assert _record(bundles)["status"] == "pass"


@pytest.mark.parametrize("answer", [4, None, "", "5"])
def test_exercise_answered_wrong_fails_with_the_hint(
    bundles: list[dict[str, Any]], answer: object
) -> None:
    with pytest.raises(CheckFailed, match="count again"):
        checkpoint.exercise("exercise_budget", answer, 5, hint="count again")

    assert _record(bundles)["status"] == "fail"


def test_exercise_with_a_rule_asks_the_rule(bundles: list[dict[str, Any]]) -> None:
    checkpoint.exercise("exercise_budget", 7, lambda answer: answer > 5)

    assert _record(bundles)["status"] == "pass"


def test_exercise_whose_rule_cannot_read_the_answer_fails(bundles: list[dict[str, Any]]) -> None:
    with pytest.raises(CheckFailed):
        checkpoint.exercise("exercise_budget", "seven", lambda answer: answer > 5)

    assert _record(bundles)["status"] == "fail"


def test_check_in_ipython_displays_one_output_with_three_forms() -> None:
    shell = InteractiveShell.instance()
    with capture_output() as captured:
        shell.run_cell("from helpers import checkpoint; checkpoint.check('serving', True)")
    InteractiveShell.clear_instance()

    assert [sorted(output.data) for output in captured.outputs] == [
        [checkpoint.MIME, "text/html", "text/plain"]
    ]


def test_check_outside_of_ipython_prints_the_text_form(capsys: pytest.CaptureFixture[str]) -> None:
    messages.use("en")

    checkpoint.check("serving", True)

    assert capsys.readouterr().out == "checkpoint serving: pass\n"
