"""Tests of what does not add up: each alteration is marked in every lab and both languages, and nothing
is marked that a learner may do.
"""

from __future__ import annotations

import json

import pytest
from light import light_class
from light.class_of_30 import ALTERED
from light.light_class import BUILT, Notebook

from helpers.checkpoint import MIME
from helpers.classview import codes, judging, reading, reference
from helpers.classview.schemas import LabRow

LABS = {(lab.lab, lab.language): lab for lab in reference.labs()}
EVERYWHERE = [f"{lab} {language}" for lab, language in BUILT]


def judged(notebook: Notebook, lab: str, language: str) -> LabRow:
    """Return what is seen in a notebook after it has been written and read."""
    found = reading.notebook(json.dumps(notebook).encode(), "x.ipynb")
    assert reference.identify(found, reference.labs()) is LABS[lab, language]
    return judging.judge(found, LABS[lab, language], "x.ipynb")


def kinds(row: LabRow) -> set[str]:
    """Return the kinds of marks."""
    return {mark.kind for mark in row.marks}


@pytest.mark.parametrize("name", ALTERED)
def test_alteration_is_marked_in_every_lab_and_nothing_else_is(name: str) -> None:
    mark, change = ALTERED[name]
    found = {}
    for lab, language in BUILT:
        notebook = light_class.run(lab, language, 1)
        try:
            with light_class.speaking(language):
                change(notebook)
        except LookupError:
            continue  # lab 00 has no engine to change
        found[f"{lab} {language}"] = kinds(judged(notebook, lab, language))

    assert found == {where: {mark} for where in found}
    assert len(found) >= 6


@pytest.mark.parametrize(("lab", "language"), BUILT)
def test_committed_notebook_unaltered_gets_no_mark(lab: str, language: str) -> None:
    row = judged(light_class.committed(lab, language), lab, language)

    assert row.marks == []
    assert row.counts["fail"] == row.counts["absent"] == 0
    assert row.shipped == len(row.steps) > 5


@pytest.mark.parametrize(("lab", "language"), BUILT)
def test_exercises_not_solved_are_those_of_the_lab(lab: str, language: str) -> None:
    notebook = light_class.committed(lab, language)
    todo = {output["data"][MIME]["step"] for _, output in light_class.outputs(notebook, "todo")}

    assert todo <= set(LABS[lab, language].exercises)


@pytest.mark.parametrize(("lab", "language"), BUILT)
def test_own_run_with_every_exercise_solved_gets_no_mark(lab: str, language: str) -> None:
    notebook = light_class.run(lab, language, 2)
    exercises = len(light_class.outputs(notebook, "todo"))
    with light_class.speaking(language):
        light_class.solve(notebook)

    row = judged(notebook, lab, language)

    assert row.marks == [] and row.notes == []
    assert row.counts["fail"] == row.counts["absent"] == row.counts["todo"] == 0
    assert row.exercises_solved == exercises > 0


@pytest.mark.parametrize("kind", ["server.died", "NameError", "checkpoint.failed"])
@pytest.mark.parametrize(("lab", "language"), BUILT)
def test_run_that_failed_gets_its_code_and_no_mark(lab: str, language: str, kind: str) -> None:
    notebook = light_class.run(lab, language, 3)
    with light_class.speaking(language):
        light_class.failures()[kind](notebook)

    row = judged(notebook, lab, language)

    assert row.marks == []
    assert row.failure and row.failure.code == kind
    assert row.state == "failed"


def test_cells_as_jupyterlab_saves_them_are_the_labs_own() -> None:
    notebook = light_class.run("02_minicpm5", "en", 4)
    notebook["metadata"]["kernelspec"]["display_name"] = "MiniCPM labs"
    for cell in light_class.code(notebook):
        cell["source"] = "".join(cell["source"])
        cell["metadata"] |= {"execution": {"iopub.status.busy": "…"}, "trusted": True}
        for output in cell["outputs"]:
            for mime, shown in output.get("data", {}).items():
                output["data"][mime] = "".join(shown) if isinstance(shown, list) else shown

    row = judged(notebook, "02_minicpm5", "en")

    assert row.marks == [] and row.notes == []


def test_cells_without_ids_are_known_by_their_code() -> None:
    notebook = light_class.run("03_tool_calling", "zh", 4)
    notebook["nbformat_minor"] = 4
    for cell in notebook["cells"]:
        del cell["id"]

    assert judged(notebook, "03_tool_calling", "zh").marks == []


def test_edited_cell_without_ids_is_known_by_its_place() -> None:
    notebook = light_class.run("03_tool_calling", "zh", 4)
    cell = light_class.outputs(notebook, "pass")[3][0]
    cell["source"] = ["checkpoint.check('chat', True)\n"]
    notebook["nbformat_minor"] = 4
    for one in notebook["cells"]:
        del one["id"]

    assert kinds(judged(notebook, "03_tool_calling", "zh")) == {"code"}


def test_parameters_that_a_learner_sets_are_noted_by_name_only() -> None:
    notebook = light_class.run("02_minicpm5", "en", 4)
    cell = light_class.code(notebook)[0]
    source = "".join(cell["source"])
    source = source.replace('default("MODEL_DIR", "")', '"/data/secret-place"')
    cell["source"] = source.replace('default("PORT", 8000)', 'default("PORT", 8001)')

    row = judged(notebook, "02_minicpm5", "en")

    assert row.marks == []
    assert [(note.kind, note.places) for note in row.notes] == [
        ("parameters", ["MODEL_DIR", "PORT"])
    ]
    assert "secret-place" not in row.model_dump_json()


