"""The call → run → answer loop against scripted turns: what is run, what the model is told back."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from light.light_openai import Scripted, chat_body, serving
from pydantic import Field

from helpers import messages, tool_errors
from helpers.server import Endpoint
from helpers.tools import Transcript, run_tools, tool


@pytest.fixture
def light() -> Iterator[Scripted]:
    one = Scripted()
    with serving(one):
        yield one


def calls(*wanted: tuple[str, Any], finish: str = "tool_calls") -> dict[str, Any]:
    """Return a turn that calls tools; arguments are JSON text or a value."""
    listed = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": a if isinstance(a, str) else json.dumps(a)},
        }
        for number, (name, a) in enumerate(wanted)
    ]
    return chat_body(None, finish=finish, tool_calls=listed)


@tool
def weather(city: str) -> dict[str, Any]:
    """Tell the weather."""
    return {"city": city, "temperature": 7}


@tool
def order(number: Annotated[str, Field(pattern=r"^\d-CN$")]) -> str:
    """Tell where an order is."""
    return f"{number}: on its way"


def run(light: Scripted, turns: list[Any], *tools: Any, **more: Any) -> Transcript:
    light.turns = turns
    return run_tools("Hi", tools or [weather], server=Endpoint(light.url, "M"), **more)


def told(light: Scripted) -> list[str]:
    """Return the tool messages of the last request."""
    return [m["content"] for m in light.sent["messages"] if m["role"] == "tool"]


def test_loop_runs_a_call_and_returns_the_answer_from_its_result(light: Scripted) -> None:
    done = run(light, [calls(("weather", {"city": "Bergen"})), chat_body("7 degrees")])

    assert done.answer == "7 degrees"
    assert done.problem is None
    assert told(light) == ['{"city": "Bergen", "temperature": 7}']
    assert [turn["role"] for turn in done.messages] == ["user", "assistant", "tool", "assistant"]
    assert light.sent["messages"] == done.messages[:3]


def test_loop_sends_tools_and_choice_in_every_round(light: Scripted) -> None:
    run(light, [calls(("weather", {"city": "x"})), chat_body("ok")], tool_choice="auto")

    for _, _, sent in light.requests:
        assert sent["tools"] == [weather.schema]
        assert sent["tool_choice"] == "auto"


def test_loop_answers_each_of_several_calls_under_its_own_id(light: Scripted) -> None:
    both = calls(("weather", {"city": "a"}), ("weather", {"city": "b"}))

    done = run(light, [both, chat_body("ok")])

    ids = [m["tool_call_id"] for m in light.sent["messages"] if m["role"] == "tool"]
    assert ids == ["call_0", "call_1"]
    assert [call.arguments for call in done.calls] == ['{"city": "a"}', '{"city": "b"}']


def test_loop_goes_on_over_repeated_calls(light: Scripted) -> None:
    turns = [calls(("weather", {"city": c})) for c in "ab"]

    done = run(light, [*turns, chat_body("ok")])

    assert len(done.rounds) == 3
    assert done.answer == "ok"
    assert done.tokens == 15


def raising(city: str) -> str:
    """Raise."""
    raise RuntimeError("no station")


def leaving(city: str) -> str:
    """Leave the kernel."""
    raise SystemExit(3)


def large(city: str) -> str:
    """Return a megabyte."""
    return "x" * 1_000_000


def odd(city: str) -> object:
    """Return something that is no JSON."""
    return threading.Lock()


def not_a_number(city: str) -> float:
    """Return what JSON has no word for."""
    return float("nan")


@pytest.mark.parametrize(
    ("function", "name", "arguments", "kind", "detail"),
    [
        (raising, "raising", {"city": "x"}, tool_errors.ToolRaised, "RuntimeError: no station"),
        (leaving, "leaving", {"city": "x"}, tool_errors.ToolRaised, "SystemExit: 3"),
        (large, "large", {"city": "x"}, tool_errors.ResultTooLarge, "size: 1,000,000"),
        (odd, "odd", {"city": "x"}, tool_errors.ResultNotJson, "Unable to serialize"),
        (not_a_number, "not_a_number", {"city": "x"}, tool_errors.ResultNotJson, "not JSON"),
        (weather, "weather", {"town": "x"}, tool_errors.InvalidArguments, "city: Field required"),
        (weather, "weather", '{"city":', tool_errors.InvalidArguments, "Invalid JSON"),
        (weather, "nobody", {"city": "x"}, tool_errors.UnknownTool, "known: weather"),
    ],
)
def test_problem_of_a_call_is_told_to_the_model_and_in_both_languages(
    light: Scripted, function: Any, name: str, arguments: Any, kind: Any, detail: str
) -> None:
    done = run(light, [calls((name, arguments)), chat_body("sorry")], function)

    problem = done.results[0].problem
    sent = json.loads(told(light)[0])
    assert type(problem) is kind
    assert sent["error"] == kind.code.removeprefix("tools.")
    assert detail in sent["detail"]
    assert done.answer == "sorry"
    for language in messages.LANGUAGES:
        text = problem.told(language)
        said = messages.parts(kind.code, language, **problem.values)
        assert all(said[part] in text for part in ("what", "why", "next"))
        assert (problem.original or "") in text


def test_tool_that_hangs_is_left_after_its_time(light: Scripted) -> None:
    released = threading.Event()

    def hanging(city: str) -> str:
        """Hang."""
        released.wait()
        return city

    done = run(
        light, [calls(("hanging", {"city": "x"})), chat_body("ok")], hanging, tool_timeout=0.05
    )
    released.set()

    assert type(done.results[0].problem) is tool_errors.ToolTimeout
    assert json.loads(told(light)[0])["error"] == "timeout"


def test_endless_calling_is_stopped_at_the_limit_and_told(light: Scripted) -> None:
    done = run(light, [calls(("weather", {"city": "x"}))], max_rounds=3)

    assert len(light.requests) == 3
    assert type(done.problem) is tool_errors.EndlessCalling
    assert done.answer == ""
    assert "3" in done.problem.told("zh")
    assert "[tools.endless]" in str(done)


def test_half_a_call_is_not_run(light: Scripted) -> None:
    ran = []

    def noting(city: str) -> str:
        """Note that it ran."""
        ran.append(city)
        return city

    done = run(light, [calls(("noting", '{"city": "x'), finish="length")], noting)

    assert ran == []
    assert type(done.problem) is tool_errors.CutWhileCalling


def test_arguments_that_are_no_object_are_sent_back_as_an_empty_one(light: Scripted) -> None:
    run(light, [calls(("weather", '{"city":')), chat_body("ok")])

    past = light.sent["messages"][1]["tool_calls"][0]
    assert past["function"]["arguments"] == "{}"


def test_repair_by_grammar_drops_the_turn_and_asks_with_required(light: Scripted) -> None:
    turns = [calls(("order", {"number": "7"})), calls(("order", {"number": "7-CN"}))]

    done = run(light, [*turns, chat_body("ok")], order, repair="grammar")

    assert [sent["tool_choice"] for _, _, sent in light.requests] == ["auto", "required", "auto"]
    assert len(light.requests[1][2]["messages"]) == 1
    assert done.rounds[0].dropped
    assert type(done.rounds[0].results[0].problem) is tool_errors.InvalidArguments
    assert [call.arguments for call in done.calls] == ['{"number": "7-CN"}']


def test_repair_by_grammar_runs_no_call_of_the_dropped_turn(light: Scripted) -> None:
    ran = []

    def noting(city: str) -> str:
        """Note that it ran."""
        ran.append(city)
        return city

    mixed = calls(("noting", {"city": "a"}), ("order", {"number": "7"}))
    run(light, [mixed, chat_body("ok")], noting, order, repair="grammar")

    assert ran == []


def test_repair_by_grammar_that_fails_too_is_told_to_the_model(light: Scripted) -> None:
    wrong = calls(("order", {"number": "7"}))

    run(light, [wrong, wrong, chat_body("ok")], order, repair="grammar")

    assert json.loads(told(light)[0])["error"] == "invalid_arguments"


def test_tool_choice_may_depend_on_the_round(light: Scripted) -> None:
    run(
        light,
        [calls(("weather", {"city": "x"})), chat_body("ok")],
        tool_choice=lambda number: "required" if number == 1 else "auto",
    )

    assert [sent["tool_choice"] for _, _, sent in light.requests] == ["required", "auto"]


def test_transcript_shows_a_trace_and_a_table_in_the_readers_language(light: Scripted) -> None:
    messages.use("en")

    done = run(light, [calls(("weather", {"city": "<b>"})), chat_body("7 degrees")])

    assert str(done).splitlines()[:4] == [
        "user: Hi",
        'round 1 call: weather({"city": "<b>"})',
        'round 1 result: {"city": "<b>", "temperature": 7}',
        "answer: 7 degrees",
    ]
    assert "&lt;b&gt;" in done._repr_html_()
    assert done.table().rows[0][:3] == ("1", 'weather({"city": "<b>"})', "ok")


def test_trace_shortens_a_long_result_that_the_model_got_whole(light: Scripted) -> None:
    def long(city: str) -> str:
        """Return a long text."""
        return "x" * 3000

    done = run(light, [calls(("long", {"city": "x"})), chat_body("ok")], long)

    assert len(told(light)[0]) == 3000
    assert "x" * 161 not in str(done)
