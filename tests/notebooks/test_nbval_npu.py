"""nbval on real weights: answers may differ, what is tagged and every checkpoint's status may not.

The notebooks here are made by the test: their stored outputs are another machine's, their cells run in a real kernel.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import nbval_npu
import pytest
import regression
from nbformat import NotebookNode, v4

from helpers import catalog, engines, messages, paths
from helpers.checkpoint import MIME
from helpers.server import process

TAG = "nbval-check-output"
LAB = "02_minicpm5"
NOTEBOOKS = [(lab, language) for lab in catalog.labs() for language in messages.LANGUAGES]


def record(step: str, status: str, reason: str | None = None, lab: str = LAB) -> dict[str, Any]:
    """Return the part of a checkpoint's record that is compared."""
    return {"lab": lab, "step": step, "status": status, "reason": reason}


def cell(source: str, *outputs: NotebookNode, tagged: bool = False) -> NotebookNode:
    """Return a code cell that has been run, with these outputs stored."""
    metadata = {"tags": [TAG]} if tagged else {}
    return v4.new_code_cell(source, outputs=list(outputs), execution_count=1, metadata=metadata)


def printed(text: str) -> NotebookNode:
    return v4.new_output("stream", name="stdout", text=text)


def left(step: str, status: str, reason: str | None = None) -> NotebookNode:
    """Return the output of a checkpoint."""
    shown = {MIME: record(step, status, reason), "text/plain": f"{step}: {status}"}
    return v4.new_output("display_data", data=shown)


def leaves(step: str, status: str, reason: str | None = None) -> str:
    """Return the code that leaves a checkpoint."""
    shown = {MIME: record(step, status, reason), "text/plain": f"{step}: {status}"}
    return f"display({shown!r}, raw=True)"


CELLS: dict[str, tuple[NotebookNode, bool]] = {
    "an answer of another model": (cell("print('MiniCPM')", printed("stand-in\n")), True),
    "the same output, tagged": (cell("print(1 + 1)", printed("2\n"), tagged=True), True),
    "another output, tagged": (cell("print(3)", printed("2\n"), tagged=True), False),
    "device memory, tagged": (
        cell("print('device memory: yes')", printed("device memory: none (CPU)\n"), tagged=True),
        True,
    ),
    "the same status": (cell(leaves("chat", "pass"), left("chat", "pass")), True),
    "another status": (cell(leaves("chat", "todo"), left("chat", "pass")), False),
    "a checkpoint that is gone": (cell("print(1)", left("chat", "pass")), False),
    "a checkpoint too many": (cell(leaves("chat", "pass"), printed("1\n")), False),
    "skipped for a need": (
        cell(leaves("thinking", "skipped", "no switch"), left("thinking", "pass"), tagged=True),
        True,
    ),
    "an exception": (cell("raise OSError(1)", printed("1\n")), False),
}
"""What a cell stands for → the cell, and whether the comparison has to accept it."""


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bool]:
    """Run all of CELLS as one notebook; return whether each was accepted."""
    folder = tmp_path_factory.mktemp("npu")
    spec = {"name": "python3", "language": "python", "display_name": "Python 3"}
    notebook = v4.new_notebook(
        cells=[one for one, _ in CELLS.values()], metadata={"kernelspec": spec}
    )
    nbformat.write(notebook, str(folder / "lab.ipynb"))
    command = [*regression.command(folder / "lab.ipynb", npu=True), "-rA"]

    done = subprocess.run(
        command, cwd=paths.ROOT, env=dict(os.environ), capture_output=True, text=True
    )

    told = re.findall(r"^(PASSED|FAILED) \S*::Cell (\d+)", done.stdout, flags=re.M)
    assert len(told) == len(CELLS), done.stdout[-3000:] + done.stderr[-2000:]
    result = {int(number): word == "PASSED" for word, number in told}
    return {name: result[number] for number, name in enumerate(CELLS)}


@pytest.mark.parametrize("name", list(CELLS))
def test_cell_run_on_another_machine_is_accepted_where_it_should_be(
    name: str, outcome: dict[str, bool]
) -> None:
    assert outcome[name] is CELLS[name][1]


