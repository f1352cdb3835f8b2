"""Pictures that go wrong, on the real multimodal server: a typed error each, told in zh and en, the
server's own text kept.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from light.light_host import LightHost, hosting
from light.light_pictures import drawn, encoded
from PIL import Image

from helpers import chat, messages
from helpers import picture_errors as wrong
from helpers.errors import LabError
from helpers.server import Server, process

QUESTION = "Describe this picture."
GREEDY = {"temperature": 0.0, "max_tokens": 24}


PNG = encoded("PNG", drawn())


def _data_url(data: bytes, mime: str = "image/png") -> str:
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


def _by_hand(url: str, count: int = 1) -> list[dict[str, Any]]:
    """Return messages that nobody has looked at, as a learner writes them."""
    part = {"type": "image_url", "image_url": {"url": url}}
    return [{"role": "user", "content": [part] * count + [{"type": "text", "text": QUESTION}]}]


def _caught(action: Callable[[], object]) -> LabError:
    with pytest.raises(LabError) as caught:
        action()
    return caught.value


def _assert_told(error: LabError, kind: type[LabError], original: str) -> None:
    """Assert type, the server's own text, and that both languages tell what, why, next and it."""
    assert type(error) is kind
    assert original in str(error.original)
    told = {language: error.told(language) for language in messages.LANGUAGES}
    for language, text in told.items():
        said = messages.parts(kind.code, language, **error.values)
        assert all(said[part].strip() and said[part] in text for part in ("what", "why", "next"))
        assert str(error.original) in text
    assert told["zh"] != told["en"]


