"""Tests of endpoints: attaching to a server, who is told what, proxies, keys and addresses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from light.light_openai import LightOpenAI, serving

from helpers import chat, server
from helpers.errors import NotOpenAI, Unauthorized, Unreachable
from helpers.server import Endpoint, RemoteServer, endpoint, process


@pytest.fixture
def light() -> Iterator[LightOpenAI]:
    with serving() as one:
        yield one


@pytest.mark.parametrize("status", [401, 403])
def test_missing_key_is_told_unauthorized_by_ask_and_by_attach(
    light: LightOpenAI, status: int
) -> None:
    light.status, light.body = status, {"error": "Unauthorized"}

    with pytest.raises(Unauthorized):
        chat.ask("Hi", server=Endpoint(light.url, "M"))
    with pytest.raises(Unauthorized):
        server.attach(light.url)


def test_attach_to_a_server_takes_its_name_and_makes_it_current(light: LightOpenAI) -> None:
    light.body = {
        "data": [{"id": "Theirs", "root": "assets/standins/minicpm5", "max_model_len": 64}]
    }

    found = server.attach(f"{light.url}/v1/")

    assert (found.served_model_name, found.stand_in, found.max_model_len) == ("Theirs", True, 64)
    assert server.current() is found


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b"<html>Jupyter</html>"),
        (404, {"detail": "Not Found"}),
        (200, {"models": []}),
        (200, []),
        (200, {"data": 5}),
    ],
    ids=["page", "404", "ollama", "list", "number"],
)
def test_attach_to_something_else_is_told_not_openai(
    light: LightOpenAI, status: int, body: object
) -> None:
    light.status, light.body, light.content_type = status, body, "text/html"

    with pytest.raises(NotOpenAI) as caught:
        server.attach(light.url)

    assert f"HTTP {status}" in caught.value.what


def test_attach_to_nobody_is_told_unreachable() -> None:
    with pytest.raises(Unreachable):
        server.attach(f"http://127.0.0.1:{process.free_port('127.0.0.1')}")


def test_ask_a_remote_server_that_is_gone_is_told_unreachable() -> None:
    gone = RemoteServer(f"http://127.0.0.1:{process.free_port('127.0.0.1')}", "M")

    with pytest.raises(Unreachable):
        chat.ask("Hi", server=gone)


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
def test_loopback_with_a_dead_proxy_set_is_still_reached(
    light: LightOpenAI, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, f"http://127.0.0.1:{process.free_port('127.0.0.1')}")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)

    assert chat.ask("Hi", server=Endpoint(light.url, "M")).text == "Hello"
    assert Endpoint(light.url, "M").is_healthy()


class _Local(Endpoint):
    """An endpoint that this course started itself, as far as keys are concerned."""

    is_local = True


@pytest.mark.parametrize(
    ("lab", "openai", "local", "sent"),
    [
        ("lab", "openai", True, "Bearer lab"),
        (None, "openai", True, None),
        ("lab", "openai", False, "Bearer lab"),
        (None, "openai", False, "Bearer openai"),
        (None, None, False, None),
    ],
)
def test_key_header_comes_from_the_right_variable(
    light: LightOpenAI,
    monkeypatch: pytest.MonkeyPatch,
    lab: str | None,
    openai: str | None,
    local: bool,
    sent: str | None,
) -> None:
    for name, value in (("LAB_API_KEY", lab), ("OPENAI_API_KEY", openai)):
        if value:
            monkeypatch.setenv(name, value)

    chat.ask("Hi", server=(_Local if local else Endpoint)(light.url, "M"))

    assert light.headers.get("authorization") == sent


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("0.0.0.0", "http://127.0.0.1:8000"),
        ("::1", "http://[::1]:8000"),
        ("::", "http://[::1]:8000"),
    ],
)
def test_address_of_a_host_to_listen_on_is_one_to_ask(host: str, expected: str) -> None:
    assert endpoint.address(host, 8000) == expected


def test_headers_of_a_server_of_ours_never_carry_somebody_elses_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other")

    assert endpoint.LocalEndpoint("http://127.0.0.1:1", "M").headers() == {}
    assert "sk-other" in Endpoint("http://127.0.0.1:1", "M").headers()["Authorization"]
