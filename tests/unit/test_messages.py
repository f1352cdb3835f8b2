"""Tests of the message catalogue: both languages say the same things, and the code asks for nothing
else.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import string
from pathlib import Path

import pytest
import yaml

import helpers
from helpers import errors, messages

PACKAGE = Path(helpers.__file__).parent
CODES = sorted(messages.catalogue("zh"))
FAMILIES = (
    # Prefixes whose ends are chosen at run time: messages.text(f"server.stage.{stage}").
    "bundle.file.",
    "bundle.removed.",
    "checkpoint.lacks.",
    "checkpoint.status.",
    "environment.column.",
    "error.diagnosis.",
    "error.label.",
    "report.",
    "run.board.",
    "run.state.",
    "server.differs.",
    "server.memory.",
    "server.stage.",
    "status.",
)
CHINESE = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")
NAMES_ONLY = {"run.lab", "status.column.pid"}


def _error_classes(known: type[errors.LabError]) -> list[type[errors.LabError]]:
    """Return an error class and all that derive from it; a family may define its own beside its
    code.
    """
    return [known, *(c for sub in known.__subclasses__() for c in _error_classes(sub))]


for _module in pkgutil.walk_packages([str(PACKAGE)], "helpers."):
    if not _module.name.endswith("__main__"):
        importlib.import_module(_module.name)
CLASSES = sorted(
    {c for c in _error_classes(errors.LabError) if c.__module__.startswith("helpers")},
    key=lambda c: c.code,
)


def _texts(language: str, code: str) -> list[str]:
    entry = messages.catalogue(language)[code]
    return [entry] if isinstance(entry, str) else list(entry.values())


def _placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def _all_placeholders(language: str, code: str) -> set[str]:
    return {name for text in _texts(language, code) for name in _placeholders(text)}


def _literals() -> set[str]:
    """Return every string constant and every constant beginning of an f-string in the package."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
    return found


def _asked_codes() -> set[str]:
    """Return the literal first arguments of messages.text and messages.parts in the package."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not (
                isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args
            ):
                continue
            owner = node.func.value
            if node.func.attr in ("text", "parts") and getattr(owner, "id", "") == "messages":
                found |= _constants(node.args[0])
    return found


def _constants(node: ast.expr) -> set[str]:
    branches = [node.body, node.orelse] if isinstance(node, ast.IfExp) else [node]
    return {n.value for n in branches if isinstance(n, ast.Constant) and isinstance(n.value, str)}


def test_codes_in_both_languages_are_the_same() -> None:
    assert sorted(messages.catalogue("en")) == CODES


@pytest.mark.parametrize("code", CODES)
def test_entry_in_both_languages_has_same_parts_and_placeholders(code: str) -> None:
    zh, en = messages.catalogue("zh")[code], messages.catalogue("en")[code]

    assert type(zh) is type(en)
    assert isinstance(zh, str) or list(zh) == list(en)
    assert _all_placeholders("zh", code) == _all_placeholders("en", code)


@pytest.mark.parametrize("code", [code for code in CODES if code not in NAMES_ONLY])
def test_zh_entry_contains_chinese_or_only_a_placeholder(code: str) -> None:
    for text in _texts("zh", code):
        assert CHINESE.search(text) or re.fullmatch(r"\{\w+\}", text), text


@pytest.mark.parametrize("code", CODES)
def test_en_entry_contains_no_chinese(code: str) -> None:
    assert not CHINESE.search(" ".join(_texts("en", code)))


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_no_code_stands_in_two_files(language: str) -> None:
    files = [p for p in (PACKAGE / "messages").glob("*.yml") if language in p.name.split(".")]

    codes = [code for path in files for code in yaml.safe_load(path.read_text("utf-8"))]

    assert len(codes) == len(set(codes)) == len(messages.catalogue(language))


@pytest.mark.parametrize("error", CLASSES, ids=lambda c: c.__name__)
def test_error_class_has_an_entry_of_three_parts(error: type[errors.LabError]) -> None:
    for language in messages.LANGUAGES:
        assert list(messages.catalogue(language)[error.code]) == ["what", "why", "next"]


def test_error_codes_of_two_classes_differ() -> None:
    codes = [error.code for error in CLASSES]

    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize("language", messages.LANGUAGES)
@pytest.mark.parametrize("error", CLASSES, ids=lambda c: c.__name__)
def test_error_told_with_its_values_fills_every_placeholder(
    error: type[errors.LabError], language: str
) -> None:
    names = _all_placeholders(language, error.code)

    told = error(**{name: f"<{name}>" for name in names}, evidence="proof", original="said").told(
        language
    )

    assert told.startswith(f"[{error.code}] ")
    assert all(f"<{name}>" in told for name in names)
    assert "proof" in told
    assert "said" in told


def test_literal_codes_in_the_package_exist() -> None:
    asked = _asked_codes()

    assert len(asked) > 40
    assert asked - set(CODES) == set()


def test_codes_without_a_user_are_none() -> None:
    literals = _literals()
    used = {error.code for error in CLASSES} | literals

    unused = [code for code in CODES if code not in used and not code.startswith(FAMILIES)]

    assert unused == []


@pytest.mark.parametrize("family", FAMILIES)
def test_family_of_codes_is_asked_for_by_its_prefix(family: str) -> None:
    assert family in _literals()


def test_text_of_an_unknown_code_raises_key_error() -> None:
    with pytest.raises(KeyError):
        messages.text("no.such.code")


def test_text_of_an_entry_with_parts_raises_key_error() -> None:
    with pytest.raises(KeyError, match="parts"):
        messages.text("model.empty", path="x")


def test_parts_of_a_single_text_raises_key_error() -> None:
    with pytest.raises(KeyError, match="single"):
        messages.parts("status.none")


def test_language_without_choice_is_chinese() -> None:
    assert messages.language() == "zh"


def test_language_from_the_variable_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_LANGUAGE", "en")

    assert messages.language() == "en"


def test_language_from_the_variable_that_is_none_of_ours_falls_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LAB_LANGUAGE", "fr")

    assert messages.language() == "zh"


def test_language_chosen_by_use_wins_over_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_LANGUAGE", "zh")

    messages.use("en")

    assert messages.text("yes") == "yes"


def test_use_of_another_language_is_refused() -> None:
    with pytest.raises(ValueError, match="zh"):
        messages.use("fr")
