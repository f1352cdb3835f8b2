"""Python functions as tools: the schema that a model is told, and arguments held against it."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Optional

import pytest
from pydantic import BaseModel, Field

from helpers import tools
from helpers.tool_errors import DuplicateTool, InvalidArguments, NotATool
from helpers.tools import docstring, tool


class Unit(enum.Enum):
    CELSIUS = "celsius"
    KELVIN = "kelvin"


@dataclass
class Place:
    city: str
    title: str = ""


class Span(BaseModel):
    days: int


@tool
def forecast(
    city: str,
    days: int = 1,
    share: float = 0.5,
    loud: bool = False,
    unit: Unit = Unit.CELSIUS,
    day: Literal["today", "tomorrow"] = "today",
    tags: list[str] = [],  # noqa: B006  a default as a learner writes it
    note: Optional[str] = None,  # noqa: UP045
    place: Place | None = None,
    span: Span | None = None,
    hour: Annotated[int, Field(ge=0, le=23)] = 0,
) -> str:
    """Tell the weather of some days.

    Args:
        city: the city's name,
            as the user wrote it
        days (int): how many days
    Returns:
        A text.
    """
    return f"{city} {days}"


def test_tool_is_still_the_function_that_it_was() -> None:
    assert forecast("Bergen", days=2) == "Bergen 2"


def test_schema_is_an_entry_of_a_requests_tools() -> None:
    schema = forecast.schema

    assert schema["type"] == "function"
    assert schema["function"]["name"] == "forecast"
    assert schema["function"]["description"] == "Tell the weather of some days."
    assert schema["function"]["parameters"]["required"] == ["city"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("city", {"type": "string", "description": "the city's name, as the user wrote it"}),
        ("days", {"type": "integer", "default": 1, "description": "how many days"}),
        ("share", {"type": "number", "default": 0.5}),
        ("loud", {"type": "boolean", "default": False}),
        ("unit", {"$ref": "#/$defs/Unit", "default": "celsius"}),
        ("day", {"type": "string", "enum": ["today", "tomorrow"], "default": "today"}),
        ("tags", {"type": "array", "items": {"type": "string"}, "default": []}),
        ("note", {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}),
        ("place", {"anyOf": [{"$ref": "#/$defs/Place"}, {"type": "null"}], "default": None}),
        ("hour", {"type": "integer", "minimum": 0, "maximum": 23, "default": 0}),
    ],
)
def test_schema_of_each_type_is_json_schema(name: str, expected: dict[str, Any]) -> None:
    assert forecast.parameters["properties"][name] == expected


def test_schema_drops_titles_but_keeps_a_field_of_that_name() -> None:
    place = forecast.parameters["$defs"]["Place"]

    assert "title" not in place
    assert list(place["properties"]) == ["city", "title"]


def test_validated_arguments_have_the_functions_types() -> None:
    found = forecast.validated(
        '{"city": "Bergen", "days": "3", "unit": "kelvin", "place": {"city": "Porto"}}'
    )

    assert (found["city"], found["days"], found["unit"]) == ("Bergen", 3, Unit.KELVIN)
    assert found["place"] == Place("Porto")
    assert found["day"] == "today"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("{}", "city: Field required"),
        ('{"city": 7}', "city: Input should be a valid string"),
        ('{"city": "x", "days": "soon"}', "days: Input should be a valid integer"),
        ('{"city": "x", "hour": 24}', "hour: Input should be less than or equal to 23"),
        ('{"city": "x", "day": "never"}', "day: Input should be 'today' or 'tomorrow'"),
        ('{"city": "x", "wind": 1}', "wind: Extra inputs are not permitted"),
        ('{"city": "x", "span": {"days": "y"}}', "span.days: Input should be a valid integer"),
        ('{"city": ', "Invalid JSON"),
        ('["x"]', "Input should be an object"),
    ],
)
def test_arguments_that_do_not_fit_are_told_with_their_place(arguments: str, said: str) -> None:
    with pytest.raises(InvalidArguments) as caught:
        forecast.validated(arguments)

    assert said in str(caught.value.original)
    assert caught.value.values["name"] == "forecast"


def test_arguments_of_a_tool_without_parameters_may_be_empty_text() -> None:
    @tool
    def now() -> str:
        """Tell the time."""
        return "12:00"

    assert now.validated("") == {}
    assert now.parameters == {"type": "object", "properties": {}}


def test_parameters_named_like_parts_of_pydantic_work() -> None:
    @tool
    def odd(schema: str, copy: int, model_config: str, _hidden: str = "") -> str:
        """Take odd names."""
        return schema * copy

    found = odd.validated('{"schema": "a", "copy": 2, "model_config": "b"}')

    assert list(odd.parameters["properties"]) == ["schema", "copy", "model_config", "_hidden"]
    assert odd(**found) == "aa"


def _no_docstring(city: str) -> str:
    return city


def _no_type(city) -> str:  # type: ignore[no-untyped-def]
    """Say."""
    return str(city)


def _stars(*cities: str) -> str:
    """Say."""
    return " ".join(cities)


def _unknown_type(city: Nowhere) -> str:  # type: ignore[name-defined]  # noqa: F821
    """Say."""
    return str(city)


class _Opaque:
    pass


def _opaque(city: _Opaque) -> str:
    """Say."""
    return str(city)


@pytest.mark.parametrize("function", [_no_docstring, _no_type, _stars, _unknown_type, _opaque])
def test_function_that_cannot_be_described_is_refused_with_the_reason(function: Any) -> None:
    with pytest.raises(NotATool) as caught:
        tool(function)

    assert caught.value.values["name"] == function.__name__
    assert caught.value.original


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(DuplicateTool):
        tools.offered([forecast, forecast])


def test_plain_function_is_offered_as_a_tool() -> None:
    def shout(text: str) -> str:
        """Say it louder."""
        return text.upper()

    assert tools.offered([shout])["shout"].description == "Say it louder."


def test_docstring_without_sections_is_all_summary() -> None:
    assert docstring.summary("One line\n  and another.") == "One line and another."
    assert docstring.arguments("One line.") == {}