@pytest.mark.parametrize(
    ("stored", "found", "said"),
    [
        (record("chat", "pass"), record("chat", "pass"), None),
        (record("chat", "pass"), record("chat", "fail", "why"), "chat: fail (why), not pass"),
        (record("chat", "pass"), record("chat", "skipped", "no"), "chat: skipped (no), not pass"),
        (record("thinking", "pass"), record("thinking", "skipped", "no switch"), None),
        (record("thinking", "pass"), record("thinking", "skipped"), "thinking: skipped, not pass"),
        (record("thinking", "skipped", "no"), record("thinking", "pass"), None),
        (record("thinking", "skipped", "no"), record("thinking", "fail"), "thinking: fail"),
        (record("exercise_budget", "todo"), record("exercise_budget", "pass"), "pass, not todo"),
    ],
)
def test_status_that_differs_is_told_unless_the_catalogue_lets_the_step_be_skipped(
    stored: dict[str, Any], found: dict[str, Any], said: str | None
) -> None:
    told = nbval_npu.problems([stored], [found])

    assert (told == []) if said is None else (len(told) == 1 and said in told[0])


def code_cells(lab: str, language: str) -> list[NotebookNode]:
    """Return the code cells of a committed notebook."""
    notebook = nbformat.read(str(paths.NOTEBOOKS / language / f"{lab}.ipynb"), as_version=4)
    return [one for one in notebook.cells if one.cell_type == "code"]


def tagged(lab: str, language: str) -> list[int]:
    """Return the numbers of the cells that are compared on any machine."""
    cells = code_cells(lab, language)
    return [n for n, one in enumerate(cells) if TAG in one.metadata.get("tags", [])]


@pytest.mark.parametrize("lab", list(catalog.labs()))
def test_cells_compared_on_any_machine_are_the_same_in_both_languages(lab: str) -> None:
    assert tagged(lab, "zh") == tagged(lab, "en")


def test_cells_compared_on_any_machine_are_many() -> None:
    assert sum(len(tagged(lab, "zh")) for lab in catalog.labs()) >= 35


@pytest.mark.parametrize(("lab", "language"), NOTEBOOKS)
def test_cell_compared_on_any_machine_shows_neither_stand_in_nor_cpu_engine(
    lab: str, language: str
) -> None:
    marks = [messages.text("model.stand_in", language), "assets/standins", ".venvs", "Engine: cpu"]

    for number in tagged(lab, language):
        one = code_cells(lab, language)[number]
        shown = json.dumps(nbval_npu.others(one.outputs), ensure_ascii=False)
        assert nbval_npu.others(one.outputs), "a tag on a cell that shows nothing to compare"
        assert not [mark for mark in marks if mark in shown]


def test_strict_run_lets_no_parameter_through(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LAB_MODEL_DIR", "/weights")
    monkeypatch.setenv("LAB_PORT", "8123")

    strict = regression.environment("zh", tmp_path)
    free = regression.environment("en", None)

    assert "LAB_MODEL_DIR" not in strict
    assert (strict["LAB_PORT"], strict["LAB_LANGUAGE"]) == ("8123", "zh")
    assert (free["LAB_MODEL_DIR"], free["LAB_LANGUAGE"]) == ("/weights", "en")


def test_strict_run_on_a_machine_with_an_npu_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    yes = engines.Availability(True, "an NPU")
    monkeypatch.setattr(engines.Ascend, "available", lambda self: yes)

    status = regression.main([LAB])

    assert status == 2
    assert "make nbval-npu" in capsys.readouterr().err


@pytest.mark.full
def test_comparison_for_an_npu_holds_on_the_cpu_engine_and_leaves_nothing(own_state: Path) -> None:
    if not engines.Cpu().available().ok:
        pytest.skip("the rehearsal takes the CPU engine, which is not here")
    env = dict(os.environ) | {"LAB_ENGINE": "cpu", "LAB_LANGUAGE": "en"}
    env["LAB_PORT"] = str(process.free_port("127.0.0.1"))
    script = str(Path(regression.__file__))

    done = subprocess.run(
        [sys.executable, script, "--npu", LAB],
        cwd=paths.ROOT,
        env=env,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert (paths.build_dir() / "nbval-npu" / f"{LAB}.en.xml").is_file()
