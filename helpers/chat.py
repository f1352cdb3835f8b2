"""Requests to /v1/chat/completions: ask, stream, and the prompt as the model sees it; text, with
pictures or without.

Every value that shapes an answer is sent (max_tokens, temperature, top_p): a default that nobody
sees is read from the model's generation_config.json by some versions and not by others.
`answer.request` is the JSON that was sent.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import requests

from helpers import refusals, sse, thinking, tool_calls
from helpers.answers import Answer, Piece, PromptView
from helpers.errors import AnswerTimeout, NotOpenAI
from helpers.server.endpoint import Endpoint
from helpers.tool_calls import ToolCall

if TYPE_CHECKING:  # Pillow is imported with the first picture: most labs send none
    from helpers.images import Given

MAX_TOKENS, TEMPERATURE, TOP_P = 1024, 1.0, 0.95
"""The course's sampling values for MiniCPM5-2B (OpenBMB's deployment document: temperature 1.0,
top_p 0.95).
"""

Messages = Sequence[Mapping[str, Any]]


def ask(
    prompt: str | Messages,
    *,
    image: Given | None = None,
    thinking: bool | None = None,
    max_tokens: int = MAX_TOKENS,
    temperature: float = TEMPERATURE,
    top_p: float = TOP_P,
    system: str | None = None,
    server: Endpoint | None = None,
    model: str | None = None,
    timeout: float = 300.0,
    **more: Any,
) -> Answer:
    """Return one answer; the whole of it, when it has ended.

    Args:
        prompt: the user's text, or a whole list of messages.
        image: one or a list of what images.load takes; goes before the last user message's text.
        thinking: True or False is sent as enable_thinking; None sends nothing.
        max_tokens: tokens of the answer, thinking included.
        temperature, top_p: sampling; temperature 0 is greedy.
        system: text of a system message.
        server: whom to ask; None asks the server that this kernel started or attached to last.
        model: served model name; None takes the server's.
        timeout: seconds for the whole answer.
        more: further fields of the request, for instance seed, tools, logprobs.
    Raises:
        NeverStarted, StillStarting, ServerGone, Unreachable: nothing answers, and why.
        WrongModelName, PromptTooLong, MaxTokensTooLarge, MaxTokensInvalid, Unauthorized,
            RequestRefused: the server's refusal, its own text kept.
        AnswerTimeout: no answer in time.
        picture_errors: what can go wrong with pictures, here (as images.load) and at the server.
    """
    endpoint = refusals.endpoint(server)
    more |= {"max_tokens": max_tokens, "temperature": temperature, "top_p": top_p}
    body = request(prompt, model or endpoint.served_model_name, thinking, system, image, **more)
    begun = time.monotonic()
    reply = _json(_post(endpoint, "/v1/chat/completions", body, timeout))
    choice = reply["choices"][0]
    content = choice["message"].get("content") or ""
    return _answer(
        content,
        choice["finish_reason"],
        reply["usage"],
        time.monotonic() - begun,
        body,
        endpoint,
        thinking,
        calls=tool_calls.of_message(choice["message"]),
    )


def request(
    prompt: str | Messages,
    model: str,
    enable_thinking: bool | None,
    system: str | None,
    image: Given | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """Return the JSON body of a chat request; arguments as in `ask`."""
    turns: list[Mapping[str, Any]] = (
        [{"role": "user", "content": prompt}] if isinstance(prompt, str) else list(prompt)
    )
    if image is not None:
        from helpers import images

        turns = images.attach(turns, image)
    if system:
        turns = [{"role": "system", "content": system}, *turns]
    body: dict[str, Any] = {"model": model, "messages": turns, **fields}
    if enable_thinking is not None:
        kwargs = dict(body.get("chat_template_kwargs", {}))
        body["chat_template_kwargs"] = kwargs | {"enable_thinking": enable_thinking}
    return body


def __getattr__(name: str) -> Any:
    """Return `image_tokens` where it is asked for, with the modules that it needs."""
    if name != "image_tokens":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from helpers.image_tokens import image_tokens

    return image_tokens


class Stream:
    """A streamed answer: iterate over its pieces, then read `answer`."""

    def __init__(
        self, endpoint: Endpoint, body: dict[str, Any], asked: bool | None, timeout: float
    ) -> None:
        self._endpoint, self._asked = endpoint, endpoint.opened_thinking(asked)
        self._body = {**body, "stream": True, "stream_options": {"include_usage": True}}
        self._timeout = timeout
        self._answer: Answer | None = None

    @property
    def answer(self) -> Answer:
        """Return the whole answer; reads the rest of the stream where it has not been read."""
        if self._answer is None:
            for _ in self:
                pass
        assert self._answer is not None
        return self._answer

    def __iter__(self) -> Iterator[Piece]:
        begun = time.monotonic()
        seen: dict[str, Any] = {"content": "", "finish": "", "usage": {}, "first": None}
        calls = tool_calls.Gathering()
        reply = _post(
            self._endpoint, "/v1/chat/completions", self._body, self._timeout, stream=True
        )
        try:
            with reply:
                for kind, text in sse.split(sse.events(reply, seen, begun, calls), self._asked):
                    yield Piece(kind, text, time.monotonic() - begun)
        except requests.RequestException as error:
            if "Read timed out" in str(error):
                told = f"{self._timeout:.0f}"
                raise AnswerTimeout(seconds=told, original=str(error)) from error
            raise refusals.unreachable(self._endpoint, error) from error
        if "error" in seen:
            raise refusals.refused(500, json.dumps(seen["error"]), self._body, self._endpoint)
        self._answer = _answer(
            seen["content"],
            seen["finish"],
            seen["usage"],
            time.monotonic() - begun,
            self._body,
            self._endpoint,
            self._asked,
            ttft=seen["first"],
            calls=calls.calls,
        )


def stream(
    prompt: str | Messages,
    *,
    image: Given | None = None,
    thinking: bool | None = None,
    max_tokens: int = MAX_TOKENS,
    temperature: float = TEMPERATURE,
    top_p: float = TOP_P,
    system: str | None = None,
    server: Endpoint | None = None,
    model: str | None = None,
    timeout: float = 300.0,
    **more: Any,
) -> Stream:
    """Return a streamed answer: iterate over its pieces as they come, then read `.answer`.
    Arguments and errors as `ask`.
    """
    endpoint = refusals.endpoint(server)
    more |= {"max_tokens": max_tokens, "temperature": temperature, "top_p": top_p}
    body = request(prompt, model or endpoint.served_model_name, thinking, system, image, **more)
    return Stream(endpoint, body, thinking, timeout)


def prompt_as_seen(
    prompt: str | Messages,
    *,
    thinking: bool | None = None,
    system: str | None = None,
    server: Endpoint | None = None,
    **more: Any,
) -> PromptView:
    """Return the prompt after the chat template, from the server's own /tokenize and /detokenize.

    Args and Raises: as `ask`; more may hold image and tools.
    """
    endpoint = refusals.endpoint(server)
    name = endpoint.served_model_name
    asked = request(prompt, name, thinking, system, add_generation_prompt=True, **more)
    counted = _json(_post(endpoint, "/tokenize", asked, 30.0))
    tokens = {"model": name, "tokens": counted["tokens"]}
    text = _json(_post(endpoint, "/detokenize", tokens, 30.0))["prompt"]
    return PromptView(text, counted["tokens"], counted.get("max_model_len"))


def _answer(
    content: str,
    finish: str,
    usage: dict[str, Any],
    seconds: float,
    body: dict[str, Any],
    endpoint: Endpoint,
    asked: bool | None,
    ttft: float | None = None,
    calls: tuple[ToolCall, ...] = (),
) -> Answer:
    # A whole answer that calls tools comes without content: its thinking is dropped by the server.
    parts = thinking.split(content, asked if content or not calls else None)
    names: list[str] = ["prompt_tokens", "completion_tokens", "total_tokens"]
    counts = {name: int(usage[name]) for name in names if name in usage}
    cut = not parts.closed and finish == "length"
    return Answer(
        parts.answer,
        parts.thinking,
        content,
        finish,
        counts,
        seconds,
        body,
        endpoint.stand_in,
        cut_in_thinking=cut,
        ttft=ttft,
        tool_calls=calls,
    )


def _json(reply: requests.Response) -> Any:
    try:
        return reply.json()
    except ValueError as error:
        told = f"HTTP {reply.status_code} {reply.headers.get('content-type', '')}"
        raise NotOpenAI(url=reply.url, answer=told, original=reply.text[:300]) from error


def _post(
    endpoint: Endpoint, path: str, body: dict[str, Any], timeout: float, stream: bool = False
) -> requests.Response:
    """Return the server's answer if it accepted the request; else raise the typed error for its
    refusal.
    """
    url = endpoint.base_url + path
    try:
        reply = endpoint.session.post(
            url, json=body, headers=endpoint.headers(), timeout=(5.0, timeout), stream=stream
        )
    except requests.ReadTimeout as error:
        raise AnswerTimeout(seconds=f"{timeout:.0f}", original=str(error)) from error
    except requests.RequestException as error:
        raise refusals.unreachable(endpoint, error) from error
    if reply.status_code != 200:
        said = reply.text
        if reply.status_code >= 500:  # vLLM closes the connection too; the next request needs one
            endpoint.session.close()
        raise refusals.refused(reply.status_code, said, body, endpoint)
    return reply
