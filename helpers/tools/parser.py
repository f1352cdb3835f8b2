"""Texts of a model through vLLM's own tool parsers, in the engine's interpreter.

What the learner sees is what the installed class returns: the course has no parser of its own.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers import environment, paths
from helpers.engines import Ascend, Cpu
from helpers.models import Model
from helpers.options import Options
from helpers.tool_calls import ToolCall
from helpers.tool_errors import ParserUnavailable
from helpers.tools.schema import Tool

MINICPM5 = "minicpm5"
_SCRIPT = Path(__file__).with_name("in_engine.py")


@dataclass(frozen=True)
class Parsed:
    """What a parser made of one text.

    Attributes:
        parser, text: which parser, and what it was given.
        calls: the calls that it found; their id is empty.
        content: what it returns as the answer's text; None (JSON null) where it found calls.
    """

    parser: str
    text: str
    calls: tuple[ToolCall, ...]
    content: str | None


def parse(
    engine: Ascend | Cpu,
    model: Model,
    texts: Sequence[str],
    tools: Sequence[Tool],
    parsers: Sequence[str] = (MINICPM5,),
    timeout: float = 180.0,
) -> list[Parsed]:
    """Return what each parser makes of each text, parser by parser.

    The engine's Python imports vLLM for it, which takes some seconds; no model is loaded.

    Args:
        model: whose tokenizer the parsers are given.
        tools: what the request would have offered; types and names decide what is a call.
        parsers: names as --tool-call-parser takes them.
        timeout: seconds.
    Raises:
        ParserUnavailable: this vLLM has no such parser, or cannot be asked.
    """
    asked = {
        "parsers": list(parsers),
        "texts": list(texts),
        "tools": [one.schema for one in tools],
        "tokenizer": str(model.path) if model.path else None,
    }
    told = _told(engine, asked, timeout)
    for name in parsers:
        if name not in told["known"]:
            listed = ", ".join(told["known"])
            raise ParserUnavailable(parser=name, original=f"registered: {listed}")
    return [
        Parsed(name, text, _calls(one["calls"]), one["content"])
        for name in parsers
        for text, one in zip(texts, told["parsed"][name], strict=True)
    ]


def _calls(found: Sequence[Sequence[str]]) -> tuple[ToolCall, ...]:
    return tuple(ToolCall("", name, arguments) for name, arguments in found)


def _told(engine: Ascend | Cpu, asked: Mapping[str, Any], timeout: float) -> Any:
    """Return what the script in the engine's interpreter wrote."""
    names = ", ".join(asked["parsers"])
    if engine.interpreter is None:
        raise ParserUnavailable(parser=names)
    added = engine.environment(Options("-")) | {"VLLM_LOGGING_LEVEL": "ERROR"}
    try:
        done = subprocess.run(
            [str(engine.interpreter.python), str(_SCRIPT)],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            timeout=timeout,
            env=environment.child(added),
            cwd=paths.ROOT,
            check=True,
        )
        return json.loads(done.stdout.strip().splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        told = getattr(error, "stderr", None) or str(error)
        last = str(told).strip().splitlines()[-1:]
        raise ParserUnavailable(parser=names, original=paths.shown("\n".join(last))) from error
