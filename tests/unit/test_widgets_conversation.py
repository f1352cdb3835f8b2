"""Tests of the playground's conversation against a tiny HTTP server: turns, stop, errors, tools."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from light.light_openai import LightOpenAI, serving
from light.light_pictures import picture

from helpers import images
from helpers.server import Endpoint
from helpers.widgets.conversation import Conversation, Settings, Turn

SECONDS = 60.0


@pytest.fixture
def light() -> Iterator[LightOpenAI]:
    with serving() as one:
        one.events = streamed("Paris")
        yield one


@pytest.fixture
def talk(light: LightOpenAI) -> Iterator[Conversation]:
    one = Conversation(Endpoint(light.url, "M"))
    yield one
    one.stop()
    assert one.join(SECONDS)


def delta(**said: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": said, "finish_reason": None}]}


def ending(finish: str = "stop") -> list[Any]:
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
    return [last, {"choices": [], "usage": usage}, "data: [DONE]\n\n"]


def streamed(*pieces: str) -> list[Any]:
    return [*(delta(content=piece) for piece in pieces), *ending()]


def calling(name: str, arguments: str) -> list[Any]:
    function = {"name": name, "arguments": arguments}
    call = {"index": 0, "id": "call_1", "type": "function", "function": function}
    return [delta(tool_calls=[call]), *ending("tool_calls")]


class Held:
    """Events of a stream that stops after the first ones until it is released."""

    def __init__(self, *pieces: str) -> None:
        self.begun, self.released = threading.Event(), threading.Event()
        self._pieces = pieces

    def __iter__(self) -> Iterator[Any]:
        yield from (delta(content=piece) for piece in self._pieces)
        self.begun.set()
        self.released.wait(SECONDS)
        yield from streamed(" and more")


def asked(talk: Conversation, question: str, **more: Any) -> Turn:
    """Return the turn once it has ended."""
    turn = talk.send(question, **more)
    assert turn is not None
    assert talk.join(SECONDS)
    return turn


def segments(turn: Turn) -> list[tuple[str, str]]:
    return [(one.kind, one.text) for one in turn.segments]


def code(turn: Turn) -> str:
    return turn.error.code if turn.error else ""


def test_turn_of_a_stream_is_split_into_thinking_and_answer(
    light: LightOpenAI, talk: Conversation
) -> None:
    light.events = streamed("I ", "see</th", "ink>", "Par", "is")

    turn = asked(talk, "Hi", settings=Settings(thinking=True))

    assert segments(turn) == [("thinking", "I see"), ("answer", "Paris")]
    assert (turn.state, turn.error) == ("done", None)
    assert turn.answer and turn.answer.usage["total_tokens"] == 5


def test_settings_of_a_turn_are_sent(light: LightOpenAI, talk: Conversation) -> None:
    asked(talk, "Hi", settings=Settings(0.3, 0.7, 33, False))

    sent = light.sent
    assert (sent["temperature"], sent["top_p"], sent["max_tokens"]) == (0.3, 0.7, 33)
    assert sent["chat_template_kwargs"] == {"enable_thinking": False}
    assert sent["stream"] is True


def test_second_turn_sends_the_first_without_its_thinking(
    light: LightOpenAI, talk: Conversation
) -> None:
    light.events = streamed("I see</think>Paris")
    asked(talk, "Capital?", settings=Settings(thinking=True))

    asked(talk, "Sure?")

    assert light.sent["messages"] == [
        {"role": "user", "content": "Capital?"},
        {"role": "assistant", "content": "Paris"},
        {"role": "user", "content": "Sure?"},
    ]


def test_pictures_of_a_turn_go_before_its_text(light: LightOpenAI, talk: Conversation) -> None:
    asked(talk, "What?", pictures=[images.load(picture())])

    parts = light.sent["messages"][0]["content"]
    assert [part["type"] for part in parts] == ["image_url", "text"]
    assert parts[0]["image_url"]["url"].startswith("data:image/png;base64,")


def test_refused_turn_keeps_the_error_and_is_not_sent_again(
    light: LightOpenAI, talk: Conversation
) -> None:
    light.status, light.body = 400, {"error": {"message": "maximum context length is 4096 tokens"}}
    refused = asked(talk, "too long")
    light.status = 200

    asked(talk, "short")

    assert (refused.state, code(refused)) == ("failed", "chat.prompt_too_long")
    assert [turn["content"] for turn in light.sent["messages"]] == ["short"]


def test_turn_at_a_closed_port_tells_a_typed_error() -> None:
    with serving() as gone:
        talk = Conversation(Endpoint(gone.url, "M"))

    assert code(asked(talk, "Hi")) == "remote.unreachable"


@pytest.mark.parametrize("event", [{"choices": [{}]}, "data: {broken\n\n", {"choices": 3}])
def test_stream_that_is_no_chat_answer_tells_a_typed_error(
    event: Any, light: LightOpenAI, talk: Conversation
) -> None:
    light.events = [event, *ending()]

    turn = asked(talk, "Hi")

    assert (turn.state, code(turn)) == ("failed", "remote.not_openai")


def test_connection_cut_in_the_middle_tells_a_typed_error(
    light: LightOpenAI, talk: Conversation
) -> None:
    light.events, light.cut = [delta(content="Par")], True

    turn = asked(talk, "Hi")

    assert (turn.state, turn.said, code(turn)) == ("failed", "Par", "remote.unreachable")


def test_stop_while_the_server_is_silent_ends_the_thread_and_keeps_what_came(
    light: LightOpenAI, talk: Conversation
) -> None:
    held = Held("Par", "is")
    light.events = held  # type: ignore[assignment]
    came = threading.Event()
    talk.changed = lambda turn: came.set() if turn.said == "Paris" else None
    turn = talk.send("Hi")
    assert held.begun.wait(SECONDS)
    assert came.wait(SECONDS)

    talk.stop()

    assert turn and (turn.state, turn.error, talk.is_busy) == ("stopped", None, False)
    assert talk.join(SECONDS)  # before the server says more
    held.released.set()
    assert turn.said == "Paris"
    assert talk.messages[-1] == {"role": "assistant", "content": "Paris"}


def test_stop_before_the_first_word_leaves_the_question_out(
    light: LightOpenAI, talk: Conversation
) -> None:
    held = Held()
    light.events = held  # type: ignore[assignment]
    turn = talk.send("Hi")
    assert held.begun.wait(SECONDS)

    talk.stop()

    assert turn and turn.state == "stopped"
    assert talk.join(SECONDS)
    held.released.set()
    assert talk.messages == []


def test_send_while_an_answer_is_on_its_way_begins_nothing(
    light: LightOpenAI, talk: Conversation
) -> None:
    held = Held("Par")
    light.events = held  # type: ignore[assignment]
    talk.send("Hi")
    assert held.begun.wait(SECONDS)

    second = talk.send("Again")

    held.released.set()
    assert second is None
    assert talk.join(SECONDS)
    assert [turn.question for turn in talk.turns] == ["Hi"]
    assert len(light.requests) == 1


def test_cleared_conversation_begins_anew(light: LightOpenAI, talk: Conversation) -> None:
    asked(talk, "Hi")

    talk.clear()

    asked(talk, "Other")
    assert [turn["content"] for turn in light.sent["messages"]] == ["Other"]
    assert [turn.question for turn in talk.turns] == ["Other"]


def test_answer_cut_in_its_thinking_is_not_sent_again(
    light: LightOpenAI, talk: Conversation
) -> None:
    light.events = [delta(content="I see and"), *ending("length")]

    turn = asked(talk, "Hi", settings=Settings(thinking=True))

    assert turn.state == "done"
    assert turn.answer and turn.answer.warning
    assert talk.messages == []


class Scripted:
    """Streams that follow each other: the next request gets the next one."""

    def __init__(self, *streams: list[Any]) -> None:
        self._streams = iter(streams)

    def __iter__(self) -> Iterator[Any]:
        return iter(next(self._streams))


def weather(city: str) -> str:
    """Tell the weather in a city."""
    return f"{city}: 7 degrees"


def test_call_of_an_offered_tool_is_run_and_its_result_answered(
    light: LightOpenAI, talk: Conversation
) -> None:
    call = calling("weather", '{"city": "Oslo"}')
    light.events = Scripted(call, streamed("7 degrees"))  # type: ignore[assignment]
    talk.serve(talk.endpoint, [weather])

    turn = asked(talk, "Oslo?")

    assert segments(turn) == [
        ("tool", 'weather({"city": "Oslo"})'),
        ("result", "Oslo: 7 degrees"),
        ("answer", "7 degrees"),
    ]
    roles = [message["role"] for message in light.sent["messages"]]
    assert roles == ["user", "assistant", "tool"]
    assert [message["role"] for message in talk.messages] == [*roles, "assistant"]
    assert light.sent["tools"][0]["function"]["name"] == "weather"


def test_call_of_an_unknown_tool_tells_the_model(light: LightOpenAI, talk: Conversation) -> None:
    light.events = Scripted(calling("rm", "{}"), streamed("Sorry"))  # type: ignore[assignment]
    talk.serve(talk.endpoint, [weather])

    turn = asked(talk, "Oslo?")

    assert turn.said == "Sorry"
    assert json.loads(turn.segments[1].text)["error"] == "unknown"


def test_model_that_calls_for_ever_is_stopped_with_a_typed_error(
    light: LightOpenAI, talk: Conversation
) -> None:
    light.events = calling("weather", '{"city": "Oslo"}')
    talk.serve(talk.endpoint, [weather])

    turn = asked(talk, "Oslo?")

    assert code(turn) == "tools.endless"
    assert talk.messages == []
