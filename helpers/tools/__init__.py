"""Tools for a model: schemas from Python functions, and the call → run → answer loop.

`schema` describes and validates, `execution` runs one call, `loop` holds the conversation,
`transcript` shows it, `parser` asks the engine's own tool parser, `cases` has texts for it.
Requests are `chat`'s.
"""

from __future__ import annotations

from helpers.tools.loop import run_tools
from helpers.tools.parser import parse
from helpers.tools.schema import Tool, offered, tool
from helpers.tools.transcript import Transcript

__all__ = ["Tool", "Transcript", "offered", "parse", "run_tools", "tool"]
