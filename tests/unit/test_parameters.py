"""Tests of a parameter's default: LAB_<NAME> wins over the cell's value, and keeps its type."""

from __future__ import annotations

import pytest

from helpers import parameters
from helpers.errors import BadOption


def test_default_without_variable_is_the_cells_value() -> None:
    assert parameters.default("PORT", 8000) == 8000


@pytest.mark.parametrize(
    ("value", "given", "expected"),
    [
        (8000, "0", 0),
        ("auto", "cpu", "cpu"),
        ("", "007", "007"),
        ("zh", "", ""),
        (True, "false", False),
        (False, "true", True),
        (0.9, "0.5", 0.5),
        (0.9, "1", 1.0),
        ([], "[0, 1]", [0, 1]),
        (None, "4096", 4096),
        (None, "bfloat16", "bfloat16"),
        (None, "null", None),
    ],
)
def test_default_with_variable_is_read_as_the_values_type(
    monkeypatch: pytest.MonkeyPatch, value: object, given: str, expected: object
) -> None:
    monkeypatch.setenv("LAB_X", given)

    found = parameters.default("X", value)

    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("value", "given"),
    [
        (8000, "many"),
        (8000, "1.5"),
        (8000, "true"),
        (True, "1"),
        (0.9, "true"),
        ([], "0"),
        (8000, "{"),
    ],
)
def test_default_with_variable_of_another_type_is_refused(
    monkeypatch: pytest.MonkeyPatch, value: object, given: str
) -> None:
    monkeypatch.setenv("LAB_X", given)

    with pytest.raises(BadOption) as caught:
        parameters.default("X", value)

    assert "LAB_X" in caught.value.what


def test_default_of_two_types_takes_both_and_no_third(monkeypatch: pytest.MonkeyPatch) -> None:
    for given, expected in (("false", False), ("sha256:0f3a", "sha256:0f3a")):
        monkeypatch.setenv("LAB_X", given)
        assert parameters.default("X", True, str) == expected

    monkeypatch.setenv("LAB_X", "1")
    with pytest.raises(BadOption):
        parameters.default("X", True, str)
