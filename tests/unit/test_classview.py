"""Tests of the class view on a class of 30: each failure in its group, each mark where it belongs, and what
is noted without being a mark.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from light import class_of_30, light_class
from light.light_class import Learner

from helpers import classview, messages
from helpers.classview.schemas import ClassView, LabRow

SIX = {
    "server.died",
    "server.port_taken",
    "model.missing",
    "chat.wrong_model",
    "NameError",
    "checkpoint.failed",
}


@pytest.fixture(scope="module")
def class_() -> list[Learner]:
    """Return the class as it was made."""
    return class_of_30.learners()


@pytest.fixture(scope="module")
def folder(class_: list[Learner], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of its hand-ins."""
    return light_class.write(tmp_path_factory.mktemp("class"), class_)


@pytest.fixture(scope="module")
def view(folder: Path) -> Iterator[ClassView]:
    """Return what the class view makes of it, in English."""
    with light_class.speaking("en"):
        yield classview.view(folder)


def _marks(row: LabRow) -> set[str]:
    return {mark.kind for mark in row.marks}


def test_class_has_a_row_for_each_of_the_30_learners(
    view: ClassView, class_: list[Learner]
) -> None:
    assert [row.learner for row in view.learners] == sorted(one.name for one in class_)
    assert len(view.learners) == 30
    assert [file for row in view.learners for file in row.unread] == []


def test_each_learner_has_exactly_the_marks_of_what_was_altered(
    view: ClassView, class_: list[Learner]
) -> None:
    found = {
        row.learner: {kind for lab in row.labs for kind in _marks(lab)} for row in view.learners
    }

    assert found == {one.name: one.marks for one in class_}


def test_failures_are_grouped_by_cause_and_each_group_holds_its_learners(
    view: ClassView, class_: list[Learner]
) -> None:
    expected = {kind: {one.name for one in class_ if one.failure == kind} for kind in SIX}

    found = {
        group.code: {member.learner for member in group.members}
        for group in view.groups
        if len(group.members) > 1
    }

    assert found == expected


def test_group_tells_where_a_failure_happened(view: ClassView) -> None:
    group = next(one for one in view.groups if one.code == "checkpoint.failed")
    member = group.members[0]

    assert group.step and group.step.startswith("02_minicpm5/")
    assert (member.lab, member.step) == ("02_minicpm5", group.step.partition("/")[2])
    assert member.cell and member.file.endswith(".ipynb")


def test_group_names_the_diagnosis_that_an_error_told(tmp_path: Path) -> None:
    notebook = light_class.run("02_minicpm5", "en", 1)
    light_class.fail(
        notebook, RuntimeError("Engine died\nDiagnosis: [diagnose:oom-kv_cache.npu] no room")
    )
    light_class.write(tmp_path, [Learner("li", {"02_minicpm5.ipynb": notebook})])

    [group] = classview.view(tmp_path).groups

    assert (group.code, group.diagnosis) == ("RuntimeError", "oom-kv_cache.npu")


@pytest.mark.parametrize(("language", "said"), [("zh", "端口 8000"), ("en", "port 8000")])
def test_group_of_two_languages_tells_the_message_in_the_views(
    folder: Path, language: str, said: str
) -> None:
    messages.use(language)

    groups = classview.view(folder).groups

    assert said in next(one for one in groups if one.code == "server.port_taken").message


def test_failed_lab_counts_what_passed_and_what_was_not_reached(view: ClassView) -> None:
    row = next(one for one in view.learners if one.learner == "zh-server.died").labs[0]

    assert row.state == "failed"
    assert row.counts["pass"] == 6
    assert row.counts["absent"] == len(row.steps) - 6
    assert row.failure and row.failure.message.startswith("[server.died]")


def test_mark_tells_the_checkpoint_its_json_and_its_text(view: ClassView) -> None:
    row = next(one for one in view.learners if one.learner == "altered-forms").labs[0]

    [mark] = row.marks

    assert re.search(r"schema: JSON skipped ≠ text/plain “检查点 schema：通过”", mark.places[0])