def test_parameters_cell_that_does_more_than_set_them_is_marked() -> None:
    notebook = light_class.run("02_minicpm5", "en", 4)
    light_class.code(notebook)[0]["source"] += ["\nPORT = open('x')\n"]

    assert kinds(judged(notebook, "02_minicpm5", "en")) == {"code"}


def test_parameters_that_papermill_puts_in_are_no_cell_of_the_learners() -> None:
    notebook = light_class.run("02_minicpm5", "en", 4)
    put_in = light_class.own_cell(
        '# Parameters\nLANGUAGE = "en"\nPORT = 0\n', ["injected-parameters"]
    )
    notebook["cells"].insert(4, put_in)

    row = judged(notebook, "02_minicpm5", "en")

    assert row.marks == []
    assert [note.kind for note in row.notes] == ["parameters"]


def test_cells_that_a_learner_adds_are_noted_and_may_run_at_any_time() -> None:
    notebook = light_class.run("02_minicpm5", "en", 4)
    notebook["cells"].insert(5, light_class.own_cell("print(engine)  # checkpoint?"))

    row = judged(notebook, "02_minicpm5", "en")

    assert row.marks == []
    assert [note.kind for note in row.notes] == ["own_cells"]


def test_record_in_a_cell_that_a_learner_added_is_marked() -> None:
    notebook = light_class.run("02_minicpm5", "en", 4)
    added = light_class.own_cell("show()")
    added["outputs"] = [light_class.outputs(notebook, "pass")[0][1]]
    notebook["cells"].append(added)

    assert kinds(judged(notebook, "02_minicpm5", "en")) == {"misplaced"}


def test_code_of_another_edition_is_marked_with_the_edition_noted() -> None:
    notebook = light_class.run("02_minicpm5", "en", 4)
    notebook["metadata"]["labs"]["fingerprint"] = "0123456789abcdef"
    ALTERED["code"][1](notebook)

    row = judged(notebook, "02_minicpm5", "en")

    assert kinds(row) == {"code"}
    assert [note.kind for note in row.notes] == ["edition"]


def test_checkpoints_of_a_remote_engine_that_tells_itself_later_add_up() -> None:
    notebook = light_class.run("02_minicpm5", "en", 4)
    for number, record in enumerate(light_class.records(notebook)):
        told = {"versions": {"vllm": "0.23.0"}, "model": "served-here", "stand_in": True}
        untold = {"versions": {}, "model": "MiniCPM5-2B", "stand_in": False}
        record |= {"engine": "remote"} | (told if number > 2 else untold)

    row = judged(notebook, "02_minicpm5", "en")

    assert row.marks == []
    assert (row.engine, row.model, row.stand_in) == ("remote", "served-here", True)
    assert row.versions == {"vllm": ["0.23.0"]}


def test_setting_that_varies_in_the_lab_itself_may_vary_in_a_run() -> None:
    stored, own = (light_class.run("02_minicpm5", "en", seed) for seed in (4, 5))
    for number, record in enumerate(light_class.records(stored)):
        record["model"] = ("MiniCPM-V-4_5", "MiniCPM5-2B")[number % 2]
    for number, record in enumerate(light_class.records(own)):
        record["model"] = ("MiniCPM-V-4_5", "MiniCPM5-2B")[number // 7]
    both, run = (reading.notebook(json.dumps(one).encode(), "x") for one in (stored, own))

    assert judging.judge(run, reference.of("02_minicpm5", "en", both), "x").marks == []
    assert kinds(judging.judge(run, LABS["02_minicpm5", "en"], "x")) == {"settings"}


def test_notebook_that_was_cleared_is_not_run_and_has_no_mark() -> None:
    notebook = light_class.committed("02_minicpm5", "en")
    for cell in light_class.code(notebook):
        cell["outputs"], cell["execution_count"] = [], None

    row = judged(notebook, "02_minicpm5", "en")

    assert (row.state, row.marks) == ("not_run", [])
    assert row.failure and row.failure.code == "run.not_run"


@pytest.mark.parametrize(
    ("source", "other", "same"),
    [
        ("a = 1  # one\n", "a=1", True),
        ("a = 1\n\n\nb = 2", "a = 1\nb = 2\n", True),
        ("a = 1\nb = 2", "a = 1; b = 2", False),
        ("if a:\n    b()", "if a:\n  b()", True),
        ("if a:\n    b()\nc()", "if a:\n    b()\n    c()", False),
        ("a = 'x # y'", "a = 'x # z'", False),
        ("!kill -9 1", "!kill - 9 1", False),
        ("%%bash\nls  # a", "%%bash\nls  # b", False),
        ("out = !ls -l", "out = !ls - l", False),
        ("a = (", "a = (", True),
        ("a = (", "a = ((", False),
    ],
)
def test_cells_are_the_same_where_they_do_the_same(source: str, other: str, same: bool) -> None:
    assert codes.is_same(source, other) is same


def test_cells_of_the_labs_are_short_enough_to_be_read_as_python() -> None:
    longest = max(len(cell.source) for lab in LABS.values() for cell in lab.cells)

    assert longest < codes.MOST_CHARACTERS / 2


def test_cell_that_is_too_long_is_compared_as_text() -> None:
    long = "(" * codes.MOST_CHARACTERS

    assert codes.is_same(f"{long})", f"{long})  ")
    assert not codes.is_same(f"{long})", f"{long}) # x")
