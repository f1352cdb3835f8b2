"""The committed notebooks have the one canonical form; nothing is executed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest

from helpers import catalog, paths

NOTEBOOKS = [
    pytest.param(paths.NOTEBOOKS / language / f"{lab}.ipynb", id=f"{lab}-{language}")
    for lab in catalog.labs()
    for language in ("zh", "en")
]
MACHINE = re.compile(r"(?<![\w.:])/(?:root|home/[a-z]+|tmp|var/folders|Users/\w+)/\w")


def findings(text: str) -> list[str]:
    """Return what departs from the canonical form in a notebook's text."""
    notebook = json.loads(text)
    cells = notebook["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    rules: dict[str, Callable[[], bool]] = {
        "one trailing newline, sorted keys, one space": lambda: (
            text == json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
        ),
        "cell ids are there and unique": lambda: (
            len({cell.get("id") for cell in cells} - {None}) == len(cells)
        ),
        "cell metadata is tags only": lambda: all(
            set(cell["metadata"]) <= {"tags"} for cell in cells
        ),
        "no execution times": lambda: (
            set(notebook["metadata"]) <= {"kernelspec", "labs", "language_info"}
            and "iopub.execute_input" not in text
        ),
        "execution counts are 1, 2, 3 …": lambda: (
            [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
        ),
        "outputs show no path of a machine": lambda: (
            not MACHINE.search(json.dumps([cell["outputs"] for cell in code]))
        ),
        "no error output": lambda: all(
            output["output_type"] != "error" for cell in code for output in cell["outputs"]
        ),
        "kernelspec python3": lambda: notebook["metadata"]["kernelspec"]["name"] == "python3",
        "a parameters cell": lambda: any(
            "parameters" in cell["metadata"].get("tags", []) for cell in code
        ),
        "reference outputs": lambda: any(cell["outputs"] for cell in code),
    }
    return [name for name, holds in rules.items() if not holds()]


@pytest.mark.parametrize("path", NOTEBOOKS)
def test_committed_notebook_has_the_canonical_form(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert findings(text) == []
    nbformat.validate(nbformat.reads(text, as_version=4))


def spoilt(change: Callable[[dict[str, Any]], object]) -> str:
    notebook = json.loads(NOTEBOOKS[0].values[0].read_text(encoding="utf-8"))  # type: ignore[union-attr]
    change(notebook)
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def code_cell(notebook: dict[str, Any]) -> dict[str, Any]:
    return next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        ("cell ids", lambda n: n["cells"][1].update(id=n["cells"][0]["id"])),
        ("cell metadata", lambda n: n["cells"][0]["metadata"].update(collapsed=True)),
        ("no execution times", lambda n: n["metadata"].update(papermill={})),
        ("execution counts", lambda n: code_cell(n).update(execution_count=99)),
        (
            "outputs show no path",
            lambda n: code_cell(n)["outputs"].append(
                {"output_type": "stream", "name": "stdout", "text": "/home/someone/x"}
            ),
        ),
        (
            "no error output",
            lambda n: code_cell(n)["outputs"].append(
                {"output_type": "error", "ename": "E", "evalue": "", "traceback": []}
            ),
        ),
    ],
)
def test_notebook_out_of_form_is_found(
    rule: str, change: Callable[[dict[str, Any]], object]
) -> None:
    text = spoilt(change)

    assert any(name.startswith(rule) for name in findings(text))


def test_notebook_with_a_second_newline_is_found() -> None:
    text = NOTEBOOKS[0].values[0].read_text(encoding="utf-8") + "\n"  # type: ignore[union-attr]

    assert findings(text)


def test_notebooks_made_twice_are_the_same_bytes(build: ModuleType) -> None:
    first = [build.dumps(build.learner(build.read(lab, "zh"))) for lab in catalog.labs()]

    second = [build.dumps(build.learner(build.read(lab, "zh"))) for lab in catalog.labs()]

    assert first == second
