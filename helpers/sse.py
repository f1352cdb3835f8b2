"""The server-sent events of a streamed chat answer: text and calls as they come, in their order.

Reads what `chat` has asked for; sends nothing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import requests

from helpers import thinking
from helpers.tool_calls import Gathering


def events(
    reply: requests.Response, seen: dict[str, Any], begun: float, calls: Gathering
) -> Iterator[tuple[str, str]]:
    """Yield ("content" | "tool", text) of each server-sent event, and keep finish reason, usage,
    calls and the time of the first token.
    """
    for line in reply.iter_lines():
        if not line.startswith(b"data: ") or line == b"data: [DONE]":
            continue
        event = json.loads(line[len(b"data: ") :])
        if "error" in event:  # the headers had said 200 before the engine failed
            seen["error"] = event
            return
        seen["usage"] = event.get("usage") or seen["usage"]
        for choice in event.get("choices", []):
            seen["finish"] = choice.get("finish_reason") or seen["finish"]
            text = choice["delta"].get("content") or ""
            called = calls.add(choice["delta"].get("tool_calls") or [])
            if text or called:
                seen["first"] = seen["first"] or time.monotonic() - begun
            if text:
                seen["content"] += text
                yield "content", text
            if called:
                yield "tool", called


def split(events: Iterator[tuple[str, str]], asked: bool | None) -> Iterator[tuple[str, str]]:
    """Yield ("thinking" | "answer" | "tool", text): the content split, tool calls in between."""
    tool: list[str] = []

    def contents() -> Iterator[str]:
        for kind, text in events:
            if kind == "tool":
                tool.append(text)
                return
            yield text

    while True:
        for kind, text in thinking.split_stream(contents(), asked):
            asked = kind == "thinking"
            yield kind, text
        if not tool:
            return
        yield "tool", tool.pop()
