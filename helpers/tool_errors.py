"""The errors of tool calling: what the server refuses, what a tool or a model gets wrong.

`refusals` and `tools` raise them, or hand them to the model as a call's result.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from helpers.errors import LabError, PromptTooLong, RequestRefused

# vLLM 0.32, seen; the first in 0.18 and 0.23 too: entrypoints/serve/render/serving.py.
_NOT_ENABLED = re.compile(r"requires (--enable-auto-tool-choice|--tool-call-parser)")
_EMPTY = re.compile(r"`tools` must not be an empty array")
_CHOICE = re.compile(r"`tool_choice`")
_SCHEMA = re.compile(r"body\.tools|Grammar error|object has no attribute")


class ToolsNotEnabled(RequestRefused):
    """A request has tools, and the server was started without the flags; values: status."""

    code = "tools.not_enabled"


class ToolsEmpty(RequestRefused):
    """The request's list of tools is empty; values: status."""

    code = "tools.empty"


class ToolChoiceRefused(RequestRefused):
    """tool_choice names no tool of the list, or is none of the known words; values: status,
    choice.
    """

    code = "tools.choice_refused"


class ToolSchemaRefused(RequestRefused):
    """A tool's schema is not what the server can use; values: status."""

    code = "tools.schema_refused"


class TooManyTools(PromptTooLong):
    """The schemas of the tools do not fit in the context; values: status, max_tokens, tools."""

    code = "tools.too_many"


class NotATool(LabError):
    """A function cannot be described as a tool; values: name. Original: pydantic's text."""

    code = "tools.not_a_tool"


class DuplicateTool(LabError):
    """Two tools of a list have one name; values: name."""

    code = "tools.duplicate"


class ParserUnavailable(LabError):
    """The engine's vLLM does not have the tool parser, or cannot be asked; values: parser."""

    code = "tools.parser_unavailable"


class ToolProblem(LabError):
    """What went wrong with one call; it is told to the model as the call's result."""

    code = "tools.problem"


class UnknownTool(ToolProblem):
    """The model calls a tool that was not offered; values: name, known."""

    code = "tools.unknown"


class InvalidArguments(ToolProblem):
    """The arguments do not fit the tool's schema; values: name. Original: pydantic's findings."""

    code = "tools.invalid_arguments"


class ToolRaised(ToolProblem):
    """The tool raised an exception; values: name, kind. Original: its text."""

    code = "tools.raised"


class ToolTimeout(ToolProblem):
    """The tool gave no result in time; values: name, limit (seconds)."""

    code = "tools.timeout"


class ResultTooLarge(ToolProblem):
    """The tool's result is longer than the model can be given; values: name, size, limit
    (characters).
    """

    code = "tools.result_too_large"


class ResultNotJson(ToolProblem):
    """The tool's result cannot be written as JSON; values: name, kind. Original: pydantic's
    text.
    """

    code = "tools.result_not_json"


class EndlessCalling(LabError):
    """The model went on calling until the limit of rounds; values: rounds."""

    code = "tools.endless"


class CutWhileCalling(LabError):
    """max_tokens ended before a call or an answer was complete; values: max_tokens."""

    code = "tools.cut"


def refused(
    status: int, said: str, body: Mapping[str, Any], too_long: bool
) -> RequestRefused | None:
    """Return the error for a refusal that the request's tools have caused, or None.

    Args:
        status: of HTTP.
        said: the server's own text, kept in the error.
        body: the request.
        too_long: the text says that the prompt does not fit in the context.
    """
    tools, choice = body.get("tools"), body.get("tool_choice")
    if tools is None and choice is None:
        return None
    kinds: list[tuple[re.Pattern[str], type[RequestRefused]]] = [
        (_NOT_ENABLED, ToolsNotEnabled),
        (_EMPTY, ToolsEmpty),
        (_CHOICE, ToolChoiceRefused),
        (_SCHEMA, ToolSchemaRefused),
    ]
    found = next((kind for pattern, kind in kinds if pattern.search(said)), None)
    if found is None and too_long:
        heavier = len(json.dumps(tools or [])) > len(json.dumps(body.get("messages") or []))
        found = TooManyTools if heavier else None
    if found is None:
        return None
    values: dict[str, Any] = {"choice": choice, "tools": len(tools or ()), "status": status}
    return found(original=said, max_tokens=body.get("max_tokens"), **values)
