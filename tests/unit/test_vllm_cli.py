"""Tests of the version table against the flag fixtures, and of the question asked of these.

Static: the fixtures were read from vLLM's sources. tests/engine/test_argument_parser.py asks a
real parser.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "vllm_cli"
VERSIONS = yaml.safe_load((ROOT / "course" / "versions.yml").read_text("utf-8"))
VERSION_OF = {stack["id"]: stack["vllm"]["value"] for stack in VERSIONS["stacks"]}
EMITTED = [(e["flag"], e["kind"], s) for e in VERSIONS["engine_flags"] for s in e["stacks"]]
QUOTED = [(entry, version) for entry in VERSIONS["defaults"] for version in entry["versions"]]
STATUS = {"read-in-source", "ran-on-cpu", "unverified-on-npu"}
PARTS = (
    *("vllm", "vllm_ascend", "python", "cann", "torch", "torch_npu"),
    *("triton_ascend", "transformers", "numpy", "image"),
)


def _flags_module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("vllm_cli_flags", FIXTURES / "flags.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


flags = _flags_module()


@pytest.mark.parametrize(("flag", "kind", "stack"), EMITTED)
def test_emitted_flag_on_its_stack_exists_with_its_kind(flag: str, kind: str, stack: str) -> None:
    known = flags.load(VERSION_OF[stack])["flags"]

    assert known[flag]["kind"] == kind


@pytest.mark.parametrize(
    ("entry", "version"), QUOTED, ids=[f"{entry['name']}-{version}" for entry, version in QUOTED]
)
def test_quoted_default_of_a_version_equals_the_fixture(
    entry: dict[str, Any], version: str
) -> None:
    fixture, quoted = flags.load(version), entry["versions"][version]

    if "flag" in entry:
        found = fixture["flags"][entry["flag"]]
    else:
        found = fixture["environment_defaults"][entry["variable"]]

    assert (quoted["value"], quoted["source"]) == (found["default"], found["where"])


@pytest.mark.parametrize(
    ("entry", "version"),
    [(e, v) for e, v in QUOTED if "effective" in e["versions"][v]],
    ids=lambda value: value["name"] if isinstance(value, dict) else value,
)
def test_effective_default_of_a_version_is_a_fallback_of_the_fixture(
    entry: dict[str, Any], version: str
) -> None:
    quoted = entry["versions"][version]

    rows = {row["where"]: row["value"] for row in flags.load(version)["fallbacks"][entry["flag"]]}

    found = rows[quoted["effective_source"]]
    assert quoted["effective"] in (found, isinstance(found, dict) and found["unreadable"])


def test_quoted_defaults_cover_every_version() -> None:
    covered = [set(entry["versions"]) for entry in VERSIONS["defaults"]]

    assert all(versions == set(flags.VERSIONS) for versions in covered)


@pytest.mark.parametrize("stack", VERSIONS["stacks"], ids=lambda stack: stack["id"])
def test_stack_parts_all_have_a_source(stack: dict[str, Any]) -> None:
    parts = {name: stack[name] for name in PARTS}

    bare = [
        n for n, p in parts.items() if not p["source"] or (p["value"] is None and "note" not in p)
    ]

    assert bare == []
    assert stack["status"] in STATUS


@pytest.mark.parametrize("version", flags.VERSIONS)
def test_limit_mm_variable_is_registered_in_no_version(version: str) -> None:
    registered = flags.load(version)["environment"]

    assert "VLLM_LIMIT_MM_PER_PROMPT" not in registered
    assert "VLLM_ENGINE_READY_TIMEOUT_S" in registered


@pytest.mark.parametrize("stack", VERSIONS["stacks"], ids=lambda stack: stack["id"])
def test_minicpm5_parser_exists_where_a_stack_claims_tool_calling(stack: dict[str, Any]) -> None:
    parsers = flags.load(VERSION_OF[stack["id"]])["tool_parsers"]

    assert ("minicpm5" in parsers) is stack["tool_calling"]


@pytest.mark.parametrize(
    ("version", "present"), [("0.18.0", False), ("0.23.0", True), ("0.32.0", True)]
)
def test_minicpm5_parser_is_present_since_0_23(version: str, present: bool) -> None:
    parsers = flags.load(version)["tool_parsers"]

    assert ("minicpm5" in parsers) is present


@pytest.mark.parametrize(
    ("words", "unknown"),
    [
        (["--port", "8000", "--port=8000", "-tp", "2", "--help", "-O3"], []),
        (["--no-enforce-eager", "--no-port"], ["--no-port"]),
        (["--limit_mm_per_prompt", "{}", "--limit-mm-per-prompt.image", "3"], []),
        (["--port.key", "1"], ["--port.key"]),
        (["--seed", "-1"], []),
        (["--limit-mm", "{}", "--prot=1"], ["--limit-mm", "--prot=1"]),
    ],
)
def test_unknown_flags_of_an_argv_are_those_the_parser_lacks(
    words: list[str], unknown: list[str]
) -> None:
    argv = ["vllm", "serve", "model", *words]

    found = flags.unknown_flags(argv, "0.23.0")

    assert found == unknown


def test_unknown_flags_differ_by_version() -> None:
    argv = ["--device-memory-utilization", "0.5"]

    found = [flags.unknown_flags(argv, version) for version in flags.VERSIONS]

    assert found == [argv[:1], argv[:1], []]
