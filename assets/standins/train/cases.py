"""One measured request and how its reply is judged. Standard library only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from train.client import Reply

Judge = Callable[[Reply], bool]
SAMPLED = {"temperature": 1.0, "top_p": 0.95}


@dataclass(frozen=True)
class Case:
    """One request and how its reply is judged."""

    group: str
    messages: list[dict[str, Any]] | str
    thinking: bool | None
    judge: Judge
    options: dict[str, Any] = field(default_factory=dict)


def says(value: str) -> Judge:
    """Return the judge of answers that hold the value."""
    return lambda reply: value in reply.answer and reply.finish_reason == "stop"


def equals(text: str) -> Judge:
    """Return the judge of answers that are the text."""
    return lambda reply: reply.answer == text and reply.finish_reason == "stop"


def calls(*wanted: tuple[str, dict[str, Any]]) -> Judge:
    """Return the judge of answers that are exactly these calls."""
    return lambda reply: reply.arguments() == list(wanted)


def no_call(reply: Reply) -> bool:
    """Return whether the reply is an answer without any call."""
    return not reply.tool_calls and bool(reply.answer) and reply.finish_reason == "stop"
