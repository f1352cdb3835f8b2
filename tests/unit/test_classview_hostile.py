"""Tests of hand-ins that are broken, huge or hostile: each is told in its own row, escaped, and stops no
other.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
from light import light_class
from light.light_class import Learner
from rich.console import Console

from helpers import classview, messages
from helpers.checkpoint import MIME
from helpers.classview import cleaning, collecting, page, terminal
from helpers.classview.schemas import ClassView

SCRIPT = "<script>alert(1)</script>"
GOOD = json.dumps(light_class.run("02_minicpm5", "en", 1)).encode()


def changed(**fields: Any) -> bytes:
    """Return a good notebook with other top-level fields."""
    return json.dumps(json.loads(GOOD) | fields).encode()


def zipped(members: dict[str, bytes]) -> bytes:
    """Return an archive."""
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return body.getvalue()


def refused(folder: Path) -> dict[str, list[str]]:
    """Return the codes of what could not be read, by learner; the good hand-in beside it must be
    whole.
    """
    (folder / "good_02_minicpm5.ipynb").write_bytes(GOOD)

    view = classview.view(folder)

    good = next(one for one in view.learners if one.learner == "good")
    assert [lab.state for lab in good.labs] == ["complete"]
    assert page.html(view) and view.model_dump_json()
    return {one.learner: [file.code for file in one.unread] for one in view.learners if one.unread}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "not_json"),
        (b"<html>Jupyter</html>", "not_json"),
        (b"\xff\xfe\x00", "not_json"),
        (GOOD[:-200], "not_json"),
        (b"[" * 200_000, "not_json"),
        (b'{"nbformat": ' + b"4" * 100_000 + b"}", "not_json"),
        (b"[]", "not_a_notebook"),
        (b"3", "not_a_notebook"),
        (b"{}", "old_format"),
        (changed(nbformat=3), "old_format"),
        (changed(nbformat=5), "old_format"),
        (changed(nbformat=[SCRIPT]), "old_format"),
        (changed(nbformat_minor="5"), "old_format"),
        (changed(cells="none"), "not_a_notebook"),
        (changed(cells=[3]), "not_a_notebook"),
        (changed(cells=[{"cell_type": "code"}]), "not_a_notebook"),
        (changed(metadata=3), "not_a_notebook"),
        (changed(metadata={"labs": 3}, cells=[]), "other_notebook"),
        (changed(metadata={}, cells=[]), "other_notebook"),
    ],
)
def test_broken_hand_in_is_told_and_stops_no_other(tmp_path: Path, body: bytes, code: str) -> None:
    (tmp_path / "li_02_minicpm5.ipynb").write_bytes(body)

    assert refused(tmp_path) == {"li": [f"classview.{code}"]}


def test_huge_hand_in_is_not_read_to_its_end(tmp_path: Path) -> None:
    with (tmp_path / "li.ipynb").open("wb") as file:
        file.truncate(4 << 40)  # 4 TiB that take no room

    assert refused(tmp_path) == {"li": ["classview.too_large"]}


def test_archive_that_unpacks_to_more_than_the_limit_is_refused(tmp_path: Path) -> None:
    bomb = zipped({"02.ipynb": b" " * ((collecting.MOST_MIB << 20) + 1), "03.ipynb": GOOD})
    (tmp_path / "li.zip").write_bytes(bomb)

    assert refused(tmp_path) == {"li": ["classview.too_large"]}


@pytest.mark.parametrize("body", [b"", b"PK\x03\x04 and no more", zipped({"a.ipynb": GOOD})[:-40]])
def test_damaged_archive_is_told(tmp_path: Path, body: bytes) -> None:
    (tmp_path / "li.zip").write_bytes(body)

    assert refused(tmp_path) == {"li": ["classview.bad_zip"]}


def test_archive_with_a_damaged_member_is_told(tmp_path: Path) -> None:
    body = zipped({"a.ipynb": GOOD})
    (tmp_path / "li.zip").write_bytes(body[:200] + b"\0" * 200 + body[400:])

    assert refused(tmp_path) == {"li": ["classview.bad_zip"]}


def test_archive_unpacks_nothing_to_the_disk(tmp_path: Path) -> None:
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / "li.zip").write_bytes(zipped({"../../evil.ipynb": GOOD, "/evil.ipynb": GOOD}))

    view = classview.view(folder)

    assert [lab.state for lab in view.learners[0].labs] == ["complete"]
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["class", "li.zip"]


def test_empty_folder_and_empty_archive_are_told(tmp_path: Path) -> None:
    (tmp_path / "li").mkdir()
    (tmp_path / "wang.zip").write_bytes(zipped({"notes.txt": b"x"}))

    told = ["classview.nothing_handed_in"]
    assert refused(tmp_path) == {"li": told, "wang": told}


def test_links_and_pipes_are_not_followed_or_opened(tmp_path: Path) -> None:
    outside = tmp_path / "outside.ipynb"
    outside.write_bytes(GOOD)
    folder = tmp_path / "class"
    (folder / "zhao").mkdir(parents=True)
    (folder / "li.ipynb").symlink_to(outside)
    (folder / "sun").symlink_to(tmp_path)
    (folder / "zhao" / "02.ipynb").symlink_to(outside)
    os.mkfifo(folder / "wu.ipynb")

    told = ["classview.unreadable"]
    assert refused(folder) == {"li": told, "sun": told, "wu": told, "zhao": told}


def test_more_notebooks_than_the_limit_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "li").mkdir()
    for number in range(collecting.MOST_FILES + 5):
        (tmp_path / "li" / f"{number:03}.ipynb").write_bytes(b"")

    found = refused(tmp_path)["li"]

    assert found.count("classview.not_json") == collecting.MOST_FILES
    assert found[-1] == "classview.too_many"


def _hostile(folder: Path) -> ClassView:
    """Return the view of a class in which every text of one hand-in is hostile."""
    notebook = light_class.run("02_minicpm5", "en", 9)
    nasty = f"{SCRIPT}\x1b[2J\u202e[red]{{{{ 7*7 }}}}\ud800' onload='x"
    cell, output = light_class.outputs(notebook, "pass")[0]
    output["data"][MIME] |= {"reason": nasty, "engine": nasty, "versions": {nasty: nasty}}
    output["data"]["text/html"] = nasty
    cell["source"] = [nasty]
    cell["outputs"].append(
        {"output_type": "error", "ename": nasty, "evalue": nasty, "traceback": []}
    )
    name = f"{SCRIPT.replace('/', '')}' onload='x"
    light_class.write(folder, [Learner(name, {"02_minicpm5.ipynb": notebook})])
    (folder / f"{SCRIPT.replace('/', '')}.zip").write_bytes(b"")
    return classview.view(folder)


def test_page_escapes_every_text_of_a_hand_in(tmp_path: Path) -> None:
    html = page.html(_hostile(tmp_path))

    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "onload='x" not in html
    assert "49" not in html
    assert not {"\x1b", "\u202e"} & set(html)


def test_page_and_data_of_a_hostile_hand_in_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()

    data = page.write(_hostile(tmp_path / "class"), tmp_path / "class.html")

    assert json.loads(data.read_text("utf-8"))["schema"] == 1


def test_terminal_gets_no_control_characters_and_no_markup(tmp_path: Path) -> None:
    out = io.StringIO()

    terminal.show(_hostile(tmp_path), Console(file=out, width=300, force_terminal=False))

    assert not {"\x1b", "\u202e"} & set(out.getvalue())
    assert "[red]" in out.getvalue()


@pytest.mark.parametrize(
    "record",
    [
        3,
        "text",
        None,
        {},
        {"schema": 2},
        {"seconds": float("inf")},
        {"seconds": float("nan")},
        {"seconds": "soon"},
        {"status": "perfect"},
        {"versions": [1]},
        {"lab": ["x"]},
    ],
)
def test_record_that_is_none_is_marked_and_the_view_is_whole(tmp_path: Path, record: Any) -> None:
    notebook = light_class.run("02_minicpm5", "en", 9)
    _, output = light_class.outputs(notebook, "pass")[0]
    whole = output["data"][MIME]
    output["data"][MIME] = whole | record if isinstance(record, dict) and record else record
    light_class.write(tmp_path, [Learner("li", {"02_minicpm5.ipynb": notebook})])

    [learner] = classview.view(tmp_path).learners

    assert [mark.kind for lab in learner.labs for mark in lab.marks] == ["record"]


@pytest.mark.parametrize(
    ("name", "learner"),
    [
        ("li_02_minicpm5.ipynb", "li"),
        ("li-02_minicpm5.zh.ipynb", "li"),
        ("王小明 02_minicpm5 (2).ipynb", "王小明"),
        ("2024_007_03_tool_calling_en.ipynb", "2024_007"),
        ("zhang.zip", "zhang"),
        ("02_minicpm5.ipynb", "02_minicpm5"),
    ],
)
def test_learner_is_read_from_a_files_name(name: str, learner: str) -> None:
    assert collecting.owner(name, ["02_minicpm5", "03_tool_calling"]) == learner


def test_line_of_a_long_text_is_short_and_one_line() -> None:
    assert cleaning.line("a\n b\t\x00c" + "d" * 1000, 10) == "a b cdddd…"


def test_hand_in_named_like_a_checkpoint_copy_is_left_out(tmp_path: Path) -> None:
    for name in (".ipynb_checkpoints", "__MACOSX"):
        (tmp_path / "li" / name).mkdir(parents=True)
        (tmp_path / "li" / name / "02-checkpoint.ipynb").write_bytes(b"x")
    (tmp_path / "li" / "02.ipynb").write_bytes(GOOD)
    (tmp_path / ".DS_Store").write_bytes(b"x")

    [learner] = classview.view(tmp_path).learners

    assert [lab.file for lab in learner.labs] == ["li/02.ipynb"]
    assert learner.unread == []


def test_refusals_are_told_in_the_language_in_force(tmp_path: Path) -> None:
    (tmp_path / "li.ipynb").write_bytes(b"x")

    messages.use("en")

    assert classview.view(tmp_path).learners[0].unread[0].what.startswith("li.ipynb is no JSON")
