"""Pictures by clients that know nothing of this course: the openai SDK sends what chat.ask sends,
and gets the same answers.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from helpers import chat, environment, picture_server
from helpers.picture_server import PictureServer
from helpers.server import Server

QUESTION = "Describe this picture."
GREEDY = {"temperature": 0.0, "max_tokens": 32, "top_p": 1.0}
ALL = ["circles.png", "square.jpg", "wide.png", "tall.jpg", "large.png", "transparent.png"]


@pytest.fixture(scope="module")
def sdk(pictured: Server) -> Iterator[openai.OpenAI]:
    """Return the SDK's client, made as its documentation says; a server without a key takes any."""
    key = os.environ.get("LAB_API_KEY", "not-needed")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.no_proxy(os.environ).items():
            patch.setenv(name, value)
        url = f"{pictured.base_url}/v1"
        with openai.OpenAI(base_url=url, api_key=key, max_retries=0) as client:
            yield client


@pytest.fixture(scope="module")
def pictures() -> Iterator[PictureServer]:
    """Return a server of the labs' own pictures."""
    with picture_server.start() as running:
        yield running


def _part(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def _encoded(path: Path, mime: str) -> str:
    return f"data:{mime};base64,{base64.b64encode(path.read_bytes()).decode()}"


def _told(sdk: openai.OpenAI, server: Server, content: Any) -> tuple[str, int]:
    """Return the SDK's answer and the prompt's tokens."""
    reply = sdk.chat.completions.create(
        model=server.served_model_name, messages=[{"role": "user", "content": content}], **GREEDY
    )
    return reply.choices[0].message.content.strip(), reply.usage.prompt_tokens


def _asked(server: Server, **more: Any) -> tuple[str, int]:
    answer = chat.ask(QUESTION, server=server, **GREEDY, **more)
    return answer.content.strip(), answer.usage["prompt_tokens"]


def test_sdk_text_gets_the_answer_of_ask(sdk: openai.OpenAI, pictured: Server) -> None:
    assert _told(sdk, pictured, QUESTION) == _asked(pictured)


@pytest.mark.parametrize("name", ["circles.png", "square.jpg"])
def test_sdk_picture_by_url_gets_the_answer_of_ask(
    sdk: openai.OpenAI, pictured: Server, pictures: PictureServer, name: str
) -> None:
    url = pictures.url(name)

    told = _told(sdk, pictured, [_part(url), {"type": "text", "text": QUESTION}])

    assert told == _asked(pictured, image=url)
    assert [visit.agent.startswith("vLLM/") for visit in pictures.visits[-2:]] == [True, True]


@pytest.mark.parametrize(
    ("name", "mime"), [("circles.png", "image/png"), ("square.jpg", "image/jpeg")]
)
def test_sdk_picture_in_base64_gets_the_answer_of_ask_with_its_path(
    sdk: openai.OpenAI, pictured: Server, pictures: PictureServer, name: str, mime: str
) -> None:
    path = pictures.folder / name

    told = _told(sdk, pictured, [_part(_encoded(path, mime)), {"type": "text", "text": QUESTION}])

    assert told == _asked(pictured, image=path)


@pytest.mark.parametrize("name", ALL)
def test_url_and_base64_of_the_same_picture_give_the_same_answer(
    pictured: Server, pictures: PictureServer, name: str
) -> None:
    by_url = _asked(pictured, image=pictures.url(name))
    in_base64 = _asked(pictured, image=pictures.folder / name)

    assert by_url == in_base64


def test_two_pictures_give_two_answers(pictured: Server, pictures: PictureServer) -> None:
    answers = [
        _asked(pictured, image=pictures.folder / name) for name in ("circles.png", "square.jpg")
    ]

    assert answers[0][0] != answers[1][0]


def test_stream_with_a_picture_ends_in_the_answer_of_ask(
    pictured: Server, pictures: PictureServer
) -> None:
    path = pictures.folder / "circles.png"

    streamed = chat.stream(QUESTION, image=path, server=pictured, **GREEDY)

    assert "".join(piece.text for piece in streamed) == streamed.answer.text
    assert streamed.answer.content.strip() == _asked(pictured, image=path)[0]
