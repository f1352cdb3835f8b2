"""A typed Python function as a tool: its JSON Schema, and arguments validated against it.

pydantic makes the schema and validates; nothing here runs a tool or talks to a model.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.errors import PydanticUserError

from helpers.tool_errors import DuplicateTool, InvalidArguments, NotATool
from helpers.tools import docstring

_POSSIBLE = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True)
class Tool:
    """A function that a model may ask for.

    Attributes:
        name, description: what the model is told of it.
        function: what is run.
        model: the pydantic model of its arguments.
        names: field of the model → parameter of the function.
    """

    name: str
    description: str
    function: Callable[..., Any]
    model: type[BaseModel]
    names: dict[str, str]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the function returns: a tool is still the function that it was."""
        return self.function(*args, **kwargs)

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the JSON Schema of the arguments, without the titles that only cost tokens."""
        made = _without_titles(self.model.model_json_schema(by_alias=True))
        made.pop("additionalProperties", None)  # implied: unknown arguments are refused anyway
        made.pop("description", None)
        ordered = {"type": "object", "properties": made.pop("properties", {})}
        return ordered | {name: value for name, value in made.items() if name != "type"}

    @property
    def schema(self) -> dict[str, Any]:
        """Return the tool as an entry of a request's `tools`."""
        function = {"name": self.name, "description": self.description}
        return {"type": "function", "function": function | {"parameters": self.parameters}}

    def validated(self, arguments: str) -> dict[str, Any]:
        """Return keyword arguments for the function, converted to its types.

        Args:
            arguments: JSON text, as the model sent it.
        Raises:
            InvalidArguments: they do not fit; the original is a line for each finding.
        """
        try:
            found = self.model.model_validate_json(arguments or "{}")
        except ValidationError as error:
            told = "\n".join(_finding(one) for one in error.errors())
            raise InvalidArguments(name=self.name, original=told) from error
        return {name: getattr(found, field) for field, name in self.names.items()}


def tool(function: Callable[..., Any]) -> Tool:
    """Return a function as a tool; use it as a decorator.

    Types become the schema (defaults, Literal, Enum, Optional, lists, dataclasses, pydantic models,
    Annotated with a pydantic Field); the docstring's first lines and its Args become descriptions.

    Raises:
        NotATool: a parameter without a type or a name, a type that has no JSON Schema, no
            docstring.
    """
    name = getattr(function, "__name__", type(function).__name__)
    told = inspect.getdoc(function) or ""
    if not told:
        raise NotATool(name=name, original="no docstring")
    try:
        hints = typing.get_type_hints(function, include_extras=True)
        described = docstring.arguments(told)
        parameters = list(inspect.signature(function).parameters.values())
        fields: dict[str, Any] = {}
        for number, one in enumerate(parameters):
            if one.kind not in _POSSIBLE or one.name not in hints:
                raise NotATool(name=name, original=f"parameter {one}")
            default = ... if one.default is inspect.Parameter.empty else one.default
            field = Field(default, alias=one.name, description=described.get(one.name))
            fields[f"argument_{number}"] = (hints[one.name], field)
        made = create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
        made.model_json_schema()
    except (NameError, TypeError, ValueError, PydanticUserError) as error:
        raise NotATool(name=name, original=str(error)) from error
    names = {f"argument_{number}": one.name for number, one in enumerate(parameters)}
    return Tool(name, docstring.summary(told), function, made, names)


def offered(tools: Sequence[Tool | Callable[..., Any]]) -> dict[str, Tool]:
    """Return tools by name, plain functions made tools.

    Raises:
        DuplicateTool: two of them have one name.
        NotATool: as `tool`.
    """
    found: dict[str, Tool] = {}
    for one in tools:
        made = one if isinstance(one, Tool) else tool(one)
        if made.name in found:
            raise DuplicateTool(name=made.name)
        found[made.name] = made
    return found


def _finding(error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"])
    return f"{where}: {error['msg']}" if where else str(error["msg"])


def _without_titles(value: Any, named: bool = False) -> Any:
    """Return a schema without pydantic's titles.

    Args:
        named: True where the keys are names of the learner's (a field may be called "title").
    """
    if isinstance(value, list):
        return [_without_titles(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _without_titles(one, name in ("properties", "$defs") and not named)
        for name, one in value.items()
        if named or name != "title"
    }
