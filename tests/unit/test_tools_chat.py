"""Tool calls in chat answers, whole and streamed, against a tiny HTTP server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from light.light_openai import LightOpenAI, chat_body, serving

from helpers import chat, messages
from helpers.server import Endpoint
from helpers.tool_calls import Gathering, ToolCall

CALLS = [
    {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}},
    {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}},
]


@pytest.fixture
def light() -> Iterator[LightOpenAI]:
    with serving() as one:
        yield one


def _event(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _called(index: int, arguments: str, **more: str) -> dict[str, Any]:
    function = {"arguments": arguments} | ({"name": more.pop("name")} if "name" in more else {})
    return {"tool_calls": [{"index": index, "function": function, **more}]}


def _streamed(light: LightOpenAI, deltas: list[dict[str, Any]], **asked: Any) -> chat.Stream:
    light.events = [*map(_event, deltas), _event({}, "tool_calls"), "data: [DONE]\n\n"]
    return chat.stream("Hi", server=Endpoint(light.url, "M"), **asked)


@pytest.mark.parametrize("content", [None, ""])
def test_ask_answered_by_calls_gives_them_without_a_thinking(
    light: LightOpenAI, content: str | None
) -> None:
    light.body = chat_body(content, finish="tool_calls", tool_calls=CALLS)

    answer = chat.ask("Hi", server=Endpoint(light.url, "M"), thinking=True)

    assert answer.tool_calls == (ToolCall("a", "f", '{"x": 1}'), ToolCall("b", "g", "{}"))
    assert (answer.text, answer.thinking, answer.cut_in_thinking) == ("", None, False)


def test_answer_with_calls_shows_each_of_them(light: LightOpenAI) -> None:
    messages.use("en")
    light.body = chat_body(None, finish="tool_calls", tool_calls=CALLS)

    shown = str(chat.ask("Hi", server=Endpoint(light.url, "M")))

    assert 'tool call: f({"x": 1})' in shown
    assert "tool call: g({})" in shown


def test_call_as_message_is_what_the_server_sent() -> None:
    assert ToolCall("a", "f", '{"x": 1}').as_message() == CALLS[0]


def test_stream_assembles_calls_from_fragments_by_index(light: LightOpenAI) -> None:
    flow = _streamed(
        light,
        [
            _called(0, "", id="a", name="f"),
            _called(0, '{"x"'),
            _called(1, "", id="b", name="g"),
            _called(0, ": 1}"),
            _called(1, "{}"),
        ],
    )

    pieces = [(piece.kind, piece.text) for piece in flow]

    assert flow.answer.tool_calls == (ToolCall("a", "f", '{"x": 1}'), ToolCall("b", "g", "{}"))
    assert pieces == [("tool", text) for text in ("f", '{"x"', "g", ": 1}", "{}")]
    assert flow.answer.ttft is not None


def test_stream_with_thinking_before_a_call_keeps_both_and_their_order(light: LightOpenAI) -> None:
    deltas = [{"content": "I need it.\n</th"}, {"content": "ink>\n\n"}, _called(0, "{}", name="f")]

    flow = _streamed(light, deltas, thinking=True)
    kinds = [(piece.kind, piece.text) for piece in flow]

    assert kinds == [("thinking", "I need it.\n"), ("tool", "f{}")]
    assert (flow.answer.thinking, flow.answer.text) == ("I need it.", "")


def test_stream_with_text_after_a_call_goes_on_as_it_was(light: LightOpenAI) -> None:
    deltas = [{"content": "Hm "}, _called(0, "{}", name="f"), {"content": "so.</think>Yes"}]

    flow = _streamed(light, deltas, thinking=True)
    kinds = [(piece.kind, piece.text) for piece in flow]

    assert kinds == [("thinking", "Hm "), ("tool", "f{}"), ("thinking", "so."), ("answer", "Yes")]
    assert flow.answer.text == "Yes"


def test_gathering_of_a_delta_without_an_index_is_the_first_call() -> None:
    gathered = Gathering()

    gathered.add([{"id": "a", "function": {"name": "f", "arguments": None}}])
    gathered.add([{"function": {"arguments": "{}"}}])

    assert gathered.calls == (ToolCall("a", "f", "{}"),)
