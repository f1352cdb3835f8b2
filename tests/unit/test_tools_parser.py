"""Asking an engine's interpreter for its tool parsers, with a tiny vllm package in its place."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from helpers import messages, tools
from helpers.engines import Cpu
from helpers.interpreters import Interpreter
from helpers.models import Model
from helpers.tool_calls import ToolCall
from helpers.tool_errors import ParserUnavailable
from helpers.tools import cases
from helpers.tools.parser import Parsed

PARSERS = """
import types

class Parser:
    def __init__(self, tokenizer, tools):
        self.names = [tool["function"]["name"] for tool in tools]

    def extract_tool_calls(self, text, request):
        print("noise on standard output")
        call = types.SimpleNamespace(function=types.SimpleNamespace(name=self.names[0], arguments="{}"))
        found = [call] if text == "call" else []
        return types.SimpleNamespace(tool_calls=found, content=None if found else text)

class ToolParserManager:
    list_registered = staticmethod(lambda: ["minicpm5", "other"])
    get_tool_parser = staticmethod(lambda name: Parser)
"""
PROTOCOL = """
class ChatCompletionRequest:
    def __init__(self, model, messages, tools):
        self.tools = tools
"""


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cpu:
    """Return a CPU engine whose interpreter is this one, with the tiny vllm on its path."""
    protocol = tmp_path / "vllm" / "entrypoints" / "openai" / "chat_completion"
    protocol.mkdir(parents=True)
    for folder in (protocol, *list(protocol.parents)[:3]):
        (folder / "__init__.py").touch()
    (protocol / "protocol.py").write_text(PROTOCOL, encoding="utf-8")
    (tmp_path / "vllm" / "tool_parsers.py").write_text(PARSERS, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    made: Any = Cpu()
    made.interpreter = Interpreter(Path(sys.executable), "course")
    return made


def test_parse_returns_calls_and_content_of_each_text(engine: Cpu) -> None:
    found = tools.parse(engine, Model(None, "M"), ["call", "泉州"], [cases.keep_note])

    assert found == [
        Parsed("minicpm5", "call", (ToolCall("", "keep_note", "{}"),), None),
        Parsed("minicpm5", "泉州", (), "泉州"),
    ]


def test_parse_goes_through_its_parsers_one_after_another(engine: Cpu) -> None:
    wanted = ("other", "minicpm5")

    found = tools.parse(engine, Model(None, "M"), ["a", "b"], [cases.keep_note], wanted)

    assert [(one.parser, one.text) for one in found] == [(p, t) for p in wanted for t in "ab"]


def test_parse_by_an_unknown_parser_tells_those_that_are_there(engine: Cpu) -> None:
    with pytest.raises(ParserUnavailable) as caught:
        tools.parse(engine, Model(None, "M"), ["a"], [cases.keep_note], ["nobody"])

    assert caught.value.original == "registered: minicpm5, other"


def test_parse_in_an_interpreter_without_vllm_keeps_its_words(
    engine: Cpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONPATH")

    with pytest.raises(ParserUnavailable, match="No module named 'vllm'"):
        tools.parse(engine, Model(None, "M"), ["a"], [cases.keep_note])


def test_cases_have_an_id_a_text_and_a_label_in_each_language() -> None:
    ids = [case.id for case in cases.load()]

    assert len(set(ids)) == len(ids) >= 20
    for case in cases.load():
        assert case.text
        assert case.zh != case.en


def test_table_of_cases_shows_null_text_and_calls() -> None:
    messages.use("en")
    case = cases.load()[0]
    called = Parsed("minicpm5", "a\nb", (ToolCall("", "f", "{}"), ToolCall("", "g", "{}")), None)

    row = cases.table([case], [called]).rows[0]

    assert row == (case.en, "a⏎b", "f({}) · g({})", "null")


def test_comparison_shows_a_dash_where_a_parser_found_nothing() -> None:
    table = cases.comparison([Parsed("hermes", "x", (), "x")])

    assert table.rows == [("hermes", "–")]
