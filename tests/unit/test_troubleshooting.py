"""Tests of the guide's page of error codes: every typed error of the package is on it, in both languages, by family."""

from __future__ import annotations

import importlib.util
import re
from types import ModuleType

import pytest

from helpers import messages, paths
from helpers.errors import LabError


def _page_module() -> ModuleType:
    """Return course/troubleshooting.py as a module; it is an author's tool, not part of the package."""
    spec = importlib.util.spec_from_file_location(
        "course_troubleshooting", paths.COURSE / "troubleshooting.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


troubleshooting = _page_module()
CODES = [one.code for one in troubleshooting.classes()]


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_page_on_disk_is_what_the_errors_make(language: str) -> None:
    page = troubleshooting.target(language).read_text(encoding="utf-8")

    assert page == troubleshooting.page(language)


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_page_has_each_error_once_under_its_family(language: str) -> None:
    lines = troubleshooting.page(language).splitlines()
    headings = {words[language]: name for name, words in troubleshooting.FAMILIES.items()}
    family, listed = "", []

    for line in lines:
        if line.startswith("## "):
            family = headings[line.removeprefix("## ")]
        elif code := re.fullmatch(r"### `(.+)`", line):
            assert code[1].startswith(f"{family}.")
            listed.append(code[1])

    assert listed == CODES
    assert [line for line in lines if line.startswith("<a id=") and "family-" not in line] == [
        f'<a id="{troubleshooting.anchor(code)}"></a>' for code in CODES
    ]


@pytest.mark.parametrize(
    "code",
    ["server.died", "server.device_locked", "download.no_room", "image.missing", "tools.cut"],
)
def test_errors_that_stand_beside_their_own_code_are_listed(code: str) -> None:
    assert code in CODES


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_links_at_the_top_lead_to_the_families(language: str) -> None:
    page = troubleshooting.page(language)

    links = re.findall(r"\]\(#(family-\w+)\)", page)

    assert len(links) >= 10
    assert all(page.count(f'<a id="{link}"></a>') == 1 for link in links)


def test_error_of_a_family_without_a_heading_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Strange(LabError):
        code = "strange.thing"

    monkeypatch.setattr(Strange, "__module__", "helpers.strange")
    monkeypatch.setattr(troubleshooting, "_below", lambda error: [Strange])

    with pytest.raises(KeyError, match="strange"):
        troubleshooting.classes()
