"""Tool calling on the real engine with its own parser: calls, streams, choices, refusals, the loop.

One server for the whole module, with lab 03's own options. What only the stand-in answers so is
skipped for another checkpoint.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from helpers import catalog, chat, environment, errors, messages, server, tool_errors, tools
from helpers.answers import Answer
from helpers.engines import Cpu
from helpers.models import Model
from helpers.server import Server
from helpers.tools import Tool, tool

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "assets" / "standins"))

from train import heldout  # noqa: E402

LAB = "03_tool_calling"
WEATHER = {"en": "What is the weather in {}?", "zh": "{}的天气怎么样？"}
GREEDY: dict[str, Any] = {"temperature": 0, "max_tokens": 256}
PLACES = [(language, city) for language in WEATHER for city in heldout.VALUES["city", language]]
SHOWN = {"en": "Quito", "zh": "洛阳"}
"""The city of the lab, by language."""


DEGREES = {"Quito": 14, "Porto": 19, "洛阳": 12}


def _weather(city: str) -> dict[str, Any]:
    sky = "多云" if city == "洛阳" else "clear"
    return {"city": city, "condition": sky, "temperature": DEGREES[city]}


@tool
def get_weather(city: str) -> dict[str, Any]:
    """Get current weather for a city"""
    return _weather(city)


def labs_own() -> Tool:
    """Return the tool as the lab has it: its argument is described, too."""

    @tool
    def get_weather(city: str) -> dict[str, Any]:
        """Get current weather for a city

        Args:
            city: name of the city, as the user wrote it
        """
        return _weather(city)

    return get_weather


TOOLS = [get_weather.schema]


@pytest.fixture(scope="module")
def tooled(device: Cpu, model: Model) -> Iterator[Server]:
    """Return a server with the lab's flags; starts its own, since they belong to the start."""
    if not model.stand_in:
        pytest.skip("the prompts are those that the stand-in was trained for")
    options = catalog.options(LAB, "cpu", served_model_name=model.name, port=0)
    started = server.start(device, model, options)
    assert isinstance(started, Server)
    started.wait_ready(300)
    yield started
    assert started.stop().ok


def bare(answer: Answer) -> list[tuple[str, Any]]:
    """Return the calls of an answer as (name, arguments)."""
    return [(one.name, json.loads(one.arguments)) for one in answer.tool_calls]


def ask(tooled: Server, language: str, city: str, **more: Any) -> Answer:
    return chat.ask(
        WEATHER[language].format(city), server=tooled, **{**GREEDY, "tools": TOOLS, **more}
    )


@pytest.fixture(scope="module")
def whole(tooled: Server) -> dict[tuple[str, str], Answer]:
    """Return the answer to each held-out place, not streamed, thinking off."""
    return {place: ask(tooled, *place, thinking=False) for place in PLACES}


def test_calls_about_held_out_cities_are_right_in_95_of_100(
    whole: dict[tuple[str, str], Answer],
) -> None:
    right = [
        bare(answer) == [("get_weather", {"city": city})] for (_, city), answer in whole.items()
    ]

    assert len(right) >= 30
    assert sum(right) >= 0.95 * len(right)


def test_stream_gives_the_calls_of_the_whole_answer_for_30_prompts(
    tooled: Server, whole: dict[tuple[str, str], Answer]
) -> None:
    for (language, city), answer in whole.items():
        question = WEATHER[language].format(city)
        flow = chat.stream(question, tools=TOOLS, thinking=False, server=tooled, **GREEDY)

        assert bare(flow.answer) == bare(answer), city
        assert flow.answer.text == answer.text
        assert flow.answer.finish_reason == answer.finish_reason


@pytest.mark.parametrize("language", WEATHER)
def test_stream_with_thinking_keeps_the_thinking_that_the_whole_answer_drops(
    tooled: Server, language: str
) -> None:
    city = SHOWN[language]
    question = WEATHER[language].format(city)
    answer = ask(tooled, language, city, thinking=True)

    flow = chat.stream(question, tools=TOOLS, thinking=True, server=tooled, **GREEDY)
    kinds = list(dict.fromkeys(piece.kind for piece in flow))

    assert kinds == ["thinking", "tool"]
    assert bare(flow.answer) == bare(answer) == [("get_weather", {"city": city})]
    assert flow.answer.content.rstrip().endswith("</think>")
    assert answer.content == ""


def test_content_beside_a_call_is_null_with_auto_and_empty_with_required(tooled: Server) -> None:
    told = {}
    for choice in ("auto", "required"):
        body = ask(tooled, "en", "Quito", thinking=True, tool_choice=choice).request
        reply = tooled.session.post(f"{tooled.base_url}/v1/chat/completions", json=body)
        told[choice] = reply.json()["choices"][0]["message"]["content"]

    assert told == {"auto": None, "required": ""}


def test_tool_choice_decides_whether_and_what_is_called(tooled: Server) -> None:
    named = {"type": "function", "function": {"name": "get_weather"}}
    choices = ("none", "auto", "required", named)

    answers = [ask(tooled, "en", "Quito", thinking=False, tool_choice=one) for one in choices]

    right = [("get_weather", {"city": "Quito"})]
    assert [bare(one) for one in answers] == [[], right, right, right]
    assert [one.finish_reason for one in answers] == ["stop", "tool_calls", "tool_calls", "stop"]


def test_raw_completion_shows_the_tags_only_where_it_keeps_special_tokens(tooled: Server) -> None:
    view = chat.prompt_as_seen(WEATHER["en"].format("Quito"), tools=TOOLS, server=tooled)
    body = {"model": tooled.served_model_name, "prompt": view.tokens, **GREEDY}
    url = f"{tooled.base_url}/v1/completions"

    kept, dropped = (
        tooled.session.post(url, json=body | {"skip_special_tokens": skip}).json()["choices"][0]
        for skip in (False, True)
    )

    assert (
        '<function name="get_weather"><param name="city">Quito</param></function>' in kept["text"]
    )
    assert "<function" not in dropped["text"]


