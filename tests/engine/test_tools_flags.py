"""The two flags of tool calling: what the real engine says where they are missing or wrong."""

from __future__ import annotations

import pytest

from helpers import chat, errors, messages, server, tool_errors
from helpers.engines import Cpu
from helpers.models import Model
from helpers.options import Options
from helpers.server import Server

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
STARTS = {
    "half": (
        {"enable_auto_tool_choice": True},
        "TypeError: Error: --enable-auto-tool-choice requires --tool-call-parser",
    ),
    "unknown parser": (
        {"enable_auto_tool_choice": True, "tool_call_parser": "nobody"},
        "invalid tool call parser: nobody (chose from",
    ),
}


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ("auto", '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser'),
        ("required", 'tool_choice="required" requires --tool-call-parser'),
    ],
)
def test_request_with_tools_without_the_flags_is_refused_with_their_names(
    served: Server, choice: str, said: str
) -> None:
    with pytest.raises(tool_errors.ToolsNotEnabled) as caught:
        chat.ask("Hello", tools=[TOOL], tool_choice=choice, max_tokens=8, server=served)

    assert said in str(caught.value.original)
    for language in messages.LANGUAGES:
        assert str(caught.value.original) in caught.value.told(language)


@pytest.mark.parametrize("case", STARTS)
def test_start_with_half_of_the_flags_ends_with_the_engines_words(
    device: Cpu, model: Model, options: Options, case: str
) -> None:
    """Starts its own: the command line is what is wrong. Ends before a model is loaded."""
    flags, said = STARTS[case]
    started = server.start(device, model, options.with_values(**flags))
    assert isinstance(started, Server)

    with pytest.raises(errors.ServerDied) as caught:
        started.wait_ready(120)

    assert said in str(caught.value.original)
    for language in messages.LANGUAGES:
        assert said in caught.value.told(language)