def test_labs_of_one_learner_share_a_row_with_exercises_engine_and_versions(tmp_path: Path) -> None:
    notebooks = {}
    for number, (lab, language) in enumerate(light_class.BUILT):
        if language == "zh":
            with light_class.speaking("zh"):
                notebooks[f"{lab}.ipynb"] = light_class.run(lab, "zh", number)
                light_class.solve(notebooks[f"{lab}.ipynb"])
    light_class.write(tmp_path, [Learner("one", {}), Learner("王小明", notebooks)])

    [row] = classview.view(tmp_path).learners

    assert row.learner == "王小明"
    assert len(row.labs) == len(notebooks)
    assert {lab.state for lab in row.labs} == {"complete"}
    assert row.marks == 0 and row.notes == []
    solved = sum(one.exercise and one.status == "pass" for lab in row.labs for one in lab.steps)
    assert row.exercises_solved == solved > 8
    told = next(lab for lab in row.labs if lab.lab == "02_minicpm5")
    assert (told.engine, told.model, told.stand_in) == ("cpu", "MiniCPM5-2B", True)
    assert list(told.versions["vllm"]) and told.failure is None


def test_outputs_that_came_with_the_course_are_noted_as_shipped(tmp_path: Path) -> None:
    shipped = light_class.committed("02_minicpm5", "en")
    light_class.write(tmp_path, [Learner("li", {"02_minicpm5.ipynb": shipped})])

    row = classview.view(tmp_path).learners[0].labs[0]

    assert row.shipped == len(row.steps)
    assert [note.kind for note in row.notes] == ["shipped"]


def test_rest_of_a_notebook_that_was_not_run_is_noted_as_shipped(tmp_path: Path) -> None:
    half, own = light_class.committed("02_minicpm5", "en"), light_class.run("02_minicpm5", "en", 5)
    for mine, theirs in list(zip(light_class.code(half), light_class.code(own), strict=True))[:12]:
        mine["outputs"] = theirs["outputs"]
    light_class.write(tmp_path, [Learner("li", {"02_minicpm5.ipynb": half})])

    row = classview.view(tmp_path).learners[0].labs[0]

    assert 5 <= row.shipped < len(row.steps)


def test_shipped_outputs_of_two_learners_are_not_alike(tmp_path: Path) -> None:
    shipped = light_class.committed("02_minicpm5", "en")
    two = [Learner(name, {"02_minicpm5.ipynb": shipped}) for name in ("li", "wang")]
    light_class.write(tmp_path, two)

    assert [row.marks for row in classview.view(tmp_path).learners] == [0, 0]


def test_lab_that_was_handed_in_twice_counts_once_and_is_noted(tmp_path: Path) -> None:
    first, again = (light_class.run("02_minicpm5", "en", seed) for seed in (1, 2))
    light_class.fail(first, NameError("x"))
    names = {"02_minicpm5.ipynb": first, "02_minicpm5 (1).ipynb": again}
    light_class.write(tmp_path, [Learner("x", {}), Learner("li", names)])

    [row] = classview.view(tmp_path).learners

    assert row.passed == 12
    assert [note.kind for note in row.notes] == ["twice"]


def test_versions_that_differ_between_labs_are_a_note_and_no_mark(tmp_path: Path) -> None:
    labs = {
        f"{lab}.ipynb": light_class.run(lab, "zh", 1) for lab in ("02_minicpm5", "03_tool_calling")
    }
    for record in light_class.records(labs["03_tool_calling.ipynb"]):
        record["versions"]["vllm"] = "0.23.0"
    light_class.write(tmp_path, [Learner("x", {}), Learner("li", labs)])

    [row] = classview.view(tmp_path).learners

    assert [note.kind for note in row.notes] == ["versions_between"]
    assert row.marks == 0


def test_folder_of_hand_ins_is_not_changed(folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    classview.view(folder)

    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_alike_needs_two_learners(tmp_path: Path) -> None:
    notebook = light_class.run("02_minicpm5", "en", 3)
    names = {"a.ipynb": notebook, "b.ipynb": copy.deepcopy(notebook)}
    light_class.write(tmp_path, [Learner("x", {}), Learner("li", names)])

    assert [row.marks for row in classview.view(tmp_path).learners] == [0]
