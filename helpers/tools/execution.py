"""Run one call of a model: validate, run with a time limit, and write the result as text.

What goes wrong becomes a typed problem, told to the model; it never ends the kernel's cell.
"""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from helpers import tool_errors
from helpers.tool_calls import ToolCall
from helpers.tool_errors import ToolProblem
from helpers.tools.schema import Tool


@dataclass(frozen=True)
class Result:
    """What became of one call.

    Attributes:
        call: as the model sent it.
        content: the text that the model is given.
        problem: what went wrong, or None.
        seconds: spent in the tool.
    """

    call: ToolCall
    content: str
    problem: ToolProblem | None
    seconds: float

    def as_message(self) -> dict[str, Any]:
        """Return the `tool` message that answers the call."""
        return {"role": "tool", "tool_call_id": self.call.id, "content": self.content}


def run(call: ToolCall, tools: Mapping[str, Tool], timeout: float, limit: int) -> Result:
    """Return the result of a call, or the problem that stands in its place.

    Args:
        timeout: seconds that the tool may take.
        limit: characters that its result may have.
    """
    begun = time.monotonic()
    try:
        if call.name not in tools:
            raise tool_errors.UnknownTool(name=call.name, known=", ".join(tools))
        chosen = tools[call.name]
        value = _limited(chosen, chosen.validated(call.arguments), timeout)
        content = _written(call.name, value, limit)
    except ToolProblem as problem:
        told = {"error": problem.code.removeprefix("tools."), "detail": _detail(problem)}
        written = json.dumps(told, ensure_ascii=False)
        return Result(call, written, problem, time.monotonic() - begun)
    return Result(call, content, None, time.monotonic() - begun)


def _detail(problem: ToolProblem) -> str:
    """Return what the model is told: the original text, else the figures of the problem."""
    if problem.original:
        return problem.original
    return ", ".join(f"{name}: {value}" for name, value in problem.values.items())


def _limited(tool: Tool, arguments: dict[str, Any], timeout: float) -> Any:
    """Return what the tool returns, in a thread of its own: only so can a hanging one be left."""
    done: queue.Queue[tuple[bool, Any]] = queue.Queue()

    def work() -> None:
        try:
            done.put((True, tool.function(**arguments)))
        except BaseException as error:  # noqa: BLE001  a learner's tool may raise anything
            done.put((False, error))

    threading.Thread(target=work, daemon=True, name=f"tool {tool.name}").start()
    try:
        returned, value = done.get(timeout=timeout)
    except queue.Empty:
        raise tool_errors.ToolTimeout(name=tool.name, limit=f"{timeout:g}") from None
    if returned:
        return value
    told = f"{type(value).__name__}: {value}"
    raise tool_errors.ToolRaised(
        name=tool.name, kind=type(value).__name__, original=told
    ) from value


def _written(name: str, value: Any, limit: int) -> str:
    """Return a result as the model is given it: a string as it is, else JSON."""
    try:
        plain = value if isinstance(value, str) else to_jsonable_python(value)
        text = (
            plain
            if isinstance(plain, str)
            else json.dumps(plain, ensure_ascii=False, allow_nan=False)
        )
    except (PydanticSerializationError, TypeError, ValueError, RecursionError) as error:
        kind = type(value).__name__
        raise tool_errors.ResultNotJson(name=name, kind=kind, original=str(error)) from error
    if len(text) > limit:
        raise tool_errors.ResultTooLarge(name=name, size=f"{len(text):,}", limit=f"{limit:,}")
    return text
