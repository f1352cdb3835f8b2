"""Tests of the guide's pages of versions and installing: up to date with versions.yml, nothing typed twice."""

from __future__ import annotations

import importlib.util
import re
from types import ModuleType

import pytest

from helpers import messages, paths
from helpers.doctor import stacks


def _pages_module() -> ModuleType:
    """Return course/version_pages.py as a module; it is an author's tool, not part of the package."""
    spec = importlib.util.spec_from_file_location(
        "course_version_pages", paths.COURSE / "version_pages.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


pages = _pages_module()
CHINESE = re.compile(r"[\u4e00-\u9fff]")


@pytest.mark.parametrize("language", messages.LANGUAGES)
@pytest.mark.parametrize("name", pages.PAGES)
def test_page_is_what_the_version_table_makes_of_it(name: str, language: str) -> None:
    made = pages.PAGES[name](language)

    assert pages.target(name, language).read_text("utf-8") == made


@pytest.mark.parametrize("name", pages.PAGES)
def test_english_page_has_no_chinese_and_as_many_headings(name: str) -> None:
    zh, en = (pages.target(name, language).read_text("utf-8") for language in ("zh", "en"))

    assert not CHINESE.search(en)
    assert len(re.findall(r"^#", zh, re.M)) == len(re.findall(r"^#", en, re.M))


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_versions_page_names_every_image_of_every_stack(language: str) -> None:
    text = pages.target("versions", language).read_text("utf-8")

    images = [one["value"] for stack in stacks.all_stacks() for one in stack.get("images", [])]

    assert len(images) > 10
    assert all(f"`{image}`" in text for image in images)


def test_generator_types_no_version_itself() -> None:
    source = (paths.COURSE / "version_pages.py").read_text("utf-8")

    assert re.findall(r"\d+\.\d+\.\d+", source) == []
