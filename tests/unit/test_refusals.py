"""Tests of refusals: every text that vLLM says no with becomes the type that names the cause, and
is kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from light.light_openai import LightOpenAI, serving

from helpers import chat, paths
from helpers.errors import (
    LabError,
    MaxTokensInvalid,
    MaxTokensTooLarge,
    PromptTooLong,
    RequestRefused,
    WrongModelName,
)
from helpers.server import Endpoint

FIXTURES = paths.ROOT / "tests" / "fixtures" / "vllm_cli"
LIMIT = "This model's maximum context length is 2048 tokens. However, you requested"
CASES: list[tuple[str, int, Any, int, type[LabError]]] = [
    # (what, status, error body, max_tokens of the request, type)
    (
        "0.32 max_tokens",
        400,
        "max_tokens=100000 cannot be greater than max_model_len=2048. Please …",
        100000,
        MaxTokensTooLarge,
    ),
    (
        "0.32 max_completion_tokens",
        400,
        "max_completion_tokens=9999 cannot be greater than max_model_len=2048.",
        64,
        MaxTokensTooLarge,
    ),
    (
        "0.32 prompt",
        400,
        "This model's maximum context length is 2048 tokens. However, your prompt contains at "
        "least 2049 input tokens, which exceeds this limit even without any output tokens.",
        64,
        PromptTooLong,
    ),
    (
        "0.23 both",
        400,
        f"{LIMIT} 64 output tokens and your prompt contains at least 1985 input tokens, for a "
        "total of at least 2049 tokens.",
        64,
        PromptTooLong,
    ),
    (
        "0.23 max_tokens alone",
        400,
        f"{LIMIT} 4096 output tokens and your prompt contains 9 input tokens.",
        4096,
        MaxTokensTooLarge,
    ),
    (
        "0.18 characters",
        400,
        f"{LIMIT} 64 output tokens and your prompt contains 99999 characters (more than 9 "
        "characters, which is the upper bound for 1984 input tokens).",
        64,
        PromptTooLong,
    ),
    (
        "0.18 images",
        400,
        "The decoder prompt (length 6512) is longer than the maximum model length of 2048. Make "
        "sure that `max_model_len` is no smaller than the number of text tokens plus multimodal "
        "tokens. For image inputs, the number of image tokens depends on the number of images, and "
        "possibly their aspect ratios as well.",
        64,
        PromptTooLong,
    ),
    (
        "0.32 exactly full",
        400,
        "The decoder prompt (length 2048) plus the number of requested output tokens (at least "
        "1) is longer than the maximum model length of 2048.",
        64,
        PromptTooLong,
    ),
    ("0.32 full", 400, "max_tokens must be at least 1, got 0.", 64, PromptTooLong),
    ("zero tokens", 400, "max_tokens must be at least 1, got 0.", 0, MaxTokensInvalid),
    ("wrong name", 404, "The model `m` does not exist.", 64, WrongModelName),
    (
        "no tools",
        400,
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        64,
        RequestRefused,
    ),
    ("image url", 400, "The URL must be either a HTTP, data or file URL.", 64, RequestRefused),
    (
        "server error",
        500,
        "EngineCore encountered an issue. See stack trace above.",
        64,
        RequestRefused,
    ),
]


@pytest.fixture
def light() -> Iterator[LightOpenAI]:
    with serving() as one:
        yield one


@pytest.mark.parametrize(
    ("status", "said", "max_tokens", "expected"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_refusal_becomes_its_type_and_keeps_the_text(
    light: LightOpenAI, status: int, said: str, max_tokens: int, expected: type[LabError]
) -> None:
    light.status, light.body = status, {"error": {"message": said, "type": "x", "code": status}}

    with pytest.raises(RequestRefused) as caught:
        chat.ask("Hi", server=Endpoint(light.url, "M"), max_tokens=max_tokens)

    assert type(caught.value) is expected
    assert caught.value.original == said
    assert str(status) in caught.value.what


def _quoted() -> list[tuple[str, str]]:
    """Return every "maximum context length" text of the taught versions, its placeholders filled
    with 2048.
    """
    found = []
    for version in ("0.18.0", "0.23.0", "0.32.0"):
        texts = json.loads((FIXTURES / f"{version}.json").read_text("utf-8"))["messages"]
        found += [
            (version, one["text"].replace("{…}", "2048")) for one in texts["maximum context length"]
        ]
    return found


@pytest.mark.parametrize(("version", "said"), _quoted())
def test_refusal_quoted_from_a_versions_source_is_prompt_too_long(
    light: LightOpenAI, version: str, said: str
) -> None:
    light.status, light.body = 400, {"error": {"message": said}}

    with pytest.raises(PromptTooLong):
        chat.ask("Hi", server=Endpoint(light.url, "M"), max_tokens=64)


@pytest.mark.parametrize(
    "body",
    [{"error": {"message": "no"}}, {"message": "no"}, {"detail": "no"}, b"no", {"error": "no"}],
    ids=["openai", "old", "fastapi", "text", "short"],
)
def test_refusal_in_any_envelope_shows_its_text(light: LightOpenAI, body: object) -> None:
    light.status, light.body = 400, body

    with pytest.raises(RequestRefused) as caught:
        chat.ask("Hi", server=Endpoint(light.url, "M"))

    assert caught.value.original == "no"


@pytest.mark.parametrize("body", [[1], None, 5], ids=["list", "null", "number"])
def test_refusal_with_an_odd_body_is_still_told(light: LightOpenAI, body: object) -> None:
    light.status, light.body = 400, body

    with pytest.raises(RequestRefused) as caught:
        chat.ask("Hi", server=Endpoint(light.url, "M"))

    assert caught.value.original == json.dumps(body)


def test_wrong_name_tells_what_was_asked_and_what_is_served(light: LightOpenAI) -> None:
    light.status, light.body = 404, {"error": {"message": "The model `m` does not exist."}}

    with pytest.raises(WrongModelName) as caught:
        chat.ask("Hi", server=Endpoint(light.url, "M"), model="m")

    assert (caught.value.values["asked"], caught.value.values["served"]) == ("m", "M")
