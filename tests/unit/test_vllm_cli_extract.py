"""Tests of the script that writes the flag fixtures, on a vLLM in small that is written here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

EXTRACT = Path(__file__).resolve().parents[1] / "fixtures" / "vllm_cli" / "extract.py"

# Each file shows one thing that the extractor has to follow.
TREE = {
    "config/__init__.py": "from vllm.config.cache import CacheConfig\n",
    "config/cache.py": """
from dataclasses import field
from typing import ClassVar, Literal
import vllm.envs as envs
CacheType = Literal["fp8", "auto"]
def config(cls): return cls
@config
class Base:
    HALF: ClassVar[float] = 0.5
    level: int | None = 2
@config
class CacheConfig(Base):
    share: float = Field(default=Base.HALF + 0.4, gt=0)
    cache_dtype: CacheType | None = "auto"
    eager: bool = False
    limits: dict[str, int] = field(default_factory=dict)
    from_environment: str = envs.VLLM_HOME
    names: str | list[str] | None = None
""",
    "config/multimodal.py": """
class MultiModalConfig:
    def get_limit_per_prompt(self, modality):
        if self.limits is None:
            return 999
        return self.limits[modality]
""",
    "engine/arg_utils.py": """
import argparse
from vllm.config import CacheConfig
class EngineArgs:
    @staticmethod
    def add_cli_args(parser):
        cache_kwargs = get_kwargs(CacheConfig)
        group = parser.add_argument_group(title="CacheConfig")
        group.add_argument("--share", "-s", **cache_kwargs["share"])
        group.add_argument("--kv-cache-dtype", **cache_kwargs["cache_dtype"])
        group.add_argument("--eager", **cache_kwargs["eager"])
        group.add_argument("--limits", **cache_kwargs["limits"])
        group.add_argument("--home", **cache_kwargs["from_environment"])
        group.add_argument("--level", **{**cache_kwargs["level"], "default": None})
        parser.add_argument("--quiet", action="store_true", help="…")
        return parser
    @classmethod
    def get_batch_defaults(cls, world_size):
        if current_platform.is_cpu():
            default_max_num_seqs = {UsageContext.OPENAI_API_SERVER: 128 * world_size}
        else:
            default_max_num_seqs = {UsageContext.OPENAI_API_SERVER: 256}
class AsyncEngineArgs(EngineArgs):
    pass
""",
    "entrypoints/openai/cli_args.py": """
from vllm.config.cache import config
from vllm.engine.arg_utils import AsyncEngineArgs
@config
class BaseFrontendArgs:
    tool_parser: str | None = None
    @classmethod
    def add_cli_args(cls, parser):
        frontend_kwargs = get_kwargs(cls)
        for key, value in frontend_kwargs.items():
            parser.add_argument(f"--{key.replace('_', '-')}", **value)
        return parser
@config
class FrontendArgs(BaseFrontendArgs):
    port: int = 8000
def make_arg_parser(parser):
    parser.add_argument("model_tag", nargs="?")
    parser = FrontendArgs.add_cli_args(parser)
    parser = AsyncEngineArgs.add_cli_args(parser)
    return parser
""",
    "envs.py": """
environment_variables = {
    "VLLM_WAIT_S": lambda: int(os.getenv("VLLM_WAIT_S", "600")),
    "VLLM_HOME": lambda: os.path.expanduser(os.getenv("VLLM_HOME", "~")),
}
""",
    "tool_parsers/__init__.py": '_TOOL_PARSERS_TO_REGISTER = {"minicpm5": ("file", "Class")}\n',
    "platforms/__init__.py": '"""Platform plugin %s is activated"""\n'
    'logger.info("Platform plugin %s is activated", name)\n',
}
EXPECTED = {
    "--share": (["-s"], "float", 0.9, None, False, "vllm/config/cache.py:13"),
    "--kv-cache-dtype": (
        [],
        "str",
        "auto",
        ["auto", "fp8", None],
        False,
        "vllm/config/cache.py:14",
    ),
    "--eager": ([], "bool", False, None, True, "vllm/config/cache.py:15"),
    "--limits": ([], "json", {}, None, False, "vllm/config/cache.py:16"),
    "--home": (
        *([], "str", {"unreadable": "envs.VLLM_HOME"}, None, False),
        "vllm/config/cache.py:17",
    ),
    "--level": ([], "int", None, None, False, "vllm/engine/arg_utils.py:14"),
    "--quiet": ([], "bool", False, None, False, "vllm/engine/arg_utils.py:15"),
    "--tool-parser": ([], "str", None, None, False, "vllm/entrypoints/openai/cli_args.py:6"),
    "--port": ([], "int", 8000, None, False, "vllm/entrypoints/openai/cli_args.py:15"),
}


def _extract(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXTRACT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(scope="module")
def extracted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what extract.py writes of TREE."""
    folder = tmp_path_factory.mktemp("tree")
    for name, text in TREE.items():
        path = folder / "vllm" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    done = _extract(str(folder), "--version", "9.9", "--out", str(folder))
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "9.9.json").read_text("utf-8"))


@pytest.mark.parametrize("name", EXPECTED)
def test_extract_flag_of_a_small_tree_is_read(extracted: dict[str, Any], name: str) -> None:
    flag = extracted["flags"][name]

    found = tuple(
        flag[key] for key in ("aliases", "kind", "default", "choices", "negatable", "where")
    )

    assert found == EXPECTED[name]


def test_extract_small_tree_has_no_other_flags(extracted: dict[str, Any]) -> None:
    names = set(extracted["flags"])

    assert names == set(EXPECTED)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("schema", 1),
        ("vllm", "9.9"),
        ("source", "directory"),
        ("environment", ["VLLM_HOME", "VLLM_WAIT_S"]),
        ("environment_defaults", {"VLLM_WAIT_S": {"default": 600, "where": "vllm/envs.py:3"}}),
        ("tool_parsers", ["minicpm5"]),
    ],
)
def test_extract_section_of_a_small_tree_is_read(
    extracted: dict[str, Any], key: str, expected: Any
) -> None:
    section = extracted[key]

    assert section == expected


def test_extract_message_is_found_outside_docstrings_only(extracted: dict[str, Any]) -> None:
    text = "Platform plugin %s is activated"

    found = extracted["messages"][text]

    assert found == [{"where": "vllm/platforms/__init__.py:2", "text": text}]


def test_extract_fallback_keeps_condition_and_marks_the_unreadable(
    extracted: dict[str, Any],
) -> None:
    found = [(row["when"], row["value"]) for row in extracted["fallbacks"]["--max-num-seqs"]]

    assert found == [
        ("current_platform.is_cpu()", {"unreadable": "128 * world_size"}),
        ("not (current_platform.is_cpu())", 256),
    ]


def test_extract_of_another_directory_fails_with_reason(tmp_path: Path) -> None:
    done = _extract(str(tmp_path), "--version", "9.9", "--out", str(tmp_path))

    assert done.returncode == 2
    assert "make_arg_parser" in done.stderr
    assert not (tmp_path / "9.9.json").exists()
