"""A drawn case from start to marked answer, on a server without a model: what is started, what is
printed, what is left.
"""

from __future__ import annotations

import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from light.light_engine import LightEngine, light_model, light_options

from helpers import faults, messages, server
from helpers.faults import trial
from helpers.faults.deployment import Deployment
from helpers.faults.known import FAULTS
from helpers.models import Model

DIES = LightEngine(("--delay", "600", "--die-after", "0.2", "--exit-code", "3"))
SERVES = LightEngine()


@pytest.fixture
def model(own_state: Path, tmp_path: Path) -> Model:
    return light_model(tmp_path / "model")


def case_of(name: str, model: Model, engine: LightEngine, **changes: Any) -> faults.Case:
    """Return a started case of a fault whose deployment is a light server's."""
    fault = replace(next(one for one in FAULTS if one.id == name), **changes)
    broken = Deployment(model, light_options(0), asked_name="Light")
    case = faults.Case("A", fault, broken, model)
    case.start(engine)
    return case


def left() -> list[str]:
    return [row.state for row in server.status() if row.state in ("starting", "ready")]


def test_case_that_died_tells_its_command_and_its_end(
    model: Model, capsys: pytest.CaptureFixture[str]
) -> None:
    messages.use("en")

    case = case_of("flag_unknown", model, DIES)

    said = capsys.readouterr().out
    assert "light_server.py" in said and "--die-after 0.2" in said
    assert "exit code 3" in said
    assert case.has_failed
    assert "told to die" in case.log.read_text(encoding="utf-8")
    assert left() == []


def test_case_that_serves_and_answers_has_not_failed(model: Model) -> None:
    case = case_of("model_name_unknown", model, SERVES)

    assert not case.has_failed
    assert case.outcome is not None and case.outcome.answered == 200
    assert left() == []


def test_case_before_its_start_has_no_log(model: Model) -> None:
    case = faults.Case("A", FAULTS[0], Deployment(model, light_options(0)), model)

    with pytest.raises(RuntimeError, match="start"):
        _ = case.log


def test_log_is_shown_with_the_numbers_of_its_lines(
    model: Model, capsys: pytest.CaptureFixture[str]
) -> None:
    case = case_of("flag_unknown", model, DIES)
    total = len(case.log.read_text(encoding="utf-8").splitlines())
    capsys.readouterr()

    case.show(1, 1)
    case.lines(2, 2)
    case.find("told to die")

    numbers = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert numbers == ["1", "…", str(total), "2", str(total)]


def graded(case: faults.Case, engine: LightEngine, **changes: Any) -> bool:
    """Return the mark of the right answer with some parts changed; the repair runs on `engine`."""
    case._engine = engine
    total = len(case.log.read_text(encoding="utf-8").splitlines())
    return case.grade({"cause": case.fault.id, "line": total, "repair": {}} | changes)


@pytest.fixture
def dead(model: Model) -> faults.Case:
    """Return a case that died, whose repair must not change anything and reach a loading log."""
    return case_of("engine_died", model, DIES, evidence="told to die", past="Starting to load")


def test_answer_with_every_part_right_is_right_and_leaves_nothing(dead: faults.Case) -> None:
    assert graded(dead, LightEngine(("--delay", "600")))
    assert left() == []


@pytest.mark.parametrize(
    "changes", [{"cause": "port_in_use"}, {"line": 1}, {"line": 0}, {"repair": {"port": 1}}]
)
def test_answer_with_one_part_wrong_is_wrong(dead: faults.Case, changes: dict[str, Any]) -> None:
    assert not graded(dead, LightEngine(("--delay", "600")), **changes)


def test_repair_that_keeps_what_was_wanted_and_still_dies_is_wrong(model: Model) -> None:
    case = case_of("engine_died", model, DIES, evidence="told to die")

    assert not graded(case, DIES)


def test_repair_of_what_serves_must_be_answered(model: Model) -> None:
    case = case_of("engine_died", model, DIES, evidence="told to die")

    assert graded(case, SERVES)


def test_answer_without_a_part_is_an_error_that_the_exercise_catches(dead: faults.Case) -> None:
    with pytest.raises(KeyError):
        dead.grade({"cause": "engine_died", "line": 1})


def test_solution_of_a_case_is_marked_right(dead: faults.Case) -> None:
    dead._engine = LightEngine(("--delay", "600"))

    assert dead.grade(faults.solution(dead))


def test_stranger_holds_the_port_while_the_server_starts_and_no_longer(model: Model) -> None:
    case = case_of("port_in_use", model, LightEngine(("--delay", "0.5")))

    assert case.has_failed
    assert "Address already in use" in case.log.read_text(encoding="utf-8")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", case.broken.options.port))


def test_variables_of_a_deployment_are_set_for_its_start_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LAB_TRIAL_KEPT", "before")
    import os

    with trial.variables({"LAB_TRIAL_KEPT": "during", "LAB_TRIAL_NEW": "during"}):
        inside = {name: os.environ[name] for name in ("LAB_TRIAL_KEPT", "LAB_TRIAL_NEW")}

    assert set(inside.values()) == {"during"}
    assert os.environ["LAB_TRIAL_KEPT"] == "before"
    assert "LAB_TRIAL_NEW" not in os.environ


def test_hints_are_two_and_differ(
    model: Model, capsys: pytest.CaptureFixture[str], own_state: Path
) -> None:
    case = faults.Case("A", FAULTS[0], Deployment(model, light_options(0)), model)

    case.hint()
    case.hint(2)
    case.hint(99)

    first, second, last = capsys.readouterr().out.splitlines()
    assert first != second == last
