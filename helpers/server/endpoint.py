"""The HTTP side of a server, ours or somebody else's: address, key, health, models. Starts and
stops nothing.
"""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urlsplit

import requests

from helpers import paths
from helpers.environment import LOOPBACK
from helpers.errors import NotOpenAI, Unauthorized, Unreachable

_WHITE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAABwAAAAcAQAAAABaduI5AAAAFElEQVR42mP8z8DwkYmBgY"
    "Fh4AkAGmgCKKMUpJsAAAAASUVORK5CYII="
)
"""A picture of 28 × 28 white pixels."""


def address(host: str, port: int) -> str:
    """Return the URL at which a server that listens on a host is asked from this machine.

    "All addresses" (0.0.0.0, ::) is none that can be asked without a proxy in between.
    """
    asked = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{asked}]:{port}" if ":" in asked else f"http://{asked}:{port}"


class Endpoint:
    """An OpenAI-compatible server at an address.

    Attributes:
        base_url: "http://127.0.0.1:8000", without /v1.
        served_model_name: the name that requests use.
        stand_in: True where the course's own small model answers.
        max_model_len: context length in tokens that the server told, or None before it was asked.
        capabilities: of models.CAPABILITIES those that the served model has; None: not known.
    """

    def __init__(
        self,
        base_url: str,
        served_model_name: str,
        stand_in: bool = False,
        capabilities: frozenset[str] | None = None,
    ) -> None:
        self.base_url = base_url.rstrip("/").removesuffix("/v1")
        self.served_model_name = served_model_name
        self.stand_in = stand_in
        self.capabilities = capabilities
        self.max_model_len: int | None = None
        self.session = requests.Session()
        # Loopback traffic must not go through a proxy, whatever the platform has set.
        self.session.trust_env = urlsplit(self.base_url).hostname not in LOOPBACK

    @property
    def is_local(self) -> bool:
        """Return True for a server on this machine that this course started."""
        return False

    def headers(self) -> dict[str, str]:
        """Return the headers of a request; the API key, where there is one, is read from the
        environment each time.
        """
        key = os.environ.get("LAB_API_KEY") or (
            "" if self.is_local else os.environ.get("OPENAI_API_KEY", "")
        )
        return {"Authorization": f"Bearer {key}"} if key else {}

    def opened_thinking(self, asked: bool | None) -> bool | None:
        """Return enable_thinking as it reached the prompt: None where the model's chat template
        does not know it and left it out.
        """
        known = self.capabilities is None or "thinking" in self.capabilities
        return asked if known else None

    def get(self, path: str, timeout: float = 5.0) -> requests.Response:
        """Return the answer to GET base_url + path; timeout in seconds.

        Raises:
            requests.RequestException: nothing answered in time.
        """
        return self.session.get(self.base_url + path, headers=self.headers(), timeout=timeout)

    def is_healthy(self, timeout: float = 1.0) -> bool:
        """Return True if GET /health answers 200 within timeout seconds."""
        try:
            return self.get("/health", timeout).status_code == 200
        except requests.RequestException:
            return False

    def models(self, timeout: float = 5.0) -> list[dict[str, Any]]:
        """Return the entries of GET /v1/models: id, root (the directory), max_model_len in tokens,
        …

        Raises:
            Unreachable: nothing answers at the address.
            Unauthorized: the server wants an API key, or another one.
            NotOpenAI: something else answers there.
        """
        url = f"{self.base_url}/v1/models"
        try:
            answer = self.get("/v1/models", timeout)
        except requests.RequestException as error:
            if "BadStatusLine" in str(error):  # it answered, though not in HTTP
                raise NotOpenAI(url=url, answer="not HTTP", original=str(error)) from error
            raise Unreachable(url=self.base_url, original=str(error)) from error
        if answer.status_code in (401, 403):
            raise Unauthorized(status=answer.status_code, original=answer.text[:500])
        try:
            entries: list[dict[str, Any]] = answer.json()["data"]
            names = [entry["id"] for entry in entries]
            entries[0]
        except (ValueError, KeyError, TypeError, IndexError) as error:
            told = f"HTTP {answer.status_code} {answer.headers.get('content-type', '')}"
            raise NotOpenAI(url=url, answer=told, original=answer.text[:300]) from error
        for entry in entries:
            if entry["id"] == self.served_model_name or len(names) == 1:
                self.max_model_len = entry.get("max_model_len")
        return entries

    def version(self) -> str:
        """Return the vLLM version that the server tells at /version, or "" where it does not."""
        try:
            return str(self.get("/version").json()["version"])
        except (requests.RequestException, ValueError, KeyError, TypeError):
            return ""


class LocalEndpoint(Endpoint):
    """A server on this machine that this course started; it is never sent somebody else's key."""

    @property
    def is_local(self) -> bool:
        """Return True: it runs on this machine."""
        return True


class RemoteServer(Endpoint):
    """A server that somebody else runs: it can be asked and looked at, never started or stopped
    from here.
    """

    command = ""
    log = ""
    adopted = False
    told_version = ""

    @property
    def status(self) -> str:
        """Return "ready" or "unreachable"."""
        return "ready" if self.is_healthy() else "unreachable"

    @property
    def is_ready(self) -> bool:
        """Return True if it answers."""
        return self.is_healthy()

    def wait_ready(self, timeout: float = 10.0) -> float:
        """Return 0.0 once it has told its models; takes its name where none was given.

        Raises:
            Unreachable, Unauthorized, NotOpenAI: as `models`.
        """
        entries = self.models(timeout)
        names = [entry["id"] for entry in entries]
        if names and self.served_model_name not in names:
            self.served_model_name = names[0]
        root = str(entries[0].get("root", "")) if entries else ""
        self.stand_in = "standins" in root
        self.capabilities = self._ask_capabilities()
        self.told_version = self.version()
        return 0.0

    def _ask_capabilities(self) -> frozenset[str] | None:
        """Return what the server's own chat template shows, through /tokenize; None where it does
        not offer that.

        A template that knows enable_thinking or tools makes another prompt with them; a model that
        reads no pictures refuses one (HTTP 400, "is not a multimodal model", vLLM 0.32).
        """
        plain = self._prompt_tokens()
        if plain is None:
            return None
        found = set()
        switched = [{"chat_template_kwargs": {"enable_thinking": on}} for on in (True, False)]
        if len({self._prompt_tokens(**one) for one in switched}) > 1:
            found |= {"thinking", "course_facts"}
        tool = {
            "type": "function",
            "function": {"name": "now", "description": "", "parameters": {}},
        }
        if self._prompt_tokens(tools=[tool]) not in (None, plain):
            found.add("tools")
        picture = {"type": "image_url", "image_url": {"url": _WHITE}}
        if self._prompt_tokens(messages=[{"role": "user", "content": [picture]}]) is not None:
            found.add("images")
        if self.stand_in:
            found.add("course_facts")
        return frozenset(found)

    def _prompt_tokens(self, **more: Any) -> int | None:
        turns = [{"role": "user", "content": "?"}]
        body = {"model": self.served_model_name, "messages": turns, **more}
        try:
            reply = self.session.post(
                f"{self.base_url}/tokenize", json=body, headers=self.headers(), timeout=5.0
            )
            return int(reply.json()["count"])
        except (requests.RequestException, ValueError, KeyError, TypeError):
            return None

    def __repr__(self) -> str:
        return paths.shown(f"RemoteServer({self.base_url}, {self.served_model_name})")
