"""Tests of chat against a tiny HTTP server: what is sent, what becomes of answers and streams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from light.light_openai import LightOpenAI, chat_body, serving

from helpers import chat, messages
from helpers.errors import AnswerTimeout, NotOpenAI, RequestRefused, Unreachable
from helpers.server import Endpoint


@pytest.fixture
def light() -> Iterator[LightOpenAI]:
    with serving() as one:
        yield one


@pytest.fixture
def server(light: LightOpenAI) -> Endpoint:
    return Endpoint(light.url, "M")


def _delta(content: str | None, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": content}, "finish_reason": finish}]}


USAGE = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}}
DONE = "data: [DONE]\n\n"


def test_ask_sends_every_value_that_shapes_an_answer(light: LightOpenAI, server: Endpoint) -> None:
    answer = chat.ask("Hi", server=server)

    assert light.sent == {
        "model": "M",
        "messages": [{"role": "user", "content": "Hi"}],
        "max_tokens": 1024,
        "temperature": 1.0,
        "top_p": 0.95,
    }
    assert answer.request == light.sent


def test_ask_sends_chosen_values_and_further_fields(light: LightOpenAI, server: Endpoint) -> None:
    chat.ask("Hi", server=server, max_tokens=8, temperature=0, top_p=1, seed=7, model="other")

    fields = ("max_tokens", "temperature", "top_p", "seed", "model")
    assert [light.sent[name] for name in fields] == [8, 0, 1, 7, "other"]


@pytest.mark.parametrize("thinking", [True, False])
def test_ask_with_thinking_sends_the_templates_switch(
    light: LightOpenAI, server: Endpoint, thinking: bool
) -> None:
    chat.ask("Hi", server=server, thinking=thinking)

    assert light.sent["chat_template_kwargs"] == {"enable_thinking": thinking}


def test_ask_without_thinking_sends_no_switch(light: LightOpenAI, server: Endpoint) -> None:
    chat.ask("Hi", server=server, thinking=None)

    assert "chat_template_kwargs" not in light.sent


def test_ask_with_thinking_keeps_other_template_arguments(
    light: LightOpenAI, server: Endpoint
) -> None:
    chat.ask("Hi", server=server, thinking=True, chat_template_kwargs={"x": 1})

    assert light.sent["chat_template_kwargs"] == {"x": 1, "enable_thinking": True}


def test_ask_with_system_puts_it_first(light: LightOpenAI, server: Endpoint) -> None:
    chat.ask("Hi", server=server, system="Be brief.")

    assert [turn["role"] for turn in light.sent["messages"]] == ["system", "user"]


def test_ask_with_messages_sends_them_as_they_are(light: LightOpenAI, server: Endpoint) -> None:
    turns = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c"},
    ]

    chat.ask(turns, server=server)

    assert light.sent["messages"] == turns


def test_ask_splits_the_thinking_out_and_keeps_the_content(
    light: LightOpenAI, server: Endpoint
) -> None:
    light.body = chat_body("I see.\n</think>\n\nParis")

    answer = chat.ask("Hi", server=server, thinking=True)

    assert (answer.thinking, answer.text, answer.content) == (
        "I see.",
        "Paris",
        "I see.\n</think>\n\nParis",
    )
    assert answer.usage == {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    assert answer.ttft is None


def test_ask_cut_inside_its_thinking_warns(light: LightOpenAI, server: Endpoint) -> None:
    light.body = chat_body("I see and", finish="length")
    messages.use("en")

    answer = chat.ask("Hi", server=server, thinking=True, max_tokens=8)

    assert (answer.cut_in_thinking, answer.text) == (True, "")
    assert "max_tokens=8" in str(answer)


def test_ask_cut_in_its_answer_does_not_warn(light: LightOpenAI, server: Endpoint) -> None:
    light.body = chat_body("x</think>Par", finish="length")

    assert chat.ask("Hi", server=server, thinking=True).warning == ""


def test_ask_answered_by_a_tool_call_has_empty_text(light: LightOpenAI, server: Endpoint) -> None:
    light.body = chat_body(None, finish="tool_calls", tool_calls=[])

    answer = chat.ask("Hi", server=server)

    assert (answer.text, answer.finish_reason) == ("", "tool_calls")


def test_answer_of_a_stand_in_is_labelled_as_text_and_html(light: LightOpenAI) -> None:
    answer = chat.ask("Hi", server=Endpoint(light.url, "M", stand_in=True))

    assert "STAND-IN" in str(answer)
    assert "STAND-IN" in answer._repr_html_()


def test_answer_as_html_escapes_the_models_text(light: LightOpenAI, server: Endpoint) -> None:
    light.body = chat_body("<script>x</script>")

    assert "<script>" not in chat.ask("Hi", server=server)._repr_html_()


def test_stream_yields_pieces_and_then_the_whole_answer(
    light: LightOpenAI, server: Endpoint
) -> None:
    light.events = [
        _delta(None),
        _delta(""),
        _delta("Pa"),
        _delta("ris"),
        _delta(None, "stop"),
        USAGE,
        DONE,
    ]

    stream = chat.stream("Hi", server=server)
    pieces = [(piece.kind, piece.text) for piece in stream]

    assert pieces == [("answer", "Pa"), ("answer", "ris")]
    assert (stream.answer.text, stream.answer.finish_reason) == ("Paris", "stop")
    assert stream.answer.usage == USAGE["usage"]
    assert stream.answer.ttft is not None
    assert 0 < stream.answer.ttft <= stream.answer.seconds


def test_stream_asks_for_usage_and_sends_the_shaping_values(
    light: LightOpenAI, server: Endpoint
) -> None:
    light.events = [_delta("x", "stop"), USAGE, DONE]

    chat.stream("Hi", server=server, thinking=True).answer  # noqa: B018 - reading it sends the request

    assert (light.sent["stream"], light.sent["stream_options"]) == (True, {"include_usage": True})
    assert {"max_tokens", "temperature", "top_p"} <= set(light.sent)
    assert light.sent["chat_template_kwargs"] == {"enable_thinking": True}


def test_stream_tells_thinking_from_answer_although_a_tag_is_cut(
    light: LightOpenAI, server: Endpoint
) -> None:
    light.events = [_delta("I see.</th"), _delta("ink>\n"), _delta("Paris", "stop"), DONE]

    pieces = [(p.kind, p.text) for p in chat.stream("Hi", server=server, thinking=True)]

    assert pieces == [("thinking", "I see."), ("answer", "Paris")]


def test_stream_read_only_as_answer_sends_one_request(light: LightOpenAI, server: Endpoint) -> None:
    light.events = [_delta("Paris", "stop"), DONE]
    stream = chat.stream("Hi", server=server)

    texts = [stream.answer.text, stream.answer.text]

    assert texts == ["Paris", "Paris"]
    assert len(light.requests) == 1


def test_stream_skips_comments_and_blank_lines(light: LightOpenAI, server: Endpoint) -> None:
    light.events = [": ping\n\n", _delta("Paris", "stop"), "\n", DONE]

    assert chat.stream("Hi", server=server).answer.text == "Paris"


def test_stream_that_is_refused_raises_before_any_piece(
    light: LightOpenAI, server: Endpoint
) -> None:
    light.status, light.body = 400, {"error": {"message": "no"}}

    with pytest.raises(RequestRefused, match="no"):
        next(iter(chat.stream("Hi", server=server)))


def test_stream_with_an_error_event_raises_its_text(light: LightOpenAI, server: Endpoint) -> None:
    light.events = [
        _delta("Pa"),
        {"error": {"message": "EngineCore encountered an issue", "code": 500}},
        DONE,
    ]

    with pytest.raises(RequestRefused) as caught:
        chat.stream("Hi", server=server).answer  # noqa: B018 - reading it sends the request

    assert caught.value.original == "EngineCore encountered an issue"


def test_stream_cut_by_the_server_raises_lab_error(light: LightOpenAI, server: Endpoint) -> None:
    light.events, light.cut = [_delta("Pa")], True

    with pytest.raises(Unreachable):
        chat.stream("Hi", server=server).answer  # noqa: B018 - reading it sends the request


def test_ask_that_takes_too_long_is_told(light: LightOpenAI, server: Endpoint) -> None:
    light.delay = 0.6

    with pytest.raises(AnswerTimeout):
        chat.ask("Hi", server=server, timeout=0.1)


def test_ask_answered_by_a_web_page_is_told_not_openai(
    light: LightOpenAI, server: Endpoint
) -> None:
    light.body, light.content_type = b"<html>log in</html>", "text/html"

    with pytest.raises(NotOpenAI) as caught:
        chat.ask("Hi", server=server)

    assert caught.value.original == "<html>log in</html>"


def test_prompt_as_seen_counts_then_decodes(light: LightOpenAI, server: Endpoint) -> None:
    light.body = {"tokens": [1, 2, 3], "count": 3, "max_model_len": 64, "prompt": "<s>user\nHi"}

    view = chat.prompt_as_seen("Hi", server=server, thinking=False)

    (_, _, counted), (_, _, decoded) = light.requests
    assert (str(view), len(view), view.max_model_len) == ("<s>user\nHi", 3, 64)
    assert counted["chat_template_kwargs"] == {"enable_thinking": False}
    assert decoded == {"model": "M", "tokens": [1, 2, 3]}
