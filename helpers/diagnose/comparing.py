"""Compares values that a signature captured: "total - free - reserved > reserved".

A small arithmetic over names and numbers, so that an entry needs no code; nothing is evaluated.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable

_UNITS = {"KiB": 1 / 1024 / 1024, "MiB": 1 / 1024, "GiB": 1.0, "GB": 1.0, "MB": 1 / 1024}
_OPERATIONS: dict[type[ast.AST], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Gt: operator.gt,
    ast.Lt: operator.lt,
}


def holds(rule: str, values: dict[str, str]) -> bool:
    """Return whether a comparison of captured values holds; False where one is missing.

    Args:
        rule: sums, differences and products of names and numbers with one < or >.
        values: numbers, with a unit (GiB, MiB) or without.
    """
    numbers = {}
    for name, text in values.items():
        found = re.match(r"(-?\d+(?:\.\d+)?)\s*([A-Za-z]*)", text.replace(",", ""))
        if found:
            numbers[name] = float(found.group(1)) * _UNITS.get(found.group(2), 1.0)

    def value(node: ast.expr) -> float:
        if isinstance(node, ast.Name):
            return numbers[node.id]
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return float(node.value)
        if isinstance(node, ast.BinOp):
            return _OPERATIONS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return _OPERATIONS[type(node.ops[0])](value(node.left), value(node.comparators[0]))
        raise ValueError(f"cannot be compared: {rule}")

    try:
        return bool(value(ast.parse(rule, mode="eval").body))
    except KeyError:
        return False
