"""Clients that know nothing of this course, unchanged: the openai SDK and curl."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator

import openai
import pytest

from helpers import environment
from helpers.server import Server

QUESTION = [{"role": "user", "content": "What is the capital of France?"}]
SHAPE = {"max_tokens": 32, "temperature": 1, "seed": 7}


@pytest.fixture(scope="module")
def sdk(served: Server) -> Iterator[openai.OpenAI]:
    """Return the SDK's client, made as its documentation says; a server without a key takes any."""
    key = os.environ.get("LAB_API_KEY", "not-needed")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.no_proxy(os.environ).items():
            patch.setenv(name, value)
        with openai.OpenAI(base_url=f"{served.base_url}/v1", api_key=key, max_retries=0) as client:
            yield client


def _curl(served: Server, path: str, *more: str) -> str:
    """Return what curl prints for a path of the server, run as a child of a cell is."""
    program = shutil.which("curl")
    if program is None:
        pytest.skip("curl is not installed")
    key = os.environ.get("LAB_API_KEY", "")
    head = ["-H", f"Authorization: Bearer {key}"] if key else []
    done = subprocess.run(
        [program, "-sS", "--fail-with-body", *head, *more, f"{served.base_url}{path}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environment.child(),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _posted(body: dict[str, object]) -> list[str]:
    return ["-H", "Content-Type: application/json", "-d", json.dumps(body)]


def _events(printed: str) -> list[str]:
    """Return the data of each server-sent event."""
    lines = printed.splitlines()
    return [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]


def test_sdk_models_lists_the_served_name(sdk: openai.OpenAI, served: Server) -> None:
    assert [entry.id for entry in sdk.models.list()] == [served.served_model_name]


def test_sdk_chat_answers_with_usage(sdk: openai.OpenAI, served: Server) -> None:
    reply = sdk.chat.completions.create(model=served.served_model_name, messages=QUESTION, **SHAPE)

    assert reply.choices[0].message.content
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens


def test_sdk_stream_gives_the_text_of_the_whole_answer(sdk: openai.OpenAI, served: Server) -> None:
    greedy = SHAPE | {"temperature": 0}
    asked = {"model": served.served_model_name, "messages": QUESTION, **greedy}
    whole = sdk.chat.completions.create(**asked).choices[0].message.content

    events = list(sdk.chat.completions.create(**asked, stream=True))
    text = "".join(event.choices[0].delta.content or "" for event in events if event.choices)

    assert text == whole
    assert len(events) > 2


def test_sdk_wrong_model_is_its_own_not_found_error(sdk: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="does not exist"):
        sdk.chat.completions.create(model="nobody", messages=QUESTION, **SHAPE)


def test_curl_models_lists_the_served_name(served: Server) -> None:
    listed = json.loads(_curl(served, "/v1/models"))

    assert [entry["id"] for entry in listed["data"]] == [served.served_model_name]


def test_curl_chat_answers(served: Server) -> None:
    body = {"model": served.served_model_name, "messages": QUESTION, **SHAPE}

    reply = json.loads(_curl(served, "/v1/chat/completions", *_posted(body)))

    assert reply["choices"][0]["message"]["content"]
    assert reply["model"] == served.served_model_name


def test_curl_stream_ends_with_done(served: Server) -> None:
    body = {"model": served.served_model_name, "messages": QUESTION, "stream": True, **SHAPE}

    events = _events(_curl(served, "/v1/chat/completions", "-N", *_posted(body)))

    deltas = [json.loads(event)["choices"][0]["delta"] for event in events[:-1]]
    assert events[-1] == "[DONE]"
    assert "".join(delta.get("content") or "" for delta in deltas)
