"""A wrong place of a YAML file, told with its line: what pydantic found, in the reader's language.

Knows no matrix: the names that are allowed are handed in.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import yaml
from pydantic import ValidationError

from helpers import messages

_KINDS = {
    "int_type": "run.wrong.integer",
    "int_from_float": "run.wrong.integer",
    "float_type": "run.wrong.number",
    "string_type": "run.wrong.text",
    "list_type": "run.wrong.list",
    "dict_type": "run.wrong.mapping",
    "model_type": "run.wrong.mapping",
    "model_attributes_type": "run.wrong.mapping",
    "bool_type": "run.wrong.boolean",
}
_BOUNDS = {
    "greater_than_equal": ("ge", "run.wrong.at_least"),
    "greater_than": ("gt", "run.wrong.more_than"),
    "less_than_equal": ("le", "run.wrong.at_most"),
}


@dataclass(frozen=True)
class Wrong:
    """One wrong place.

    Attributes:
        where: keys and list indices that lead to it; () is the whole file.
        what: one sentence in the reader's language.
    """

    where: tuple[int | str, ...]
    what: str

    def line(self, root: yaml.Node | None) -> int:
        """Return its line in the file, from 1: of the place, or of the last thing on the way to it
        that is there.
        """
        return _line(root, self.where)

    def told(self, root: yaml.Node | None) -> str:
        """Return one line: number in the file, the place, what is wrong."""
        place = "".join(
            f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.where
        ).lstrip(".")
        line = messages.text("run.wrong.line", line=self.line(root))
        return f"{line}{f'{place}: ' if place else ''}{self.what}"


def of_validation(error: ValidationError, names: Sequence[str]) -> list[Wrong]:
    """Return the wrong places that pydantic found.

    Args:
        names: the keys that the file may have at its top.
    """
    found = [Wrong(tuple(one["loc"]), _what(one, names)) for one in error.errors(include_url=False)]
    return list(dict.fromkeys(found))


def _what(one: Any, names: Sequence[str]) -> str:
    kind, context, given = one["type"], one.get("ctx", {}), one.get("input")
    name = str(one["loc"][-1]) if one["loc"] else ""
    if kind == "extra_forbidden":
        allowed = [known.removesuffix("_") for known in names]
        near = difflib.get_close_matches(name, allowed, n=1)
        if near:
            return messages.text("run.wrong.near", name=name, near=near[0])
        return messages.text("run.wrong.unknown", name=name, names=", ".join(allowed))
    if kind == "missing":
        return messages.text("run.wrong.missing", name=name)
    if kind == "literal_error":
        expected = str(context["expected"]).replace(" or ", ", ")
        return messages.text("run.wrong.choice", expected=expected, given=repr(given))
    if kind in _BOUNDS:
        bound, code = _BOUNDS[kind]
        return messages.text(code, bound=context[bound], given=repr(given))
    if kind == "too_short":
        return messages.text("run.wrong.empty")
    if kind in _KINDS:
        return messages.text(_KINDS[kind], given=repr(given))
    return str(one["msg"])


def _line(root: yaml.Node | None, where: Sequence[int | str]) -> int:
    node, line = root, root.start_mark.line if root is not None else 0
    for step in where:
        if isinstance(node, yaml.MappingNode):
            pairs = [(key, value) for key, value in node.value if key.value == str(step)]
            if not pairs:
                break
            line, node = pairs[-1][0].start_mark.line, pairs[-1][1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            if step >= len(node.value):
                break
            node = node.value[step]
            line = node.start_mark.line
        else:
            break
    return line + 1
