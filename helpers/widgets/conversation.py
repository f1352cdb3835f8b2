"""A conversation with a server: one request at a time, in a thread, so that a panel stays alive.

Knows no widgets: a panel is told of each change and reads the turns. The requests are `chat`'s.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from helpers import chat
from helpers.answers import Answer, Piece
from helpers.errors import LabError, NotOpenAI
from helpers.server.endpoint import Endpoint
from helpers.widgets.stoppable import Stoppable

if TYPE_CHECKING:  # Pillow and the tools' checks are loaded with the first picture or tool
    from helpers.picture_bytes import Picture
    from helpers.tools import Tool

MAX_ROUNDS = 6
TOOL_SECONDS, RESULT_LIMIT = 10.0, 4000
"""As `tools.run_tools` has them."""

MALFORMED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What an answer raises that is JSON but not a chat answer."""


@dataclass(frozen=True)
class Settings:
    """What shapes an answer: sampling, tokens at most, and enable_thinking (None: not sent)."""

    temperature: float = chat.TEMPERATURE
    top_p: float = chat.TOP_P
    max_tokens: int = 512
    thinking: bool | None = None


@dataclass
class Segment:
    """A part of an answer: kind is thinking, answer, tool (calls) or result (of a tool)."""

    kind: str
    text: str


@dataclass
class Turn:
    """One question and what became of it.

    Attributes:
        question, pictures: what was sent.
        segments: what has come so far, in order.
        state: "running", "done", "stopped" or "failed".
        answer: the last whole answer, with its counts; None before there is one.
        error: why it failed, or None.
    """

    question: str
    pictures: tuple[Picture, ...] = ()
    segments: list[Segment] = field(default_factory=list)
    state: str = "running"
    answer: Answer | None = None
    error: LabError | None = None

    def add(self, kind: str, text: str) -> None:
        """Take in a piece: more of the last segment, or a new one."""
        if self.segments and self.segments[-1].kind == kind:
            self.segments[-1].text += text
        else:
            self.segments.append(Segment(kind, text))

    @property
    def said(self) -> str:
        """Return the text of the answer so far, without thinking and calls."""
        return "".join(one.text for one in self.segments if one.kind == "answer").strip()


@dataclass(frozen=True)
class _Running:
    """What a thread works on."""

    turn: Turn
    request: Stoppable
    settings: Settings
    asked: list[Mapping[str, Any]]


