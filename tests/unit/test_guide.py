"""Tests of the guide's pages on environment, questions and API: both languages tell the same, and
what they name exists.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from helpers import messages, paths

GUIDE = paths.COURSE / "guide"
PAGES = ("environment", "faq", "api", "batch")
FILES = [GUIDE / f"{page}.{language}.md" for page in PAGES for language in messages.LANGUAGES]
FIXTURES = paths.ROOT / "tests" / "fixtures" / "vllm_cli"
VERSIONS = ("0.18.0", "0.23.0", "0.32.0")
KNOWN = {version: json.loads((FIXTURES / f"{version}.json").read_text()) for version in VERSIONS}
NAME = re.compile(r"`([^`\n]+)`")
UNREGISTERED = {"VLLM_LIMIT_MM_PER_PROMPT", "VLLM_…"}


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _names(path: Path) -> list[str]:
    """Return what stands in backquotes on a page, code blocks left out."""
    return NAME.findall(re.sub(r"```.*?```", "", _text(path), flags=re.S))


def _rows(path: Path) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        for line in _text(path).splitlines()
        if line.startswith("| `")
    ]


@pytest.mark.parametrize("page", PAGES)
def test_page_has_the_same_parts_in_both_languages(page: str) -> None:
    zh, en = (_text(GUIDE / f"{page}.{language}.md") for language in messages.LANGUAGES)

    for part in (r"^#+ ", r"^\|", r"^```"):
        assert len(re.findall(part, zh, re.M)) == len(re.findall(part, en, re.M))


@pytest.mark.parametrize("page", PAGES)
def test_page_names_the_same_things_in_both_languages(page: str) -> None:
    technical = re.compile(
        r"[!-~…]+( [!-~…]+)*"
    )  # names and quotations, not a language's own words
    found = [
        sorted(
            name
            for name in set(_names(GUIDE / f"{page}.{language}.md"))
            if technical.fullmatch(name)
        )
        for language in messages.LANGUAGES
    ]
    zh, en = (
        [n for n in names if not n.startswith(("LAB_<", "chat.", "images.", "image_tokens."))]
        for names in found
    )

    assert zh == en
    assert len(zh) > 15


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_links_lead_to_a_page_and_an_anchor_of_the_same_language(path: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#([^)]+))?\)", _text(path))

    assert links
    for target, anchor in links:
        if target.startswith("https://"):
            continue
        found = GUIDE / target
        assert found.suffixes[0] == path.suffixes[0]
        assert not anchor or f'<a id="{anchor}"></a>' in _text(found)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_codes_on_a_page_are_codes_of_errors(path: Path) -> None:
    codes = [
        name for name in _names(path) if re.fullmatch(r"(image|server|chat)\.[a-z_0-9]+", name)
    ]

    assert [code for code in codes if code not in messages.catalogue("zh")] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_variables_of_vllm_on_a_page_are_registered_but_for_the_made_up_one(path: Path) -> None:
    named = {word for name in _names(path) for word in re.findall(r"VLLM_[A-Z_…]+", name)}

    unknown = named - UNREGISTERED - set(KNOWN["0.32.0"]["environment"])

    assert unknown == set()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_flags_on_a_page_are_flags_of_every_version(path: Path) -> None:
    named = {word for name in _names(path) for word in re.findall(r"--[a-z-]{3,}", name)}

    for version in VERSIONS:
        assert named <= set(KNOWN[version]["flags"])


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_defaults_and_versions_of_vllms_variables_are_those_of_its_sources(language: str) -> None:
    told = 0
    for cells in _rows(GUIDE / f"environment.{language}.md"):
        name, default = cells[0].strip("`"), cells[1]
        for version in VERSIONS:
            known = KNOWN[version]["environment_defaults"].get(name)
            if known is not None and default.isdigit():
                assert known["default"] == int(default)
                told += 1
        if len(cells) > 2 and "0.32" in cells[2] and name.startswith("VLLM_"):
            having = [v for v in VERSIONS if name in KNOWN[v]["environment"]]
            assert cells[2] == ", ".join(v.removesuffix(".0") for v in having).replace(
                ", ", "、" if language == "zh" else ", "
            )

    assert told >= 9


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_refusals_in_the_api_table_are_those_that_the_engine_tests_see(language: str) -> None:
    tested = (paths.ROOT / "tests" / "unit" / "test_picture_refusals.py").read_text("utf-8")
    rows = re.findall(
        r"^\|[^|]+\| (\d{3})[^|]*\| `([^`|]+)` \| `image\.",
        _text(GUIDE / f"api.{language}.md"),
        re.M,
    )

    assert len(rows) >= 12
    flat = re.sub(r'"\s*\n\s*"', "", tested)
    for _, said in rows:
        words = re.sub(r"`", "", said).strip("… ").split("(…)")[0].strip()
        assert words.removesuffix(" --allowed-local-media-path").strip() in flat
