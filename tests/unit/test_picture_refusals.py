"""Tests of picture_refusals: every text that vLLM says no with to pictures becomes its type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from light.light_openai import LightOpenAI, serving
from PIL import Image

from helpers import chat, messages, picture_refusals
from helpers import picture_errors as wrong
from helpers.errors import (
    LabError,
    MaxTokensTooLarge,
    PromptTooLong,
    RequestRefused,
    WrongModelName,
)
from helpers.server import Endpoint

ADDRESS = "http://host/a.png"
# What is said, the status, the type, and a word that the explanation must have. Without a note the
# text is vLLM 0.32's; those of 0.18 and 0.23 where they differ.
CASES: list[tuple[str, int, str, type[LabError], str]] = [
    (
        "limit",
        400,
        "At most 10 image(s) may be provided in one prompt. Set `--limit-mm-per-prompt` to "
        "increase this limit.",
        wrong.TooManyPictures,
        "10",
    ),
    ("text only", 400, "MiniCPM5 is not a multimodal model", wrong.TextOnlyModel, "M"),
    (
        "domain",
        400,
        "The URL must be from one of the allowed domains: ['127.0.0.1']. Input URL domain: host",
        wrong.DomainNotAllowed,
        "['127.0.0.1']",
    ),
    ("scheme", 400, "The URL must be either a HTTP, data or file URL.", wrong.NoUrlScheme, "data:"),
    (
        "data URL",
        501,
        "Only base64 data URLs are supported for now.",
        wrong.DataUrlWithoutBase64,
        ";base64",
    ),
    (
        "data URL, no comma",
        400,
        "Invalid data URL 'data:image/png;base64': missing ',' separator.",
        wrong.DataUrlWithoutBase64,
        ";base64",
    ),
    ("base64", 400, "Non-base64 digit found", wrong.BadBase64, "base64.b64encode"),
    ("base64, cut", 400, "Incorrect padding", wrong.BadBase64, "base64.b64encode"),
    (
        "file",
        500,
        "Cannot load local files without `--allowed-local-media-path`.",
        wrong.FileUrlRefused,
        "--allowed-local-media-path",
    ),
    (
        "pixels",
        400,
        "Image dimensions 20000x20000 (400000000 pixels) exceed the maximum of 178956970 pixels. "
        "Set VLLM_MAX_IMAGE_PIXELS to increase this limit.",
        wrong.ServerPictureLimit,
        "max_side",
    ),
    (
        "download",
        422,
        "Failed to fetch media from URL: Remote media download exceeds "
        "VLLM_MAX_MEDIA_DOWNLOAD_SIZE_MB=256",
        wrong.ServerPictureLimit,
        "max_side",
    ),
    (
        "truncated",
        400,
        "Failed to load image: image file is truncated (4 bytes not processed)",
        wrong.ServerSawTruncated,
        "image=",
    ),
    (
        "no picture",
        400,
        "Failed to load image: cannot identify image file <_io.BytesIO object at 0x7f>",
        wrong.ServerCannotOpen,
        "image=",
    ),
    (
        "no picture, 0.18",
        400,
        "cannot identify image file <_io.BytesIO object at 0x7f>",
        wrong.ServerCannotOpen,
        "image=",
    ),
    (
        "404",
        422,
        "Failed to fetch media from URL: HTTP 404 error",
        wrong.PictureUrlStatus,
        "HTTP 404",
    ),
    (
        "404, 0.23",
        500,
        "404, message='Not Found', url='http://host/a.png'",
        wrong.PictureUrlStatus,
        "HTTP 404",
    ),
    (
        "500 of the host",
        500,
        "500, message='Internal Server Error', url='http://host/a.png'",
        wrong.PictureUrlStatus,
        "HTTP 500",
    ),
    (
        "cut on the way",
        500,
        "Response payload is not completed: <ContentLengthError: 400, message='Not enough data to "
        "satisfy content length header (received 100 of 1000 bytes).'>",
        wrong.ServerSawTruncated,
        "image=",
    ),
    (
        "bomb",
        500,
        "Image size (196000000 pixels) exceeds limit of 178956970 pixels, could be decompression "
        "bomb DOS attack.",
        wrong.ServerPictureLimit,
        "max_side",
    ),
    (
        "blank before data:",
        400,
        "Failed to parse: Host ' data:image' contains invalid character ' '",
        wrong.NoUrlScheme,
        "data:",
    ),
    (
        "no address at all",
        400,
        "multi_modal_data['image'][0] is empty but multi_modal_uuids['image'][0] is missing.",
        wrong.NoUrlScheme,
        "data:",
    ),
    (
        "refused",
        500,
        "Cannot connect to host 127.0.0.1:9 ssl:default [Connect call failed ('127.0.0.1', 9)]",
        wrong.PictureHostUnreachable,
        "127.0.0.1:9",
    ),
]


@pytest.fixture
def light() -> Iterator[LightOpenAI]:
    with serving() as one:
        yield one


def _refused(light: LightOpenAI, status: int, said: str, **asked: Any) -> RequestRefused:
    light.status, light.body = status, {"error": {"message": said, "code": status}}
    with pytest.raises(RequestRefused) as caught:
        chat.ask("Hi", server=Endpoint(light.url, "M"), **asked)
    return caught.value


@pytest.mark.parametrize(
    ("status", "said", "expected", "word"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_refusal_of_a_picture_becomes_its_type_and_keeps_the_text(
    light: LightOpenAI, status: int, said: str, expected: type[LabError], word: str
) -> None:
    error = _refused(light, status, said, image=ADDRESS)

    assert type(error) is expected
    assert error.original == said
    assert str(status) in error.what
    assert all(word in error.told(language) for language in messages.LANGUAGES)


@pytest.mark.parametrize("said", [case[2] for case in CASES], ids=[c[0] for c in CASES])
def test_same_words_about_a_request_without_pictures_are_not_blamed_on_any(
    light: LightOpenAI, said: str
) -> None:
    assert type(_refused(light, 400, said)) is RequestRefused


def test_too_many_tells_how_many_were_sent(light: LightOpenAI) -> None:
    error = _refused(light, 400, CASES[0][2], image=[ADDRESS] * 11)

    assert (error.values["sent"], error.values["limit"]) == (11, "10")


def test_text_without_a_scheme_is_told_with_its_beginning(light: LightOpenAI) -> None:
    part = {"type": "image_url", "image_url": {"url": "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAK"}}

    light.status = 400
    light.body = {"error": {"message": "The URL must be either a HTTP, data or file URL."}}
    with pytest.raises(wrong.NoUrlScheme) as caught:
        chat.ask([{"role": "user", "content": [part]}], server=Endpoint(light.url, "M"))

    assert "iVBORw0KGgo" in caught.value.what


@pytest.mark.parametrize(
    "said",
    [
        "The decoder prompt (length 6512) is longer than the maximum model length of 2048.",
        "This model's maximum context length is 2048 tokens. However, you requested 64 output "
        "tokens and your prompt contains at least 1985 input tokens.",
    ],
)
def test_context_that_pictures_exceed_names_them(light: LightOpenAI, said: str) -> None:
    error = _refused(light, 400, said, image=[ADDRESS] * 10, max_tokens=64)

    assert type(error) is wrong.PicturesTooLong
    assert isinstance(error, PromptTooLong)
    assert "10 " in error.told("en")
    assert "max_tokens=64" in error.why


def test_max_tokens_that_alone_exceeds_the_context_is_not_blamed_on_pictures(
    light: LightOpenAI,
) -> None:
    said = "This model's maximum context length is 2048 tokens. However, you requested 4096 output"

    assert type(_refused(light, 400, said, image=ADDRESS, max_tokens=4096)) is MaxTokensTooLarge


def test_wrong_model_name_with_a_picture_stays_a_wrong_name(light: LightOpenAI) -> None:
    error = _refused(light, 404, "The model `m` does not exist.", image=ADDRESS)

    assert type(error) is WrongModelName


def test_error_without_any_words_about_an_address_is_a_slow_host(light: LightOpenAI) -> None:
    error = _refused(light, 500, "", image=ADDRESS)

    assert type(error) is wrong.PictureHostSlow
    assert all("VLLM_IMAGE_FETCH_TIMEOUT" in error.told(one) for one in messages.LANGUAGES)


def test_error_without_any_words_about_a_data_url_is_no_slow_host(light: LightOpenAI) -> None:
    error = _refused(light, 500, "", image=Image.new("RGB", (4, 4)))

    assert type(error) is RequestRefused


def test_unknown_words_about_a_picture_stay_a_plain_refusal(light: LightOpenAI) -> None:
    assert type(_refused(light, 400, "no", image=ADDRESS)) is RequestRefused


def test_addresses_of_a_request_are_those_of_all_its_turns() -> None:
    part = {"type": "image_url", "image_url": {"url": "u"}}
    turns = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": [part, {"type": "text", "text": "t"}]},
        {"role": "assistant", "content": None},
        {"role": "user", "content": [part, {"type": "image_url"}]},
    ]

    assert picture_refusals.addresses({"messages": turns}) == ["u", "u"]


def test_ask_and_stream_send_the_same_picture(light: LightOpenAI) -> None:
    server = Endpoint(light.url, "M")

    chat.ask("Hi", image=ADDRESS, system="Be brief.", server=server)
    asked = light.sent["messages"]
    light.events = ["data: [DONE]\n\n"]
    list(chat.stream("Hi", image=ADDRESS, system="Be brief.", server=server))

    assert light.sent["messages"] == asked
    assert asked[0] == {"role": "system", "content": "Be brief."}
    assert asked[1]["content"][0] == {"type": "image_url", "image_url": {"url": ADDRESS}}
    assert asked[1]["content"][1] == {"type": "text", "text": "Hi"}


def test_picture_that_cannot_be_read_sends_nothing(light: LightOpenAI) -> None:
    with pytest.raises(wrong.PictureMissing):
        chat.ask("Hi", image="gone.png", server=Endpoint(light.url, "M"))

    assert light.requests == []