def test_sdk_runs_its_own_tool_calling_flow_unchanged(
    tooled: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.no_proxy(os.environ).items():
        monkeypatch.setenv(name, value)
    turns: list[Any] = [{"role": "user", "content": WEATHER["en"].format("Quito")}]
    model = tooled.served_model_name
    with openai.OpenAI(base_url=f"{tooled.base_url}/v1", api_key="none", max_retries=0) as client:
        first = client.chat.completions.create(model=model, messages=turns, tools=TOOLS, **GREEDY)  # type: ignore[call-overload]
        said = first.choices[0].message
        turns.append(said)
        for call in said.tool_calls:
            result = json.dumps(get_weather(**json.loads(call.function.arguments)))
            turns.append({"role": "tool", "tool_call_id": call.id, "content": result})
        last = client.chat.completions.create(model=model, messages=turns, tools=TOOLS, **GREEDY)  # type: ignore[call-overload]

    assert first.choices[0].finish_reason == "tool_calls"
    assert "14" in last.choices[0].message.content


@pytest.mark.parametrize("language", WEATHER)
def test_loop_answers_with_what_only_the_tool_knew(tooled: Server, language: str) -> None:
    question = WEATHER[language].format(SHOWN[language])

    done = tools.run_tools(question, [get_weather], thinking=False, server=tooled, **GREEDY)

    assert done.problem is None
    assert SHOWN[language] in done.answer
    assert str(DEGREES[SHOWN[language]]) in done.answer


def test_loop_that_must_always_call_is_stopped(tooled: Server) -> None:
    done = tools.run_tools(
        WEATHER["en"].format("Porto"),
        [labs_own()],
        tool_choice="required",
        thinking=True,
        max_rounds=2,
        server=tooled,
        **GREEDY,
    )

    assert type(done.problem) is tool_errors.EndlessCalling
    assert len(done.rounds) == 2


def test_loop_cut_inside_its_first_call_runs_nothing(tooled: Server) -> None:
    small = GREEDY | {"max_tokens": 40}

    done = tools.run_tools(
        WEATHER["en"].format("Quito"), [get_weather], thinking=True, server=tooled, **small
    )

    assert type(done.problem) is tool_errors.CutWhileCalling
    assert done.calls == []


def _schema(**parameters: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "get_weather", "parameters": parameters}}


MANY = [{**TOOLS[0], "function": {**TOOLS[0]["function"], "name": f"f{n}"}} for n in range(200)]
NOBODY = {"tool_choice": {"type": "function", "function": {"name": "nobody"}}}
UNTYPED = _schema(type="object", properties={"city": {"type": "text"}})
LISTED = _schema(type="object", properties=[1])
NAMELESS = {"type": "function", "function": {}}
EMPTY, CHOICE = tool_errors.ToolsEmpty, tool_errors.ToolChoiceRefused
SCHEMA, MUCH = tool_errors.ToolSchemaRefused, tool_errors.TooManyTools
REFUSED: dict[str, tuple[Any, dict[str, Any], type[errors.LabError], str]] = {
    "empty list": ([], {}, EMPTY, "must not be an empty array"),
    "no name": ([NAMELESS], {}, SCHEMA, "body.tools.0.function.name"),
    "properties are a list": ([LISTED], {}, SCHEMA, "has no attribute 'keys'"),
    "grammar": ([UNTYPED], {"tool_choice": "required"}, SCHEMA, "Invalid type: text"),
    "200 tools": (MANY, {}, MUCH, "maximum context length is 2048"),
    "named tool that is not there": (TOOLS, NOBODY, CHOICE, "does not match any"),
    "choice without tools": (None, {"tool_choice": "auto"}, CHOICE, "`tools` must be set"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_tools_that_the_server_refuses_are_told_with_its_words(tooled: Server, case: str) -> None:
    offered, more, kind, said = REFUSED[case]
    asked = more | ({} if offered is None else {"tools": offered})

    with pytest.raises(errors.LabError) as caught:
        chat.ask(WEATHER["en"].format("Quito"), server=tooled, **GREEDY, **asked)

    assert type(caught.value) is kind
    assert said in str(caught.value.original)
    told = {language: caught.value.told(language) for language in messages.LANGUAGES}
    assert all(str(caught.value.original) in text for text in told.values())
    assert told["zh"] != told["en"]


def test_unknown_type_without_a_grammar_is_not_noticed_by_the_server(tooled: Server) -> None:
    answer = ask(tooled, "en", "Quito", thinking=False, tools=[UNTYPED])

    assert answer.tool_calls


@pytest.mark.parametrize("language", WEATHER)
def test_stand_in_is_sure_of_what_the_lab_compares_strictly(tooled: Server, language: str) -> None:
    own = labs_own()
    asked = {"server": tooled, "tools": [own.schema], "logprobs": True, "top_logprobs": 2, **GREEDY}
    question = WEATHER[language].format(SHOWN[language])
    agent = tools.run_tools(question, [own], thinking=False, server=tooled, **GREEDY)

    for turns, thinking in ((question, True), (question, False), (agent.messages[:-1], False)):
        body = chat.ask(turns, thinking=thinking, **asked).request
        reply = tooled.session.post(f"{tooled.base_url}/v1/chat/completions", json=body).json()
        steps = reply["choices"][0]["logprobs"]["content"]

        gaps = [
            step["top_logprobs"][0]["logprob"] - step["top_logprobs"][1]["logprob"]
            for step in steps
        ]

        assert min(gaps) >= 0.5
