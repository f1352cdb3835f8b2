"""A call that a model asks for, read from a message or put together from the deltas of a stream.

Data only: `chat` asks the server, `tools` runs the calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ToolCall:
    """One call, as the server told it.

    Attributes:
        id: the server's number for it; the result is sent back under the same one.
        name: of the tool.
        arguments: JSON text, not checked against anything.
    """

    id: str
    name: str
    arguments: str

    def __str__(self) -> str:
        return f"{self.name}({self.arguments})"

    def as_message(self) -> dict[str, Any]:
        """Return the call in the form that an assistant's message has it."""
        function = {"name": self.name, "arguments": self.arguments}
        return {"id": self.id, "type": "function", "function": function}


def of_message(message: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    """Return the calls of a whole answer's message, in order; () where there are none."""
    gathered = Gathering()
    gathered.add([dict(one, index=i) for i, one in enumerate(message.get("tool_calls") or [])])
    return gathered.calls


class Gathering:
    """The calls of a stream while it lasts: id and name come first, the arguments in fragments."""

    def __init__(self) -> None:
        self._parts: dict[int, dict[str, str]] = {}

    def add(self, deltas: Sequence[Mapping[str, Any]]) -> str:
        """Take the tool calls of one delta, and return their new text as a reader would see it.

        Args:
            deltas: `delta.tool_calls` of a chunk; `index` says which call a fragment belongs to.
        """
        shown = ""
        for delta in deltas:
            empty = {"id": "", "name": "", "arguments": ""}
            part = self._parts.setdefault(int(delta.get("index") or 0), empty)
            function = delta.get("function") or {}
            name, fragment = function.get("name") or "", function.get("arguments") or ""
            part["id"] = part["id"] or delta.get("id") or ""
            part["name"] = part["name"] or name
            part["arguments"] += fragment
            shown += name + fragment
        return shown

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Return the calls so far, in the order of their index."""
        return tuple(ToolCall(**part) for _, part in sorted(self._parts.items()))
