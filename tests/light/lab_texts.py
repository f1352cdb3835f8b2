"""What a lab's cells assign, read from its source without running it: the questions that it asks.

Not for what the cells do: nbval runs them.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

COURSE = Path(__file__).resolve().parents[2] / "course"
CELL = re.compile(r"^```\{code-cell\}.*?$\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


def cells(lab: str, language: str) -> list[str]:
    """Return the code cells of a lab's source, without their options."""
    text = (COURSE / language / f"{lab}.md").read_text(encoding="utf-8")
    bodies = [found["body"] for found in CELL.finditer(text)]
    bodies = [re.sub(r"\A---\n.*?^---\n", "", one, flags=re.M | re.S) for one in bodies]
    return [re.sub(r"\A:tags:.*\n", "", one) for one in bodies]


def chosen(lab: str, language: str) -> dict[str, Any]:
    """Return the literals of `NAME = {"zh": …, "en": …}[LANGUAGE]` for a language, by name."""
    found: dict[str, Any] = {}
    for cell in cells(lab, language):
        for node in ast.parse(cell).body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript):
                index = node.value.slice
                if isinstance(index, ast.Name) and index.id == "LANGUAGE":
                    found |= _named(node.targets[0], ast.literal_eval(node.value.value)[language])
    return found


def _named(target: ast.expr, value: Any) -> dict[str, Any]:
    if isinstance(target, ast.Tuple):
        return {ast.unparse(one): part for one, part in zip(target.elts, value, strict=True)}
    return {ast.unparse(target): value}
