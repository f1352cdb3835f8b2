"""Tests of the playground's widgets, their callbacks driven directly: what is shown after a click."""

from __future__ import annotations

import html
import threading
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

import pytest
from light.light_openai import LightOpenAI, serving
from light.light_pictures import encoded

from helpers import messages
from helpers.server import Endpoint
from helpers.widgets.conversation import Conversation
from helpers.widgets.panel import Panel

SECONDS = 60.0
HOSTILE = ["<script>window.hit=1</script>", "<img src=x onerror='window.hit=1'>", "</div></pre><b>"]


@pytest.fixture
def light() -> Iterator[LightOpenAI]:
    with serving() as one:
        one.events = streamed("I see</think>Paris")
        yield one


@pytest.fixture
def panel(light: LightOpenAI) -> Iterator[Panel]:
    messages.use("en")
    one = Panel(Conversation(Endpoint(light.url, "M", stand_in=True)))
    yield one
    one.conversation.stop()
    assert one.conversation.join(SECONDS)


def streamed(*pieces: str) -> list[Any]:
    deltas = [{"choices": [{"delta": {"content": p}, "finish_reason": None}]} for p in pieces]
    last = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    return [*deltas, last, {"choices": [], "usage": usage}, "data: [DONE]\n\n"]


def ask(panel: Panel, question: str) -> None:
    """Type a question, click Send, and wait for the end of the answer."""
    panel.question.value = question
    panel.send.click()
    assert panel.conversation.join(SECONDS)


def chosen(name: str, data: bytes) -> dict[str, Any]:
    """Return a file as the upload button hands it over."""
    return {
        "name": name,
        "type": "image/png",
        "size": len(data),
        "content": memoryview(data),
        "last_modified": datetime(2026, 1, 1, tzinfo=timezone.utc),
    }


def shown(widget: Any) -> str:
    """Return all HTML that a widget and those in it show."""
    texts = [str(widget.value)] if type(widget).__name__ == "HTML" else []
    return "\n".join([*texts, *(shown(child) for child in getattr(widget, "children", ()))])


def test_question_and_its_answer_are_shown_and_the_box_is_emptied(panel: Panel) -> None:
    ask(panel, "Capital of France?")

    text = shown(panel.transcript)
    assert "Capital of France?" in text
    assert "Paris" in text
    assert "3 + 2 tokens" in text
    assert panel.question.value == ""
    assert (panel.send.disabled, panel.stop.disabled) == (False, True)


def test_thinking_is_folded_and_stays_as_the_user_left_it(panel: Panel) -> None:
    ask(panel, "First?")
    fold = panel.transcript.children[0].children[1]
    assert type(fold).__name__ == "Accordion"
    assert fold.selected_index is None
    fold.selected_index = 0

    ask(panel, "Second?")

    assert fold.selected_index == 0
    assert "I see" in fold.children[0].value
    assert len(panel.transcript.children) == 2


def test_stand_in_is_labelled_at_the_head_and_under_each_answer(panel: Panel) -> None:
    ask(panel, "Hi")

    assert "STAND-IN" in panel.head.value
    assert "STAND-IN" in panel.transcript.children[0].children[-1].value


def test_served_model_that_is_no_stand_in_has_no_label(light: LightOpenAI) -> None:
    panel = Panel(Conversation(Endpoint(light.url, "M")))

    ask(panel, "Hi")

    assert "STAND-IN" not in shown(panel.box)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_markup_of_model_and_user_is_shown_as_text(
    hostile: str, light: LightOpenAI, panel: Panel
) -> None:
    light.events = streamed(f"{hostile} in thoughts</think>", f"{hostile} in words")

    ask(panel, f"{hostile} in question")

    text = shown(panel.box)
    assert hostile not in text
    assert text.count(html.escape(hostile)) == 3


@pytest.mark.parametrize("hostile", HOSTILE)
def test_markup_in_a_refusal_and_in_a_models_name_is_shown_as_text(
    hostile: str, light: LightOpenAI
) -> None:
    light.status, light.body = 400, {"error": {"message": hostile}}
    panel = Panel(Conversation(Endpoint(light.url, hostile)))

    ask(panel, "Hi")

    text = shown(panel.box)
    assert hostile not in text
    assert text.count(html.escape(hostile)) == 2


