"""The guide's page on runners: both languages tell the same, and what it names exists."""

from __future__ import annotations

import re

import pytest

from helpers import messages, paths

PAGES = {g: paths.COURSE / "guide" / f"npu_runner.{g}.md" for g in messages.LANGUAGES}
TEXTS = {g: path.read_text(encoding="utf-8") for g, path in PAGES.items()}
MAKEFILE = (paths.ROOT / "Makefile").read_text(encoding="utf-8")
WORKFLOW = (paths.ROOT / ".github" / "workflows" / "npu.yml").read_text(encoding="utf-8")
SCRIPT = (paths.ROOT / ".gitcode" / "npu.sh").read_text(encoding="utf-8")
NAME = re.compile(r"`([^`\n]+)`")
CODE = re.compile(r"^```.*?^```", re.M | re.S)
FILE = re.compile(r"(?:\.github|\.gitcode|course|tests)/[\w./-]*\w\.\w+")


def test_page_has_the_same_parts_and_names_the_same_things_in_both_languages() -> None:
    zh, en = TEXTS["zh"], TEXTS["en"]

    for part in (r"^## ", r"^\|", r"^- ", r"^```"):
        assert len(re.findall(part, zh, re.M)) == len(re.findall(part, en, re.M))
    named = [sorted(set(NAME.findall(CODE.sub("", text)))) for text in (zh, en)]
    assert named[0] == named[1]
    assert len(named[0]) > 40


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_targets_and_files_of_the_page_exist(language: str) -> None:
    text = TEXTS[language]
    targets = set(re.findall(r"\bmake (nbval[\w-]*|evidence[\w-]*|run|setup)", text))
    files = set(FILE.findall(text))

    assert all(re.search(rf"^{target}:", MAKEFILE, re.M) for target in targets)
    assert [one for one in files if not (paths.ROOT / one).is_file()] == []
    assert len(targets) >= 5
    assert len(files) >= 8


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_variables_of_the_page_are_those_of_the_workflow(language: str) -> None:
    table = set(re.findall(r"^\| `(NPU_\w+)`", TEXTS[language], re.M))
    named = set(re.findall(r"\bNPU_\w+", TEXTS[language]))

    assert table == set(re.findall(r"vars\.(NPU_\w+)", WORKFLOW))
    assert named - table <= set(re.findall(r"NPU_\w+", SCRIPT))


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_links_of_the_page_lead_somewhere(language: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)", TEXTS[language]):
        assert target.startswith("https://") or (PAGES[language].parent / target).is_file()
