"""What a loop of calls leaves: every round with its calls and results, as a trace and as a table.

Data and how it is shown; `loop` makes it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any

from helpers import messages
from helpers.answers import Answer, as_html, as_text
from helpers.errors import LabError
from helpers.tables import Table
from helpers.tool_calls import ToolCall
from helpers.tools.execution import Result

SHOWN = 160
"""Characters of a result that a trace shows; `Result.content` has them all."""

_COLUMNS = (
    "tools.column.round",
    "tools.column.call",
    "tools.column.outcome",
    "tools.column.result",
    "tools.column.seconds",
)


@dataclass(frozen=True)
class Round:
    """One request of the loop.

    Attributes:
        answer: what the model said.
        results: of its calls, in order; () where it called nothing.
        dropped: True where the turn was not kept, because it was asked again under the grammar.
    """

    answer: Answer
    results: tuple[Result, ...] = ()
    dropped: bool = False


@dataclass
class Transcript:
    """The whole of one loop.

    Attributes:
        messages: the conversation as it was sent and answered, tool messages included.
        rounds: one a request.
        seconds: of the whole loop, tools included.
        problem: why there is no answer, or None.
    """

    messages: list[dict[str, Any]]
    rounds: list[Round] = field(default_factory=list)
    seconds: float = 0.0
    problem: LabError | None = None

    @property
    def answer(self) -> str:
        """Return the final answer; "" where the loop ended without one."""
        return "" if self.problem or not self.rounds else self.rounds[-1].answer.text

    @property
    def calls(self) -> list[ToolCall]:
        """Return every call that was kept, in order."""
        return [one.call for one in self.results]

    @property
    def results(self) -> list[Result]:
        """Return the result of every call that was kept, in order."""
        return [one for turn in self.rounds if not turn.dropped for one in turn.results]

    @property
    def tokens(self) -> int:
        """Return the tokens of all requests, prompts and answers together: each round sends the
        conversation again.
        """
        return sum(turn.answer.usage.get("total_tokens", 0) for turn in self.rounds)

    def table(self) -> Table:
        """Return a row for each call: round, call, outcome, result, seconds."""
        head = [messages.text(code) for code in _COLUMNS]
        rows = [
            (str(number), str(one.call), _outcome(one), _short(one), f"{one.seconds:.2f} s")
            for number, turn in enumerate(self.rounds, 1)
            for one in turn.results
        ]
        return Table(head, rows)

    def _lines(self) -> list[tuple[str, str]]:
        said = next((m["content"] for m in self.messages if m["role"] == "user"), "")
        lines = [(messages.text("tools.trace.user"), str(said))]
        for number, turn in enumerate(self.rounds, 1):
            for one in turn.results:
                lines.append((messages.text("tools.trace.call", round=number), str(one.call)))
                code = "tools.trace.dropped" if turn.dropped else "tools.trace.result"
                lines.append((messages.text(code, round=number), _short(one)))
        if self.problem:
            lines.append((messages.text("tools.trace.stopped"), self.problem.told()))
        else:
            lines.append((messages.text("tools.trace.answer"), self.answer))
        return lines

    def _sum(self) -> str:
        return messages.text(
            "tools.trace.sum",
            rounds=len(self.rounds),
            calls=len(self.calls),
            tokens=self.tokens,
            seconds=f"{self.seconds:.2f}",
        )

    @property
    def label(self) -> str:
        """Return "STAND-IN" where the course's own small model answered, else ""."""
        return self.rounds[-1].answer.label if self.rounds else ""

    def __str__(self) -> str:
        return f"{as_text(self.label, self._lines())}\n{self._sum()}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"{as_html(self.label, self._lines())}<div>{escape(self._sum())}</div>"


def _outcome(result: Result) -> str:
    if result.problem is None:
        return messages.text("tools.outcome.ok")
    return result.problem.code.removeprefix("tools.")


def _short(result: Result) -> str:
    text = result.content
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
