"""Run by the engine's Python, never imported by the course: texts through vLLM's own tool parsers.

Usage: python in_engine.py     (one JSON object on standard input, one on the last line of output)

Source of the interface: vllm/tool_parsers/abstract_tool_parser.py, 0.23 and 0.32.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any


def main() -> None:
    """Read parsers, texts, tools, tokenizer; write known, and what each parser found, by name."""
    asked = json.loads(sys.stdin.read())
    manager = importlib.import_module("vllm.tool_parsers").ToolParserManager
    protocol = importlib.import_module("vllm.entrypoints.openai.chat_completion.protocol")
    turn = [{"role": "user", "content": "-"}]
    request = protocol.ChatCompletionRequest(model="-", messages=turn, tools=asked["tools"])
    known = sorted(manager.list_registered())
    tokenizer = None
    if asked["tokenizer"]:
        auto = importlib.import_module("transformers").AutoTokenizer
        tokenizer = auto.from_pretrained(asked["tokenizer"])
    parsed = {
        name: [_parsed(manager, name, tokenizer, request, text) for text in asked["texts"]]
        for name in asked["parsers"]
        if name in known
    }
    print()
    print(json.dumps({"known": known, "parsed": parsed}))


def _parsed(manager: Any, name: str, tokenizer: Any, request: Any, text: str) -> dict[str, Any]:
    """Return what one parser makes of one text: [name, arguments] of each call, and the rest."""
    found = manager.get_tool_parser(name)(tokenizer, request.tools).extract_tool_calls(
        text, request
    )
    calls = [[call.function.name, call.function.arguments] for call in found.tool_calls]
    return {"calls": calls, "content": found.content}


if __name__ == "__main__":
    main()