def test_refusal_is_told_in_the_courses_words(light: LightOpenAI, panel: Panel) -> None:
    light.status, light.body = 401, {"error": "Unauthorized"}

    ask(panel, "Hi")

    text = shown(panel.transcript)
    assert "[chat.unauthorized]" in text
    assert "Traceback" not in text
    assert panel.send.disabled is False


def test_settings_are_what_the_request_says(light: LightOpenAI, panel: Panel) -> None:
    panel.settings.temperature.value = 0.25
    panel.settings.top_p.value = 0.5
    panel.settings.max_tokens.value = 77
    panel.settings.thinking.value = None

    ask(panel, "Hi")

    names = ("temperature", "top_p", "max_tokens")
    assert [light.sent[name] for name in names] == [0.25, 0.5, 77]
    assert "chat_template_kwargs" not in light.sent
    assert panel.settings.box.selected_index is None


@pytest.mark.parametrize(
    ("known", "sent"),
    [
        (None, {"enable_thinking": True}),
        ({"thinking", "tools"}, {"enable_thinking": True}),
        ({"thinking", "images"}, None),
        (set(), None),
    ],
)
def test_thinking_is_asked_of_text_models_that_can(
    known: set[str] | None, sent: dict[str, bool] | None, light: LightOpenAI
) -> None:
    capabilities = None if known is None else frozenset(known)
    panel = Panel(Conversation(Endpoint(light.url, "M", capabilities=capabilities)))

    ask(panel, "Hi")

    assert light.sent.get("chat_template_kwargs") == sent


def test_uploaded_picture_goes_with_the_next_question_only(
    light: LightOpenAI, panel: Panel
) -> None:
    panel.upload.value = (chosen("a.png", encoded()),)
    assert len(panel.pending.children) == 2  # the picture, and the button that removes it

    ask(panel, "What?")
    ask(panel, "And?")

    first, last = light.requests[0][2]["messages"], light.sent["messages"]
    assert [part["type"] for part in first[0]["content"]] == ["image_url", "text"]
    assert last[-1]["content"] == "And?"
    assert panel.pending.children == ()
    assert panel.upload.value == ()


def test_file_that_is_no_picture_is_told_and_the_others_stay(panel: Panel) -> None:
    panel.upload.value = (
        chosen("a.png", encoded()),
        chosen("<b>.png", b"no picture at all"),
    )

    assert "[image.not_a_picture]" in panel.note.value
    assert "<b>.png" not in panel.note.value
    assert "&lt;b&gt;.png" in panel.note.value
    assert len(panel.pending.children) == 2


def test_pictures_can_be_removed_before_they_are_sent(light: LightOpenAI, panel: Panel) -> None:
    panel.upload.value = (chosen("a.png", encoded()),)

    panel.drop.click()

    ask(panel, "What?")
    assert light.sent["messages"][0]["content"] == "What?"


def test_empty_question_sends_nothing(light: LightOpenAI, panel: Panel) -> None:
    ask(panel, "  ")

    assert light.requests == []
    assert panel.note.value


def test_stop_button_ends_an_answer_and_the_next_can_begin(
    light: LightOpenAI, panel: Panel
) -> None:
    begun, released = threading.Event(), threading.Event()

    def held() -> Iterator[Any]:
        yield streamed("I see</think>Par")[0]
        begun.set()
        released.wait(SECONDS)

    light.events = held()  # type: ignore[assignment]
    panel.question.value = "Hi"
    panel.send.click()
    assert begun.wait(SECONDS)
    assert (panel.send.disabled, panel.stop.disabled) == (True, False)

    panel.stop.click()

    assert (panel.send.disabled, panel.stop.disabled) == (False, True)
    assert "stopped" in shown(panel.transcript)
    assert panel.conversation.join(SECONDS)
    released.set()
    light.events = streamed("Paris")
    ask(panel, "Again")
    assert "Paris" in shown(panel.transcript)


def test_new_chat_empties_the_panel(light: LightOpenAI, panel: Panel) -> None:
    ask(panel, "Hi")

    panel.clear.click()

    assert panel.transcript.children == ()
    ask(panel, "Other")
    assert [turn["content"] for turn in light.sent["messages"]] == ["Other"]


def test_panel_of_the_other_language_speaks_it(light: LightOpenAI) -> None:
    messages.use("zh")

    panel = Panel(Conversation(Endpoint(light.url, "M")))

    assert (panel.send.description, panel.stop.description) == ("发送", "停止")
