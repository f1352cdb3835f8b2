"""notebooks/ is what course/ makes, zh and en share their code, and every link leads somewhere; nothing is executed."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from types import ModuleType

import papermill
import pytest

from helpers import catalog, paths

LABS = list(catalog.labs())


def code_cells(lab: str, language: str) -> list[str]:
    """Return the sources of a notebook's code cells."""
    path = paths.NOTEBOOKS / language / f"{lab}.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def test_notebooks_compared_with_course_are_the_same(build: ModuleType) -> None:
    assert build.differences() == []


def test_notebook_with_a_changed_source_is_told(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = "02_minicpm5"
    changed = (
        build.source(lab, "zh").read_text(encoding="utf-8").replace("max_tokens=8", "max_tokens=9")
    )
    (tmp_path / f"{lab}.md").write_text(changed, encoding="utf-8")
    real = build.source
    monkeypatch.setattr(
        build,
        "source",
        lambda name, g: tmp_path / f"{lab}.md" if (name, g) == (lab, "zh") else real(name, g),
    )
    monkeypatch.setattr(paths, "ROOT", Path("/"))

    found = build.differences()

    assert any(f"zh/{lab}.ipynb" in line for line in found)


def structure(cell: str) -> str:
    """Return what zh and en must share of a cell: its syntax tree, or its text without comments.

    The text where a cell has magics or shell lines; LANGUAGE's value is left out of both.
    """
    text = re.sub(r"^LANGUAGE\b.*$", "LANGUAGE = 0", cell, flags=re.M)
    try:
        return ast.dump(ast.parse(text))
    except SyntaxError:
        lines = [re.sub(r"  # .*$", "", line).rstrip() for line in text.splitlines()]
        return "\n".join(
            line for line in lines if line.strip() and not line.lstrip().startswith("# ")
        )


@pytest.mark.parametrize("lab", LABS)
def test_code_of_zh_and_en_has_equal_syntax_trees(lab: str) -> None:
    def trees(language: str) -> list[str]:
        return [structure(cell) for cell in code_cells(lab, language)]

    assert trees("zh") == trees("en")


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("lab", LABS)
def test_checkpoints_of_a_lab_are_those_of_the_catalogue_in_order(lab: str, language: str) -> None:
    text = "\n".join(code_cells(lab, language))

    named = re.findall(r"checkpoint\.(?:check|skip|todo|kept|exercise)\(\s*\"(\w+)\"", text)

    assert list(dict.fromkeys(named)) == [entry["id"] for entry in catalog.lab(lab)["checkpoints"]]


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("lab", LABS)
def test_links_of_a_lab_lead_to_a_file_and_an_anchor(lab: str, language: str) -> None:
    path = paths.NOTEBOOKS / language / f"{lab}.ipynb"
    text = "\n".join(
        "".join(cell["source"])
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "markdown"
    )

    for target in re.findall(r"\]\((\.\./[^)]+)\)", text):
        file, _, anchor = target.partition("#")
        found = (path.parent / file).resolve()
        assert found.is_file(), target
        if anchor:
            assert f'<a id="{anchor}"></a>' in found.read_text(encoding="utf-8"), target


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("lab", LABS)
def test_learner_edition_hides_the_solutions(lab: str, language: str) -> None:
    source = (paths.COURSE / language / f"{lab}.md").read_text(encoding="utf-8")
    solutions = re.findall(r"tags: \[solution\]\nstub: \|\n(.*?)---\n(.*?)```", source, flags=re.S)

    cells = code_cells(lab, language)

    for stub, solution in solutions:
        assert any(stub.strip() in cell for cell in cells)
        assert not any(solution.strip() in cell for cell in cells)


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("lab", LABS)
def test_papermill_help_shows_every_parameter_with_type_and_meaning(
    lab: str, language: str
) -> None:
    path = paths.NOTEBOOKS / language / f"{lab}.ipynb"

    shown = papermill.inspect_notebook(str(path))

    assert list(shown) == catalog.lab(lab)["parameters"]
    for name, parameter in shown.items():
        assert parameter["inferred_type_name"] not in ("", "None"), name
        assert parameter["help"].strip(), name
