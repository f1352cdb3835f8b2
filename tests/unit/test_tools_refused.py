"""What a server says no with where tools are in the request becomes the error that names the cause."""

from __future__ import annotations

import json
from typing import Any

import pytest

from helpers import errors, messages, refusals, tool_errors
from helpers.server import Endpoint

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
LONG = "This model's maximum context length is 2048 tokens. However, your prompt contains 42447"
REFUSALS = [
    ('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', 400),
    ('tool_choice="required" requires --tool-call-parser to be set', 400),
    ("`tools` must not be an empty array. Either provide at least one tool", 400),
    ("When using `tool_choice`, `tools` must be set.", 400),
    ("Invalid value for `tool_choice`: maybe!", 400),
    ("1 validation error:\n {'loc': 'body.tools.0.function.name', 'msg': 'Field required'}", 400),
    ("Grammar error: Invalid type: text", 400),
    ("'list' object has no attribute 'keys'", 500),
    (LONG, 400),
]
KINDS = [
    tool_errors.ToolsNotEnabled,
    tool_errors.ToolsNotEnabled,
    tool_errors.ToolsEmpty,
    tool_errors.ToolChoiceRefused,
    tool_errors.ToolChoiceRefused,
    tool_errors.ToolSchemaRefused,
    tool_errors.ToolSchemaRefused,
    tool_errors.ToolSchemaRefused,
    tool_errors.TooManyTools,
]


def _refused(said: str, status: int, **body: Any) -> errors.LabError:
    text = json.dumps({"error": {"message": said}})
    sent = {"messages": [], "max_tokens": 8} | body
    return refusals.refused(status, text, sent, Endpoint("http://127.0.0.1:1", "M"))


@pytest.mark.parametrize(
    ("said", "status", "kind"), [(*r, k) for r, k in zip(REFUSALS, KINDS, strict=True)]
)
def test_refusal_of_a_request_with_tools_is_typed_and_keeps_the_text(
    said: str, status: int, kind: type[errors.LabError]
) -> None:
    error = _refused(said, status, tools=[TOOL] * 200, tool_choice="auto")

    assert type(error) is kind
    assert error.original == said
    assert all(said in error.told(language) for language in messages.LANGUAGES)


def test_prompt_that_is_long_by_its_own_is_not_laid_to_the_tools() -> None:
    long = [{"role": "user", "content": "word " * 4000}]

    assert type(_refused(LONG, 400, tools=[TOOL], messages=long)) is errors.PromptTooLong


def test_request_without_tools_is_refused_as_before() -> None:
    said = "'list' object has no attribute 'keys'"

    assert type(_refused(said, 500)) is errors.RequestRefused
