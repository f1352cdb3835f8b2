"""The loop of an agent: ask, validate the calls, run them, send the results back, until an answer.

`execution` runs a call, `transcript` keeps what happened; the requests are `chat`'s.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from helpers import chat
from helpers.answers import Answer
from helpers.chat import Messages
from helpers.server.endpoint import Endpoint
from helpers.tool_calls import ToolCall
from helpers.tool_errors import CutWhileCalling, EndlessCalling, InvalidArguments
from helpers.tools import execution
from helpers.tools.schema import Tool, offered
from helpers.tools.transcript import Round, Transcript

Choice = str | Mapping[str, Any]


def run_tools(
    prompt: str | Messages,
    tools: Sequence[Tool | Callable[..., Any]],
    *,
    thinking: bool | None = None,
    tool_choice: Choice | Callable[[int], Choice] = "auto",
    repair: Literal["tell", "grammar"] = "tell",
    max_rounds: int = 6,
    tool_timeout: float = 10.0,
    result_limit: int = 4000,
    server: Endpoint | None = None,
    **more: Any,
) -> Transcript:
    """Return the transcript of a conversation in which the model may call tools; a call's problem
    (a ToolProblem of `tool_errors`) is sent to the model as the result of that call.

    Args:
        prompt, thinking, server, more: as `chat.ask` has them.
        tools: made by `tool`, or typed functions with a docstring.
        tool_choice: for every round, or a function of the round's number, counted from 1.
        repair: what follows arguments that do not validate: "tell" the model, or drop the turn and
            ask once more under the server's "grammar" (tool_choice="required").
        max_rounds: requests after which the loop is stopped.
        tool_timeout, result_limit: seconds of one call, characters of its result.
    Raises:
        NotATool, DuplicateTool: the tools cannot be offered. Others: as `chat.ask`.
    """
    known = offered(tools)
    turns = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else list(prompt)
    transcript = Transcript([dict(turn) for turn in turns])
    more |= {"tools": [one.schema for one in known.values()], "thinking": thinking}
    begun, again = time.monotonic(), False
    for number in range(1, max_rounds + 1):
        choice = tool_choice(number) if callable(tool_choice) else tool_choice
        more["tool_choice"] = "required" if again else choice
        answer = chat.ask(transcript.messages, server=server, **more)
        if not answer.tool_calls or answer.finish_reason == "length":
            _end(transcript, answer)
            break
        wrong = [call for call in answer.tool_calls if not _fits(call, known)]
        again = repair == "grammar" and not again and bool(wrong)
        asked = wrong if again else answer.tool_calls
        results = [execution.run(call, known, tool_timeout, result_limit) for call in asked]
        _take(transcript, Round(answer, tuple(results), dropped=again))
    else:
        transcript.problem = EndlessCalling(rounds=max_rounds)
    transcript.seconds = time.monotonic() - begun
    return transcript


def _take(transcript: Transcript, done: Round) -> None:
    """Take a round with calls in; the conversation goes on from it unless it is dropped."""
    transcript.rounds.append(done)
    if not done.dropped:
        transcript.messages.append(said(done.answer))
        transcript.messages += [one.as_message() for one in done.results]


def _end(transcript: Transcript, answer: Answer) -> None:
    """Take the last answer in; one that max_tokens ended is none, and half a call is not run."""
    transcript.rounds.append(Round(answer))
    transcript.messages.append({"role": "assistant", "content": answer.content})
    if answer.finish_reason == "length":
        transcript.problem = CutWhileCalling(max_tokens=answer.request["max_tokens"])


def _fits(call: ToolCall, known: Mapping[str, Tool]) -> bool:
    """Return False for a call to a known tool whose arguments do not validate."""
    try:
        if call.name in known:
            known[call.name].validated(call.arguments)
    except InvalidArguments:
        return False
    return True


def said(answer: Answer) -> dict[str, Any]:
    """Return the assistant's message with its calls, as it is sent back.

    Arguments that are no JSON object are replaced: the chat template needs an object. vLLM 0.32
    does the same, a server that does not would refuse the conversation from then on. The result
    tells the model what was wrong.
    """
    calls = [one.as_message() for one in answer.tool_calls]
    for call in calls:
        if not _is_object(call["function"]["arguments"]):
            call["function"]["arguments"] = "{}"
    return {"role": "assistant", "content": answer.content or None, "tool_calls": calls}


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False
