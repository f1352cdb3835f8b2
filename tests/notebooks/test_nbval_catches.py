"""The comparison can fail: random changes of what is compared strictly are all caught, by nbval's own comparison.

Nothing is executed: each change is held against the committed outputs, as nbval would hold a run's outputs.
"""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest
from nbval import plugin

from helpers import catalog, paths
from helpers.checkpoint import MIME

CHANGES = 20
SKIPPED = ("metadata", "traceback", "prompt_number", "output_type", "name", "execution_count", MIME)
IGNORED = "nbval-ignore-output"
NOTEBOOKS = [
    pytest.param(lab, language, id=f"{lab}-{language}")
    for lab in catalog.labs()
    for language in ("zh", "en")
]


def cells(lab: str, language: str) -> list[Any]:
    """Return the code cells of a committed notebook that have outputs."""
    notebook = nbformat.read(str(paths.NOTEBOOKS / language / f"{lab}.ipynb"), as_version=4)
    return [cell for cell in notebook.cells if cell.cell_type == "code" and cell.outputs]


def ignored(cell: Any) -> bool:
    """Return True where nbval is told not to compare a cell's outputs."""
    return IGNORED in cell.metadata.get("tags", []) or "NBVAL_IGNORE_OUTPUT" in cell.source


@pytest.fixture(scope="module")
def patterns() -> dict[str, str]:
    """Return the replacements of sanitize.cfg, read by nbval's own reader."""
    text = (paths.ROOT / "tests" / "notebooks" / "sanitize.cfg").read_text(encoding="utf-8")
    return dict(plugin.get_sanitize_patterns(text))


def differs(test: list[Any], reference: list[Any], patterns: dict[str, str]) -> bool:
    """Return True if nbval's own comparison tells two lists of outputs apart."""

    class File:
        skip_compare = SKIPPED
        sanitize_patterns = patterns

    cell = object.__new__(plugin.IPyNbCell)
    cell.parent, cell.colors = File(), plugin.nocolors  # type: ignore[assignment]
    cell.format_output_compare = lambda *told: None  # type: ignore[method-assign]
    streams = [plugin.coalesce_streams(copy.deepcopy(outputs)) for outputs in (test, reference)]
    return not cell.compare_outputs(*streams)


def places(cells_with_output: list[Any]) -> Iterator[tuple[Any, int, tuple[str, ...]]]:
    """Yield (cell, output's number, path to a text) for each text that is compared strictly."""
    for cell in cells_with_output:
        if ignored(cell):
            continue
        for number, output in enumerate(cell.outputs):
            if output.output_type == "stream":
                yield cell, number, ("text",)
            for mime in output.get("data", {}):
                if mime not in (*SKIPPED, "application/vnd.jupyter.widget-view+json"):
                    yield cell, number, ("data", mime)


def kept(text: str, patterns: dict[str, str]) -> list[int]:
    """Return the positions of letters and digits that no pattern of sanitize.cfg covers."""
    covered = {
        i for regex in patterns for match in re.finditer(regex, text) for i in range(*match.span())
    }
    return [i for i, char in enumerate(text) if char.isalnum() and i not in covered]


@pytest.mark.parametrize(("lab", "language"), NOTEBOOKS)
def test_nbval_given_random_changes_of_outputs_catches_all(
    lab: str, language: str, patterns: dict[str, str]
) -> None:
    chance = random.Random(f"{lab} {language}")
    found = [
        (cell, number, path)
        for cell, number, path in places(cells(lab, language))
        if kept(text_at(cell.outputs[number], path), patterns)
    ]
    missed = []

    for _ in range(CHANGES):
        cell, number, path = chance.choice(found)
        changed = copy.deepcopy(cell.outputs)
        text = text_at(changed[number], path)
        position = chance.choice(kept(text, patterns))
        new = chance.choice([char for char in "xqz7" if char != text[position]])
        put(changed[number], path, text[:position] + new + text[position + 1 :])
        if not differs(changed, cell.outputs, patterns):
            missed.append((path, text[max(0, position - 20) : position + 20], new))

    assert missed == []


@pytest.mark.parametrize(("lab", "language"), NOTEBOOKS)
def test_nbval_given_unchanged_outputs_finds_no_difference(
    lab: str, language: str, patterns: dict[str, str]
) -> None:
    for cell in cells(lab, language):
        assert not differs(cell.outputs, cell.outputs, patterns)


@pytest.mark.parametrize(("lab", "language"), NOTEBOOKS)
def test_cells_that_nbval_ignores_are_few_and_never_a_checkpoint(lab: str, language: str) -> None:
    with_output = cells(lab, language)

    left_out = [cell for cell in with_output if ignored(cell)]

    assert len(left_out) <= 0.15 * len(with_output)
    for cell in left_out:
        assert MIME not in json.dumps(cell.outputs)
        assert re.search(r"^# nbval: .+", cell.source, flags=re.M), "an ignored cell says why"


def text_at(output: Any, path: tuple[str, ...]) -> str:
    """Return the text at a path inside an output."""
    value = output
    for name in path:
        value = value[name]
    return value if isinstance(value, str) else ""


def put(output: Any, path: tuple[str, ...], text: str) -> None:
    """Set the text at a path inside an output."""
    for name in path[:-1]:
        output = output[name]
    output[path[-1]] = text
