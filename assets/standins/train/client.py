"""A small client of the OpenAI-compatible API, for the evaluation. Standard library only."""

from __future__ import annotations

import json
import urllib.request
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Reply:
    """One completed chat answer: the thinking, the answer after it, the calls, the margins."""

    content: str
    finish_reason: str
    tool_calls: list[dict[str, Any]]
    margins: list[float]

    @property
    def answer(self) -> str:
        """Return what follows the thinking."""
        return self.content.rpartition("</think>")[2].strip()

    @property
    def thinking(self) -> str:
        """Return what precedes `</think>`, without the opening tag."""
        return self.content.rpartition("</think>")[0].removeprefix("<think>").strip()

    def arguments(self) -> list[tuple[str, Any]]:
        """Return the calls as (name, arguments); arguments that are no JSON stay text."""
        return [
            (call["function"]["name"], _parsed(call["function"]["arguments"]))
            for call in self.tool_calls
        ]


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except json.JSONDecodeError:
        return arguments


def _margins(choice: dict[str, Any]) -> list[float]:
    """Return, for each generated token, how far the best log-probability is above the second."""
    steps = (choice.get("logprobs") or {}).get("content") or []
    gaps = []
    for step in steps:
        best = sorted((top["logprob"] for top in step["top_logprobs"]), reverse=True)
        if len(best) > 1:
            gaps.append(best[0] - best[1])
    return gaps


@dataclass(frozen=True)
class Client:
    """Where the server is and what it calls its model."""

    base_url: str
    model: str

    def chat(
        self, messages: list[dict[str, Any]] | str, thinking: bool | None = None, **options: Any
    ) -> Reply:
        """Return the reply to a conversation, or to a single question.

        Args:
            thinking: the template's switch; None leaves it out of the request.
        """
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        body: dict[str, Any] = {
            "model": self.model,
            "messages": messages,
            "temperature": 0,
            "max_tokens": 256,
            **options,
        }
        if thinking is not None:
            body["chat_template_kwargs"] = {"enable_thinking": thinking}
        request = urllib.request.Request(
            f"{self.base_url.rstrip('/')}/v1/chat/completions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=120) as response:
            choice = json.load(response)["choices"][0]
        message = choice["message"]
        return Reply(
            message.get("content") or "",
            choice["finish_reason"],
            message.get("tool_calls") or [],
            _margins(choice),
        )
