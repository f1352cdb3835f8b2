"""Tests of what the class view shows: the page, the data beside it, the table, the command."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from click.testing import CliRunner
from light import class_of_30, light_class
from rich.console import Console

from helpers import classview, cli, messages
from helpers.classview import page, terminal
from helpers.classview.schemas import ClassView


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a class's hand-ins."""
    return light_class.write(tmp_path_factory.mktemp("class"), class_of_30.learners())


@pytest.fixture(scope="module")
def view(folder: Path) -> Iterator[ClassView]:
    """Return what the class view makes of it, in English."""
    with light_class.speaking("en"):
        yield classview.view(folder)


def test_data_read_again_is_the_same_view(view: ClassView, tmp_path: Path) -> None:
    data = page.write(view, tmp_path / "out" / "class.html")

    read = json.loads(data.read_text("utf-8"))
    assert data.name == "class.json"
    assert read["schema"] == 1
    assert ClassView(**read) == view


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_page_shows_every_learner_lab_group_and_mark(folder: Path, language: str) -> None:
    messages.use(language)
    found = classview.view(folder)

    html = page.html(found)

    assert html.startswith("<!doctype html>") and f'<html lang="{language}">' in html
    assert re.findall(r'<tr data-learner="([^"]+)"', html) == [
        one.learner for one in found.learners
    ]
    assert re.findall(r'data-code="([^"]+)"', html) == [one.code for one in found.groups]
    kinds = {mark.kind for one in found.learners for lab in one.labs for mark in lab.marks}
    assert kinds <= set(re.findall(r'class="mark" data-kind="(\w+)"', html))


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_page_says_does_not_add_up_and_never_cheated(folder: Path, language: str) -> None:
    messages.use(language)

    html = page.html(classview.view(folder))

    assert {"zh": "对不上", "en": "Does not add up"}[language] in html
    assert re.findall(r"作弊|抄袭|cheat|fraud|plagiar", html, re.I) == []


def test_page_refers_to_nothing_outside_and_has_no_script(view: ClassView) -> None:
    html = page.html(view)

    assert (
        re.findall(r"https?://|//cdn|@import|url\(|<link|<script|<img|<iframe| on\w+=", html) == []
    )
    assert {target[0] for target in re.findall(r'href="([^"]+)"', html)} == {"#"}


def test_table_in_a_terminal_has_a_row_a_learner_and_the_groups(view: ClassView) -> None:
    console = Console(width=160, record=True, file=mock.MagicMock())

    terminal.show(view, console)

    text = console.export_text()
    assert all(one.learner in text for one in view.learners)
    assert "2 × server.port_taken" in text


def test_command_writes_the_page_and_the_data_and_tells_where(folder: Path, tmp_path: Path) -> None:
    words = [
        "report",
        "--class",
        str(folder),
        "--out",
        str(tmp_path / "c.html"),
        "--language",
        "en",
    ]

    done = CliRunner().invoke(cli.main, words)

    assert done.exit_code == 0, done.output
    assert "30 learners, 30 notebooks, 0 files not read" in done.output
    assert "<title>Class view" in (tmp_path / "c.html").read_text("utf-8")
    assert json.loads((tmp_path / "class.json").read_text("utf-8"))["language"] == "en"


@pytest.mark.parametrize(
    ("made", "out", "code"),
    [
        (None, "c.html", "classview.no_folder"),
        ("readme.txt", "c.html", "classview.no_hand_ins"),
        ("li.ipynb", "li.ipynb", "classview.page_not_html"),
        ("li.ipynb", "li.ipynb/c.html", "classview.page_unwritable"),
    ],
)
def test_command_that_cannot_go_on_says_why_without_a_traceback(
    tmp_path: Path, made: str | None, out: str, code: str
) -> None:
    folder = tmp_path / "class"
    if made:
        folder.mkdir()
        (folder / made).write_text("{}")

    words = ["report", "--class", str(folder), "--out", str(folder / out)]

    done = CliRunner().invoke(cli.main, words)

    assert done.exit_code == 1
    assert f"[{code}]" in done.output and "Traceback" not in done.output
    assert not made or (folder / made).read_text() == "{}"
