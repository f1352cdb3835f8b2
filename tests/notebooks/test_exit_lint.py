"""No cell of a lab ends its kernel: `sys.exit()` is a success for papermill, `exit()` for nbclient.

Cells are read as IPython reads them, `!` lines and magics included; a string that is handed to a
second kernel is no call and stays allowed.
"""

from __future__ import annotations

import ast
from pathlib import Path

import jupytext
import pytest
from IPython.core.inputtransformer2 import TransformerManager

from helpers import paths

SOURCES = sorted(path for path in paths.COURSE.glob("*/*.md") if path.parent.name in ("zh", "en"))
BARE = ("exit", "quit")
DOTTED = ("sys.exit", "os._exit", "builtins.exit", "builtins.quit")
PYTHON_BODIES = ("%%time", "%%timeit", "%%capture", "%%prun")


def exit_calls(cell: str) -> list[str]:
    """Return the calls in a cell that would end its kernel or the run."""
    if cell.lstrip().startswith(PYTHON_BODIES):
        cell = cell.lstrip().partition("\n")[2]
    tree = ast.parse(TransformerManager().transform_cell(cell))
    names = _exit_names(tree)
    calls = [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    raised = [
        ast.unparse(node.exc.func if isinstance(node.exc, ast.Call) else node.exc)
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise) and node.exc is not None
    ]
    found = [name for name in calls if name in names]
    return found + [name for name in raised if name == "SystemExit"]


def _exit_names(tree: ast.AST) -> set[str]:
    """Return the forbidden names, other names that the cell gives them included."""
    names = {*BARE, *DOTTED}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names |= {
                one.asname or one.name
                for one in node.names
                if f"{node.module}.{one.name}" in DOTTED
            }
        if isinstance(node, ast.Import):
            for one in node.names:
                if one.asname:
                    ends = [name for name in DOTTED if name.startswith(f"{one.name}.")]
                    names |= {f"{one.asname}.{name.partition('.')[2]}" for name in ends}
    return names


def cells_of(source: Path) -> list[str]:
    """Return the code cells of a lab, and the stubs that stand for its solutions."""
    cells = [one for one in jupytext.read(source, fmt="md:myst").cells if one.cell_type == "code"]
    return [one.source for one in cells] + [one.metadata.get("stub", "") for one in cells]


def test_sources_of_the_course_are_found() -> None:
    assert len(SOURCES) >= 4


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_cells_of_a_lab_contain_no_exit_call(source: Path) -> None:
    found = {cell: exit_calls(cell) for cell in cells_of(source)}

    assert {cell: calls for cell, calls in found.items() if calls} == {}


@pytest.mark.parametrize(
    ("cell", "called"),
    [
        ("import sys\nif True:\n    sys.exit(1)", "sys.exit"),
        ("exit()", "exit"),
        ("!echo x\nquit()", "quit"),
        ("import os as system\nsystem._exit(0)", "system._exit"),
        ("from sys import exit as leave\nleave()", "leave"),
        ("raise SystemExit(3)", "SystemExit"),
        ("%%time\nexit()", "exit"),
        ("try:\n    %env X\nexcept KeyError:\n    exit()", "exit"),
    ],
)
def test_exit_call_of_any_form_is_found(cell: str, called: str) -> None:
    assert exit_calls(cell) == [called]


@pytest.mark.parametrize(
    "cell",
    [
        "run_cells(['sys.exit()', 'exit()'])",
        "!exit 3",
        "%%bash\nexit 3",
        "code = 'raise SystemExit'",
        "server.exit()",
    ],
)
def test_exit_that_ends_no_kernel_is_allowed(cell: str) -> None:
    assert exit_calls(cell) == []