BY_HAND: dict[str, tuple[str, type[LabError], str]] = {
    "not a picture": (
        _data_url(b"<html>hello</html>"),
        wrong.ServerCannotOpen,
        "cannot identify image file",
    ),
    "zero bytes": (_data_url(b""), wrong.ServerCannotOpen, "cannot identify image file"),
    "truncated": (
        _data_url(PNG[: len(PNG) // 2]),
        wrong.ServerSawTruncated,
        "image file is truncated",
    ),
    "raw base64": (
        base64.b64encode(PNG).decode(),
        wrong.NoUrlScheme,
        "The URL must be either a HTTP, data or file URL.",
    ),
    "broken base64": (
        "data:image/png;base64,@@@@",
        wrong.BadBase64,
        "Non-base64 digit found",
    ),
    "no ;base64": (
        "data:image/png,abc",
        wrong.DataUrlWithoutBase64,
        "Only base64 data URLs are supported",
    ),
    "huge": (
        _data_url(encoded("PNG", Image.new("1", (14_000, 14_000)))),
        wrong.ServerPictureLimit,
        "exceeds limit of 178956970 pixels",
    ),
    "file": ("file:///etc/hostname", wrong.FileUrlRefused, "--allowed-local-media-path"),
    "host not allowed": (
        "http://example.org/a.png",
        wrong.DomainNotAllowed,
        "must be from one of the allowed domains",
    ),
    "host that does not exist": (
        "https://no-such-host.invalid/a.png",
        wrong.PictureHostUnreachable,
        "Cannot connect to host no-such-host.invalid:443",
    ),
}
BY_PATH: dict[str, tuple[type[LabError], str]] = {
    "/gone": (wrong.PictureUrlStatus, "HTTP 404 error"),
    "/fails": (wrong.PictureUrlStatus, "503, message="),
    "/login": (wrong.ServerCannotOpen, "cannot identify image file"),
    "/broken-off": (wrong.ServerSawTruncated, "payload is not completed"),
}

TRIED_AGAIN = ("host that does not exist", "/fails")


@pytest.fixture(scope="module")
def host() -> Iterator[LightHost]:
    with hosting(PNG) as one:
        yield one


def _cases(names: Iterable[str]) -> list[Any]:
    """Return the names as parameters; those that vLLM tries again for 5 s are marked full."""
    return [pytest.param(name, marks=[pytest.mark.full] * (name in TRIED_AGAIN)) for name in names]


@pytest.mark.parametrize("case", _cases(BY_HAND))
def test_picture_written_by_hand_is_refused_with_its_cause(pictured: Server, case: str) -> None:
    url, kind, original = BY_HAND[case]

    error = _caught(lambda: chat.ask(_by_hand(url), server=pictured, **GREEDY))

    _assert_told(error, kind, original)


@pytest.mark.parametrize("path", _cases(BY_PATH))
def test_picture_that_its_host_does_not_give_is_refused_with_its_cause(
    pictured: Server, host: LightHost, path: str
) -> None:
    kind, original = BY_PATH[path]

    error = _caught(lambda: chat.ask(QUESTION, image=host.url(path), server=pictured, **GREEDY))

    _assert_told(error, kind, original)
    assert path in host.paths


def test_question_after_a_server_error_is_answered(pictured: Server) -> None:
    """vLLM closes the connection after an answer of 500 without saying so."""
    refused = _caught(lambda: chat.ask(_by_hand("file:///a.png"), server=pictured, **GREEDY))

    answer = chat.ask(QUESTION, image=PNG, server=pictured, **GREEDY)

    assert refused.values["status"] == 500
    assert answer.usage["completion_tokens"] > 0


def test_host_that_refuses_the_connection_is_told_with_its_address(pictured: Server) -> None:
    dead = f"http://127.0.0.1:{process.free_port('127.0.0.1')}/a.png"

    error = _caught(lambda: chat.ask(QUESTION, image=dead, server=pictured, **GREEDY))

    _assert_told(error, wrong.PictureHostUnreachable, "Cannot connect to host 127.0.0.1:")
    assert dead.split("/")[2] in error.what


def test_redirect_is_not_followed(pictured: Server, host: LightHost) -> None:
    host.paths.clear()

    error = _caught(
        lambda: chat.ask(QUESTION, image=host.url("/redirect"), server=pictured, **GREEDY)
    )

    _assert_told(error, wrong.ServerCannotOpen, "cannot identify image file")
    assert host.paths == ["/redirect"]


@pytest.mark.full
def test_slow_host_is_given_up_and_told_with_the_variable(
    pictured: Server, host: LightHost
) -> None:
    """Takes half a minute: three attempts with four times the limit each."""
    error = _caught(lambda: chat.ask(QUESTION, image=host.url("/slow"), server=pictured, **GREEDY))

    assert type(error) is wrong.PictureHostSlow
    assert all("VLLM_IMAGE_FETCH_TIMEOUT" in error.told(one) for one in messages.LANGUAGES)
    assert host.paths.count("/slow") == 3


def test_loopback_picture_bypasses_the_proxy_of_the_machine(
    pictured: Server, host: LightHost
) -> None:
    """The server was started where http_proxy leads nowhere."""
    by_url = chat.ask(QUESTION, image=host.url("/good"), server=pictured, **GREEDY)

    assert by_url.text == chat.ask(QUESTION, image=PNG, server=pictured, **GREEDY).text


@pytest.mark.full
def test_other_addresses_go_through_the_proxy_of_the_machine(
    pictured: Server, dead_proxy: str
) -> None:
    away = "http://no-such-host.invalid/a.png"

    error = _caught(lambda: chat.ask(QUESTION, image=away, server=pictured, **GREEDY))

    _assert_told(error, wrong.PictureHostUnreachable, f"host {dead_proxy.removeprefix('http://')}")


def test_more_pictures_than_the_limit_are_told_with_both_numbers(pictured: Server) -> None:
    error = _caught(lambda: chat.ask(QUESTION, image=[PNG] * 11, server=pictured, **GREEDY))

    _assert_told(error, wrong.TooManyPictures, "At most 10 image(s) may be provided in one prompt.")
    assert (error.values["sent"], error.values["limit"]) == (11, "10")


def test_pictures_and_prompt_longer_than_the_context_are_told_with_the_limit(
    pictured: Server,
) -> None:
    pictures = [drawn((1344, 1344))] * 10  # 6 660 tokens; the text has twice what is left

    error = _caught(lambda: chat.ask("picture " * 3200, image=pictures, server=pictured, **GREEDY))

    _assert_told(error, wrong.PicturesTooLong, f"context length ({pictured.max_model_len})")
    assert error.values["sent"] == 10


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("no-such-picture.png", wrong.PictureMissing),
        (b"", wrong.PictureEmpty),
        (b"<html>hello</html>", wrong.NotAPicture),
        (PNG[: len(PNG) // 2], wrong.PictureTruncated),
        (base64.b64encode(PNG).decode(), wrong.RawBase64),
        (encoded("PNG", Image.new("1", (14_000, 14_000))), wrong.PictureTooLarge),
    ],
    ids=["missing", "zero", "html", "truncated", "raw-base64", "huge"],
)
def test_bad_picture_of_this_kernel_is_refused_before_the_server_sees_it(
    pictured: Server, monkeypatch: pytest.MonkeyPatch, source: Any, kind: type[LabError]
) -> None:
    def sent(*words: object, **more: object) -> None:
        raise AssertionError("something was sent")

    monkeypatch.setattr(pictured.session, "post", sent)

    error = _caught(lambda: chat.ask(QUESTION, image=source, server=pictured, **GREEDY))

    assert type(error) is kind


def test_text_only_server_says_that_it_takes_no_pictures(served: Server) -> None:
    error = _caught(lambda: chat.ask("What is this?", image=PNG, server=served, **GREEDY))

    _assert_told(error, wrong.TextOnlyModel, "is not a multimodal model")
    assert served.served_model_name in error.what
