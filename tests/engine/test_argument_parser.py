"""The flag fixtures against the parser of the installed engine, which is run once, without a model.

The fixtures are read statically; this shows, for the version at hand, that the reading is right.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from helpers.interpreters import find_engine

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "vllm_cli"
EMITTED = [
    entry["flag"]
    for entry in yaml.safe_load((ROOT / "course" / "versions.yml").read_text("utf-8"))[
        "engine_flags"
    ]
]

# Flags that only one side has, each with its reason; anything else is a failure.
ONLY_IN_PARSER = {"--help": "argparse adds it itself"}
ONLY_IN_FIXTURE: dict[str, str] = {}

DUMP = """
import enum, importlib, json, vllm
from vllm.utils.argparse_utils import FlexibleArgumentParser
for name in ("vllm.entrypoints.launchers.cli_args", "vllm.entrypoints.openai.cli_args"):
    try:
        module = importlib.import_module(name)
        break
    except ModuleNotFoundError:
        pass
def plain(value):
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    return value if isinstance(value, dict) else repr(value)
actions = module.make_arg_parser(FlexibleArgumentParser(prog="vllm serve"))._actions
found = {}
for action in actions:
    names = [n for n in action.option_strings if n.startswith("--")]
    if names:
        choices = None if action.choices is None else list(action.choices)
        found[names[0]] = {
            "spellings": sorted(action.option_strings),
            "default": action.default,
            "choices": choices and [None if c == "None" else c for c in choices],
        }
print(json.dumps({"vllm": vllm.__version__, "flags": found}, default=plain))
"""


@pytest.fixture(scope="module")
def parser() -> dict[str, Any]:
    """Return the installed engine's version and flags, as its own parser has them."""
    engine = find_engine()
    if engine is None:
        pytest.skip("no engine is installed: python -m helpers setup")
    done = subprocess.run(
        [str(engine.python), "-c", DUMP],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def fixture(parser: dict[str, Any]) -> dict[str, Any]:
    """Return the fixture of the installed version's series (0.32.x is compared with 0.32.0)."""
    series = ".".join(parser["vllm"].split(".")[:2])
    path = FIXTURES / f"{series}.0.json"
    if not path.exists():
        pytest.skip(f"no fixture of vLLM {series}: tests/fixtures/vllm_cli/extract.py writes one")
    return json.loads(path.read_text("utf-8"))["flags"]


def _is_read(value: Any) -> bool:
    return not (isinstance(value, dict) and "unreadable" in value)


def test_flags_of_the_parser_equal_the_fixture(
    parser: dict[str, Any], fixture: dict[str, Any]
) -> None:
    real, static = set(parser["flags"]), set(fixture)

    assert real - static == set(ONLY_IN_PARSER)
    assert static - real == set(ONLY_IN_FIXTURE)


@pytest.mark.parametrize("flag", EMITTED)
def test_emitted_flag_has_the_fixtures_default_and_choices(
    parser: dict[str, Any], fixture: dict[str, Any], flag: str
) -> None:
    real, static = parser["flags"][flag], fixture[flag]

    assert _is_read(static["default"])
    assert (real["default"], real["choices"]) == (static["default"], static["choices"])


@pytest.mark.parametrize("key", ["default", "choices"])
def test_every_readable_value_equals_the_parsers(
    parser: dict[str, Any], fixture: dict[str, Any], key: str
) -> None:
    read = {name: flag[key] for name, flag in fixture.items() if _is_read(flag[key])}

    different = {
        name: (value, parser["flags"][name][key])
        for name, value in read.items()
        if parser["flags"][name][key] != value
    }

    assert different == {}


def test_every_spelling_equals_the_parsers(parser: dict[str, Any], fixture: dict[str, Any]) -> None:
    spellings = {}
    for name, flag in fixture.items():
        names = [name, *flag["aliases"]]
        negated = [f"--no-{n[2:]}" for n in names if flag["negatable"] and n.startswith("--")]
        spellings[name] = sorted(names + negated)

    different = {
        name: (value, parser["flags"][name]["spellings"])
        for name, value in spellings.items()
        if parser["flags"][name]["spellings"] != value
    }

    assert different == {}
