"""What a chat request returns: an answer with its thinking split out, a piece, a prompt as seen.

Data and how it is shown; `chat` asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from helpers import messages
from helpers.tool_calls import ToolCall


@dataclass(frozen=True)
class Answer:
    """One answer, thinking split out.

    Attributes:
        text: the answer without its thinking.
        thinking: the thinking, or None.
        content: message.content as the server returned it.
        finish_reason: "stop", "length" (max_tokens was used up), "tool_calls".
        usage: prompt_tokens, completion_tokens, total_tokens.
        seconds: from request to end.
        ttft: seconds to the first token; None where the answer was not streamed.
        request: the JSON that was sent.
        stand_in: True where the course's own small model answered.
        cut_in_thinking: True where max_tokens ended inside the thinking: there is no answer.
        tool_calls: the calls that the model asks for; () where it answers itself.
    """

    text: str
    thinking: str | None
    content: str
    finish_reason: str
    usage: dict[str, int]
    seconds: float
    request: dict[str, Any] = field(repr=False)
    stand_in: bool = False
    cut_in_thinking: bool = False
    ttft: float | None = None
    tool_calls: tuple[ToolCall, ...] = ()

    @property
    def warning(self) -> str:
        """Return a sentence where the answer was cut inside its thinking, else ""."""
        return (
            messages.text("chat.cut_in_thinking", max_tokens=self.request["max_tokens"])
            if self.cut_in_thinking
            else ""
        )

    @property
    def label(self) -> str:
        """Return "STAND-IN" where the course's own small model answered, else ""."""
        return messages.text("model.stand_in") if self.stand_in else ""

    def _lines(self) -> list[tuple[str, str]]:
        lines = (
            [(messages.text("chat.label.thinking"), self.thinking or "")]
            if self.thinking is not None
            else []
        )
        lines.append((messages.text("chat.label.answer"), self.text))
        lines += [(messages.text("chat.label.tool_call"), str(call)) for call in self.tool_calls]
        counts = " + ".join(str(self.usage.get(f"{n}_tokens")) for n in ("prompt", "completion"))
        told = f"{self.finish_reason} · {counts} tokens"
        lines.append((messages.text("chat.label.finish"), told))
        if self.warning:
            lines.append((messages.text("chat.label.warning"), self.warning))
        return lines

    def __str__(self) -> str:
        return as_text(self.label, self._lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(self.label, self._lines())


def as_text(label: str, lines: Sequence[tuple[str, str]]) -> str:
    """Return named lines for a terminal, under the label where there is one."""
    return "\n".join([*([label] if label else []), *(f"{name}: {value}" for name, value in lines)])


def as_html(label: str, lines: Sequence[tuple[str, str]]) -> str:
    """Return named lines for a notebook, under the label where there is one."""
    rows = "".join(
        f"<tr><td style='text-align:left;color:#666;vertical-align:top'>{escape(name)}</td>"
        f"<td style='text-align:left;white-space:pre-wrap'>{escape(value)}</td></tr>"
        for name, value in lines
    )
    style = "background:#b45309;color:#fff;padding:0 .4em"
    badge = f"<span style='{style}'>{escape(label)}</span>" if label else ""
    return f"{badge}<table>{rows}</table>"


@dataclass(frozen=True)
class Piece:
    """One piece of a streamed answer: kind ("thinking", "answer" or "tool", a call's name and
    arguments), text, and seconds since the request.
    """

    kind: str
    text: str
    at: float


@dataclass(frozen=True)
class PromptView:
    """A prompt as the model sees it: the text after the chat template, its tokens, and the context
    length in tokens.
    """

    text: str
    tokens: list[int]
    max_model_len: int | None

    def __str__(self) -> str:
        return self.text

    def __len__(self) -> int:
        return len(self.tokens)
