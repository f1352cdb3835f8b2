"""Tests of a matrix file: what it expands into, and that each wrong line is told with its number,
in both languages.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from light.light_notebook import light_notebook

from helpers import catalog, messages
from helpers.batch import job as jobs
from helpers.batch import matrix
from helpers.batch.problems import MatrixInvalid, MatrixMissing, MatrixUnreadable


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return tmp_path / "matrix.yml"


def _read(source: Path, text: str) -> matrix.Matrix:
    source.write_text(text, encoding="utf-8")
    return matrix.read(source)


def _told(source: Path, text: str) -> list[str]:
    """Return the wrong lines of a matrix in English."""
    with pytest.raises(MatrixInvalid) as caught:
        _read(source, text)
    return (caught.value.evidence or "").splitlines()


@pytest.fixture(autouse=True)
def english() -> None:
    messages.use("en")


def test_matrix_is_labs_times_parameters_times_languages(source: Path) -> None:
    found = _read(
        source,
        "labs: [02_minicpm5, 03_tool_calling]\nlanguages: [zh, en]\n"
        "parameters: {ENGINE: remote}\nvary: {MAX_MODEL_LEN: [1024, 2048], DTYPE: [float32]}\n",
    ).jobs(source.parent)

    assert [(job.lab, job.language, job.parameters["MAX_MODEL_LEN"]) for job in found] == [
        (lab, language, length)
        for lab in ("02_minicpm5", "03_tool_calling")
        for length in (1024, 2048)
        for language in ("zh", "en")
    ]
    assert {job.parameters["ENGINE"] for job in found} == {"remote"}
    assert all(job.notebook.is_file() for job in found)


def test_matrix_gives_a_lab_only_the_parameters_that_it_has(source: Path) -> None:
    found = _read(
        source,
        "labs: [00_check_environment, 02_minicpm5]\nlanguages: [en]\n"
        "vary: {MAX_MODEL_LEN: [1024, 2048]}\n",
    ).jobs(source.parent)

    assert [(job.lab, job.parameters) for job in found] == [
        ("00_check_environment", {}),
        ("02_minicpm5", {"MAX_MODEL_LEN": 1024}),
        ("02_minicpm5", {"MAX_MODEL_LEN": 2048}),
    ]


def test_matrix_takes_a_notebook_beside_it(source: Path) -> None:
    book = light_notebook(source.with_name("mine.ipynb"), ["pass"])

    found = _read(source, "labs: [mine.ipynb]\nlanguages: [zh]\nparameters: {FAIL_AT: x}\n")

    job = found.jobs(source.parent)[0]
    assert (job.lab, job.notebook, job.parameters) == ("mine", book, {"FAIL_AT": "x"})


def test_matrix_takes_what_the_command_line_says_instead(source: Path) -> None:
    source.write_text("labs: [02_minicpm5]\nworkers: 2\nparameters: {PORT: 0}\n", "utf-8")

    found = matrix.read(source, {"HOST": "::1"}, ["en"], 3)

    assert (found.parameters, found.languages, found.workers) == (
        {"PORT": 0, "HOST": "::1"},
        ["en"],
        3,
    )


WRONG = [
    ("labs: [02_minicpm5]\nworker: 2", "line 2: worker: there is no worker; did you mean workers?"),
    ("labs: [02_minicpm5]\ncolour: 2", "line 2: colour: there is no colour; known are: schema"),
    ("workers: 2", "line 1: labs: labs is missing."),
    ("labs: []", "line 1: labs: needs at least one item."),
    ("labs: 02_minicpm5", "line 1: labs: must be a list"),
    ("labs:\n  - 02_minicpm5\n  - 7", "line 3: labs[1]: must be text, not 7"),
    ("labs:\n  - 02_minicpm5\n  - 09_x", "line 3: labs[1]: there is no lab 09_x; there are: 00_"),
    ("labs: [gone.ipynb]", "line 1: labs[0]: there is no notebook gone.ipynb"),
    ("labs: [02_minicpm5]\nlanguages: [zh, fr]", "languages[1]: must be one of 'zh', 'en', not"),
    ("labs: [02_minicpm5]\nworkers: 0", "line 2: workers: must be at least 1, not 0."),
    ("labs: [02_minicpm5]\nworkers: two", "line 2: workers: must be an integer, not 'two'."),
    ("labs: [02_minicpm5]\nretries: 11", "line 2: retries: must be at most 10, not 11."),
    ("labs: [02_minicpm5]\ntimeout: 0", "line 2: timeout: must be more than 0"),
    ("labs: [02_minicpm5]\ntimeout: soon", "line 2: timeout: must be a number, not 'soon'."),
    (
        "labs: [02_minicpm5]\nexecutor: slurm",
        "line 2: executor: must be one of 'local', 'ray', not",
    ),
    ("labs: [02_minicpm5]\nretry_on: [bored]", "line 2: retry_on[0]: must be one of 'killed'"),
    ("labs: [02_minicpm5]\nparameters: [PORT]", "line 2: parameters: must be name and value pairs"),
    ("labs: [02_minicpm5]\nvary:\n  PORT: []", "line 3: vary.PORT: needs at least one item."),
    ("labs: [02_minicpm5]\nvary:\n  PORT: 1", "line 3: vary.PORT: must be a list"),
    ("labs: [02_minicpm5]\nparameters:\n  PROT: 1", "line 3: parameters.PROT: none of these labs"),
    ("labs: [02_minicpm5]\nparameters:\n  LANGUAGE: zh", "parameters.LANGUAGE: the language goes"),
    ("labs: [02_minicpm5]\nparameters:\n  API_KEY: x", "parameters.API_KEY: The parameter API_KEY"),
    (
        "labs: [02_minicpm5]\nvary:\n  HF_TOKEN: [x]",
        "line 3: vary.HF_TOKEN: The parameter HF_TOKEN",
    ),
    (
        "labs: [02_minicpm5]\nparameters: {PORT: 1}\nvary: {PORT: [1]}",
        "line 3: vary.PORT: PORT already has a value in parameters",
    ),
    ("[labs]", "line 1: must be name and value pairs"),
    ("", "line 1: labs: labs is missing."),
]


@pytest.mark.parametrize(("text", "said"), WRONG)
def test_wrong_line_is_told_with_its_number(source: Path, text: str, said: str) -> None:
    lines = _told(source, text)

    assert len(lines) == 1
    assert said in lines[0]


@pytest.mark.parametrize(("text", "said"), WRONG)
def test_wrong_line_is_told_in_chinese_too(source: Path, text: str, said: str) -> None:
    messages.use("zh")

    lines = _told(source, text)

    assert len(lines) == 1
    assert lines[0].startswith("第 ")
    assert "must be" not in lines[0]


def test_all_wrong_lines_are_told_at_once_in_the_files_order(source: Path) -> None:
    lines = _told(source, "workers: 0\ntimeout: soon\nlabs: 1\n")

    assert [line.partition(":")[0] for line in lines] == ["line 1", "line 2", "line 3"]


def test_solution_edition_that_is_not_built_is_told(
    source: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(jobs.paths, "ROOT", tmp_path)

    lines = _told(source, "labs: [02_minicpm5]\nedition: solution\n")

    assert "run make notebooks first" in lines[0]


def test_matrix_that_is_not_there_is_told(source: Path) -> None:
    with pytest.raises(MatrixMissing):
        matrix.read(source)


@pytest.mark.parametrize("text", ["labs: [a", "labs:\n\t- a", "a: b: c"])
def test_matrix_that_is_not_yaml_is_told_with_the_parsers_line(source: Path, text: str) -> None:
    with pytest.raises(MatrixUnreadable) as caught:
        _read(source, text)

    assert "line " in (caught.value.original or "")


def test_key_changes_with_what_is_run_and_with_nothing_else(tmp_path: Path) -> None:
    book = light_notebook(tmp_path / "a.ipynb", ["1"])
    job = jobs.Job("a", "zh", book, parameters={"X": 1})
    key = job.key()

    others = {
        jobs.Job("b", "zh", book, parameters={"X": 1}).key(),
        jobs.Job("a", "en", book, parameters={"X": 1}).key(),
        jobs.Job("a", "zh", book, "solution", {"X": 1}).key(),
        jobs.Job("a", "zh", book, parameters={"X": 2}).key(),
    }
    book.write_text(book.read_text("utf-8").replace('"outputs": []', '"outputs": [ ]'), "utf-8")
    same = job.key()
    light_notebook(book, ["2"])

    assert key not in others and len(others) == 4
    assert same == key
    assert job.key() != key


def test_labs_without_an_engine_and_remote_ones_need_no_device() -> None:
    alone = [name for name, lab in catalog.labs().items() if lab["engines"] == []]

    assert jobs.is_remote(jobs.jobs(["en"], alone)[0])
    assert jobs.is_remote(jobs.jobs(["en"], ["02_minicpm5"], {"ENGINE": "remote"})[0])
    assert jobs.is_remote(jobs.jobs(["en"], ["02_minicpm5"], {"BASE_URL": "http://x"})[0])
    assert not jobs.is_remote(jobs.jobs(["en"], ["02_minicpm5"])[0])
