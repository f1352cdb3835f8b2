"""Tests of LabError: what a learner sees, alone, in IPython and through papermill."""

from __future__ import annotations

from pathlib import Path

import nbformat
import papermill
import pytest
from IPython.core.interactiveshell import InteractiveShell
from papermill.exceptions import PapermillExecutionError

from helpers import messages
from helpers.errors import LabError, ModelEmpty, ServerDied, UnrecognizedArguments

RAISING = """
from helpers.errors import ModelEmpty
def inner():
    raise ModelEmpty(path='weights')
inner()
"""


@pytest.fixture
def shell() -> InteractiveShell:
    """Return a real IPython shell, with colours off."""
    made = InteractiveShell(colors="nocolor")
    made.history_manager.enabled = False
    return made


def test_error_with_evidence_and_original_keeps_both_unchanged() -> None:
    error = ModelEmpty(
        path="weights", evidence="line 1\nline 2", original="[Errno 2] No such {file}"
    )

    assert (error.evidence, error.original) == ("line 1\nline 2", "[Errno 2] No such {file}")


def test_error_told_shows_evidence_line_by_line_after_the_original() -> None:
    told = ModelEmpty(path="weights", evidence="line 1\nline 2", original="No such {file}").told(
        "en"
    )

    assert told.splitlines()[3:] == [
        "Original text: No such {file}",
        "Evidence:",
        "    line 1",
        "    line 2",
    ]


def test_error_without_evidence_tells_three_sentences() -> None:
    assert len(ModelEmpty(path="weights").told("en").splitlines()) == 3


def test_error_parts_follow_the_language_in_force() -> None:
    error = ModelEmpty(path="weights")

    chinese = error.what
    messages.use("en")

    assert (chinese, error.what) == (
        "模型目录 weights 是空的。",
        "The model directory weights is empty.",
    )


def test_error_value_with_braces_is_shown_as_it_is() -> None:
    assert "{x}" in ModelEmpty(path="{x}").what


def test_error_diagnosis_is_none_until_diagnose_exists() -> None:
    assert ModelEmpty(path="x").diagnosis is None


def test_unrecognized_arguments_is_caught_as_server_died() -> None:
    assert issubclass(UnrecognizedArguments, ServerDied)


def test_error_in_ipython_shows_the_message_and_no_traceback(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    result = shell.run_cell(RAISING)

    shown = capsys.readouterr().out
    assert isinstance(result.error_in_exec, LabError)
    assert shown.strip() == ModelEmpty(path="weights").told()


def test_error_of_another_kind_in_ipython_still_shows_a_traceback(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.run_cell("1 / 0")

    assert "Traceback" in capsys.readouterr().out


def test_error_across_papermill_begins_with_its_code(tmp_path: Path) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(RAISING)])
    nbformat.write(notebook, tmp_path / "in.ipynb")

    with pytest.raises(PapermillExecutionError) as caught:
        papermill.execute_notebook(
            str(tmp_path / "in.ipynb"),
            str(tmp_path / "out.ipynb"),
            kernel_name="python3",
            progress_bar=False,
            cwd=str(tmp_path),
        )

    assert caught.value.evalue.startswith("[model.empty] ")
