"""Tests of the guide's page on the class view: its commands are commands, every mark and note is
explained in the words that the view uses, limits and links are the real ones.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from guide_pages import GUIDE, commands_of, files, name_of, parsed, tables_of, text_of

from helpers import messages
from helpers.classview import collecting, judging

PAGES = files("class")
WAYS = ("hand-ins/li/02_minicpm5.ipynb", "hand-ins/li_02_minicpm5.ipynb", "hand-ins/li.zip")


def language_of(path: Path) -> str:
    """Return a page's language."""
    return path.name.split(".")[1]


def explained(path: Path, family: str) -> list[str]:
    """Return the texts of a family of remarks that the view may show, in the page's language."""
    found = messages.catalogue(language_of(path))
    return [str(text) for code, text in found.items() if code.startswith(f"classview.{family}.")]


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_commands_on_the_page_are_commands_with_these_options(path: Path) -> None:
    commands = [words for words in commands_of(path) if words.startswith("report")]

    assert len(commands) == 2
    assert [str(parsed(words).params["handed_in"]) for words in commands] == ["hand-ins"] * 2


@pytest.mark.parametrize("path", PAGES, ids=name_of)
@pytest.mark.parametrize("family", ["mark", "note"])
def test_every_remark_of_the_view_is_explained_in_its_words(path: Path, family: str) -> None:
    first_cells = [row[0] for rows in tables_of(path).values() for row in rows]

    assert len(explained(path, family)) >= 6
    assert [text for text in explained(path, family) if text not in first_cells] == []


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_ways_of_handing_in_name_one_learner(path: Path) -> None:
    text = text_of(path)

    assert all(f"`{way}`" in text for way in WAYS)
    assert {collecting.owner(Path(way).name, ["02_minicpm5"]) for way in WAYS[1:]} == {"li"}


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_limits_on_the_page_are_the_views(path: Path) -> None:
    text = text_of(path)

    assert f"{collecting.MOST_MIB} MiB" in text
    assert f" {collecting.MOST_FILES} " in text
    assert judging.SHIPPED_RUN == 5
    assert {"zh": "五个检查点", "en": "five checkpoints"}[language_of(path)] in text


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_links_lead_to_a_page_and_an_anchor_of_the_same_language(path: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#([^)]+))?\)", text_of(path))

    assert len(links) >= 4
    for target, anchor in links:
        found = GUIDE / target
        assert found.suffixes[0] == path.suffixes[0]
        assert not anchor or f'<a id="{anchor}"></a>' in text_of(found)


def test_page_has_the_same_parts_and_names_in_both_languages() -> None:
    zh, en = (text_of(path) for path in PAGES)

    for part in (r"^#+ ", r"^\|", r"^- ", r"^```"):
        assert len(re.findall(part, zh, re.M)) == len(re.findall(part, en, re.M))
    assert sorted(set(re.findall(r"`([^`\n]+)`", zh))) == sorted(
        set(re.findall(r"`([^`\n]+)`", en))
    )


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_page_says_what_cannot_be_seen_and_accuses_nobody(path: Path) -> None:
    text = text_of(path)

    assert {"zh": "## 看不见什么", "en": "## What it cannot see"}[language_of(path)] in text
    assert re.findall(r"作弊|抄袭|cheat|fraud|plagiar", text, re.I) == []
