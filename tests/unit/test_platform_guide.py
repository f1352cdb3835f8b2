"""Tests of the pages for an instructor and for hosted notebooks, page by page: commands, links and
variables exist, both languages tell the same, and a platform's statements have their sources.
"""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import click
import pytest
from guide_pages import (
    GUIDE,
    blocks_of,
    commands_of,
    files,
    name_of,
    parsed,
    prose_of,
    tables_of,
    text_of,
)

from helpers import catalog, messages, paths, setup
from helpers.download import places

PAGES = ("instructor", "modelarts", "atomgit_notebook")
PLATFORMS = PAGES[1:]
FILES, PLATFORM_FILES = files(*PAGES), files(*PLATFORMS)
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)]+))?\)")


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_commands_on_a_page_are_commands_with_these_options(path: Path) -> None:
    commands = commands_of(path)

    assert len(commands) >= 5
    for words in commands:
        if words.startswith("setup"):
            setup._options(shlex.split(words)[1:])
        else:
            parsed(words)


@pytest.mark.parametrize("words", ["stpo", "run --langauge zh", "download --lokc x/y"])
def test_command_that_does_not_exist_is_noticed(words: str) -> None:
    with pytest.raises((click.ClickException, AssertionError)):
        parsed(words)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_make_targets_on_a_page_exist(path: Path) -> None:
    makefile = text_of(paths.ROOT / "Makefile")
    named = set(re.findall(r"`make ([a-z][\w-]*)`", text_of(path)))

    assert named
    assert named <= set(re.findall(r"^([a-z][\w-]*):", makefile, re.M))


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_variables_on_a_page_are_parameters_or_read_by_the_course(path: Path) -> None:
    known = {name for lab in catalog.labs().values() for name in lab["parameters"]}
    known |= {"API_KEY", "STATE_DIR", "ENGINE_PYTHON", "ATOMGIT_TOKEN"}

    named = set(re.findall(r"\bLAB_([A-Z_]+)", text_of(path)))

    assert named
    assert named <= known


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_links_lead_to_a_file_and_an_anchor_of_the_same_language(path: Path) -> None:
    language, links = path.suffixes[0], LINK.findall(text_of(path))

    assert links
    for target, anchor in links:
        if target.startswith("https://"):
            continue
        found = (GUIDE / target).resolve() if target else path
        assert found.is_file(), target
        assert found.suffixes[0] == language or f"/{language[1:]}/" in str(found), target
        assert not anchor or f'<a id="{anchor}"></a>' in text_of(found), anchor


@pytest.mark.parametrize("page", PAGES)
def test_page_has_the_same_parts_in_both_languages(page: str) -> None:
    zh, en = (GUIDE / f"{page}.{language}.md" for language in messages.LANGUAGES)

    for part in (r"^#+ ", r"^\|", r"^ *```", r"^- ", r"^\d\. ", r"</a>"):
        assert len(re.findall(part, text_of(zh), re.M)) == len(re.findall(part, text_of(en), re.M))


@pytest.mark.parametrize("page", PAGES)
def test_page_has_the_same_figures_and_addresses_in_both_languages(page: str) -> None:
    figure = re.compile(r"(?<![A-Za-z_\d.])\d+(?:\.\d+)*")
    pages = []
    for language in messages.LANGUAGES:
        path = GUIDE / f"{page}.{language}.md"
        addresses = re.findall(r"https?://[^\s)`|]+", text_of(path))
        words = re.sub(r"https?://[^\s)`|]+|[a-z_]+\.(?:zh|en)\.md", "", prose_of(path))
        pages.append((sorted(figure.findall(words)), addresses))

    zh, en = pages
    assert zh == en


@pytest.mark.parametrize("page", PAGES)
def test_page_has_the_same_code_in_both_languages_but_for_the_language(page: str) -> None:
    pages = []
    for language in messages.LANGUAGES:
        blocks = re.findall(
            r"^ *```(.*?)^ *```", text_of(GUIDE / f"{page}.{language}.md"), re.S | re.M
        )
        pages.append([re.sub(r"  # .*|--language \w+", "", block) for block in blocks])

    zh, en = pages
    assert zh == en
    assert zh


@pytest.mark.parametrize("path", [p for p in FILES if ".en." in p.name], ids=name_of)
def test_english_page_has_no_chinese(path: Path) -> None:
    assert not re.findall(r"[\u3000-\u9fff\uff00-\uffef]", text_of(path))


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_python_code_on_a_page_can_be_parsed_and_holds_no_key(path: Path) -> None:
    for block in blocks_of(path, "python"):
        ast.parse(block)
    assert not re.findall(r"sk-[0-9a-f]{8}|Bearer", text_of(path))


@pytest.mark.parametrize("path", PLATFORM_FILES, ids=name_of)
def test_each_statement_of_a_platform_has_a_source_or_says_that_it_was_not_verified(
    path: Path,
) -> None:
    body, _, sources = prose_of(path).partition("<a id=")
    marks = re.compile(r"\[S\d+\]\(#s\d+\)|〔课程〕|〔未验证〕|\(course\)|\(not verified\)")
    statements = [line for line in body.splitlines() if re.match(r"- |\d\. ", line)]
    rows = [" | ".join(row) for heading in tables_of(path).values() for row in heading]

    assert len(statements) + len(rows) >= 15
    for statement in [*statements, *rows]:
        assert marks.search(statement), statement
    assert "https://" in sources


@pytest.mark.parametrize("path", PLATFORM_FILES, ids=name_of)
def test_sources_of_a_platform_are_all_referred_to_and_official_or_named(path: Path) -> None:
    listed = re.findall(r'<a id="(s\d+)"></a>\S* .*?\((https://[^)]+)\)', text_of(path))
    cited = set(re.findall(r"\(#(s\d+)\)", text_of(path)))

    assert {anchor for anchor, _ in listed} == cited
    hosts = {address.split("/")[2] for _, address in listed}
    assert hosts <= {"support.huaweicloud.com", "gitcode.com", "github.com"}


@pytest.mark.parametrize("page", PLATFORMS)
def test_places_for_weights_on_a_platforms_page_are_searched_by_the_course(page: str) -> None:
    searched = [str(Path(one).parent) for one in places.SEARCHED]
    catalogued = {
        str(Path(one).parent)
        for lab in catalog.labs().values()
        for one in lab["model_dirs"].get("ascend", [])
    }

    for language in messages.LANGUAGES:
        named = re.findall(r"`(/[\w/-]+)/<", text_of(GUIDE / f"{page}.{language}.md"))
        assert named
        for place in named:
            assert place in searched
            assert place in catalogued