class Conversation:
    """Turns with one server; `messages` is what the next request will begin with.

    A turn that failed, or was stopped before it said anything, is shown but not sent again.
    Thinking is not sent again either: a past turn counts by its answer.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.turns: list[Turn] = []
        self.messages: list[Mapping[str, Any]] = []
        self.changed: Callable[[Turn], object] = lambda turn: None
        self._tools: dict[str, Tool] = {}
        self._lock = threading.RLock()  # an interrupt may come while this very thread holds it
        self._running: _Running | None = None
        self._thread: threading.Thread | None = None

    def serve(self, endpoint: Endpoint, tools: Sequence[Tool | Callable[..., Any]] = ()) -> None:
        """Go on with this endpoint and these tools, if any are given; what was said stays.

        Raises:
            NotATool, DuplicateTool: as `tools.offered`.
        """
        self.endpoint = endpoint
        if tools:
            from helpers import tools as toolbox

            self._tools = dict(toolbox.offered(tools))

    @property
    def is_busy(self) -> bool:
        """Return True while an answer is on its way."""
        return self._running is not None

    def send(
        self, question: str, pictures: Sequence[Picture] = (), settings: Settings | None = None
    ) -> Turn | None:
        """Return the turn that has begun, or None while another one is on its way."""
        turn = Turn(question, tuple(pictures))
        with self._lock:
            if self._running is not None:
                return None
            asked = [*self.messages, _user(turn)]
            running = _Running(turn, Stoppable(self.endpoint), settings or Settings(), asked)
            self.turns.append(turn)
            self._running = running
        # A daemon: an answer on its way does not keep a kernel from ending.
        self._thread = threading.Thread(
            target=self._work, args=(running,), daemon=True, name="playground"
        )
        self._thread.start()
        return turn

    def stop(self) -> None:
        """End the answer on its way at once; what has come of it stays."""
        running = self._running
        if running is not None:
            running.request.stop()
            self._end(running, "stopped", [])

    def clear(self) -> None:
        """Begin a new conversation; the answer on its way is stopped."""
        self.stop()
        with self._lock:
            self.turns, self.messages = [], []

    def join(self, timeout: float) -> bool:
        """Return True once no thread works for this conversation, False after timeout seconds."""
        if self._thread is not None:
            self._thread.join(timeout)
        return self._thread is None or not self._thread.is_alive()

    def _work(self, running: _Running) -> None:
        try:
            said = self._rounds(running)
        except LabError as error:
            self._end(running, "failed", [], error)
        else:
            self._end(running, "done", said)
        finally:
            running.request.close()

    def _rounds(self, running: _Running) -> list[Mapping[str, Any]]:
        """Return the messages that answer a turn, calls and their results included; [] where it
        was stopped, or used up its tokens before it said anything.

        Raises: as `chat.ask`; EndlessCalling, CutWhileCalling.
        """
        said: list[Mapping[str, Any]] = []
        for _ in range(MAX_ROUNDS):
            answer = self._stream(running, [*running.asked, *said])
            if answer is None:
                return []
            if not answer.tool_calls or not self._tools:
                return [*said, _assistant(answer.text)] if answer.text else []
            said += self._run(running.turn, answer)
            self.changed(running.turn)
        from helpers.tool_errors import EndlessCalling

        raise EndlessCalling(rounds=MAX_ROUNDS)

    def _stream(self, running: _Running, asked: chat.Messages) -> Answer | None:
        """Return the whole answer, or None where it was stopped."""
        turn, request, settings = running.turn, running.request, running.settings
        more: dict[str, Any] = {}
        if self._tools:
            more["tools"] = [one.schema for one in self._tools.values()]
        before = len(turn.segments)
        flow = chat.stream(
            asked,
            server=request.endpoint,
            thinking=settings.thinking,
            max_tokens=settings.max_tokens,
            temperature=settings.temperature,
            top_p=settings.top_p,
            **more,
        )
        try:
            for piece in flow:
                if not self._take(running, piece):
                    return None
        except MALFORMED as error:
            url, name = request.endpoint.base_url, type(error).__name__
            raise NotOpenAI(url=url, answer=name, original=str(error)) from error
        if request.is_stopped:
            return None
        turn.answer = flow.answer
        if flow.answer.tool_calls:  # their pieces, without punctuation, become whole calls
            rest = [one for one in turn.segments[before:] if one.kind != "tool"]
            calls = [Segment("tool", str(call)) for call in flow.answer.tool_calls]
            turn.segments[before:] = [*rest, *calls]
        return flow.answer

    def _run(self, turn: Turn, answer: Answer) -> list[Mapping[str, Any]]:
        """Return the message with the calls, and those with their results."""
        from helpers.tool_errors import CutWhileCalling
        from helpers.tools import execution, loop

        if answer.finish_reason == "length":
            raise CutWhileCalling(max_tokens=answer.request["max_tokens"])
        said: list[Mapping[str, Any]] = [loop.said(answer)]
        for call in answer.tool_calls:
            result = execution.run(call, self._tools, TOOL_SECONDS, RESULT_LIMIT)
            turn.segments.append(Segment("result", result.content))
            said.append(result.as_message())
        return said

    def _take(self, running: _Running, piece: Piece) -> bool:
        """Take in a piece; return False where nobody wants any more."""
        with self._lock:
            if running.request.is_stopped or running is not self._running:
                return False
            running.turn.add(piece.kind, piece.text)
        self.changed(running.turn)
        return True

    def _end(
        self,
        running: _Running,
        state: str,
        said: list[Mapping[str, Any]],
        error: LabError | None = None,
    ) -> None:
        """Leave a turn in its last state, unless it has been left before."""
        turn = running.turn
        with self._lock:
            if running is not self._running:
                return
            if running.request.is_stopped:
                state, said, error = "stopped", [_assistant(turn.said)] if turn.said else [], None
            turn.state, turn.error = state, error
            if said:
                self.messages = [*running.asked, *said]
            self._running = None
        self.changed(turn)


def _assistant(text: str) -> Mapping[str, Any]:
    return {"role": "assistant", "content": text}


def _user(turn: Turn) -> Mapping[str, Any]:
    """Return the message of a question; pictures go before the text."""
    message: dict[str, Any] = {"role": "user", "content": turn.question}
    if not turn.pictures:
        return message
    from helpers import images

    return images.attach([message], turn.pictures)[0]
