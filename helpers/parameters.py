"""The default of a notebook's parameter: LAB_<NAME> where it is set, else the value in the cell.

It is called inside the parameters cell, so that what papermill injects after that cell wins over
both. nbval ignores papermill's parameters: there the variable is the way to set one.
"""

from __future__ import annotations

import os
from typing import Any

import yaml

from helpers.errors import BadOption


def default(name: str, value: Any, also: type | None = None) -> Any:
    """Return LAB_<name> if it is set, else the value; text stays text, anything else is read as
    YAML.

    Args:
        name: the parameter, for instance "PORT".
        value: the cell's own default; its type is kept, None takes whatever the variable says.
        also: another type that the parameter may have. Never named in a parameters cell: papermill
            cannot read a line with two equal signs.
    Raises:
        BadOption: the variable cannot be read as the value's type.
    """
    given = os.environ.get(f"LAB_{name}")
    if given is None:
        return value
    if isinstance(value, str):
        return given
    try:
        read = yaml.safe_load(given)
    except yaml.YAMLError as error:
        raise BadOption(
            name=f"LAB_{name}", value=repr(given), rule="YAML", original=str(error)
        ) from error
    if isinstance(value, float) and isinstance(read, int) and not isinstance(read, bool):
        return float(read)
    if value is not None and type(read) not in (type(value), also):
        raise BadOption(name=f"LAB_{name}", value=repr(given), rule=type(value).__name__)
    return read
