"""One hand-in, from bytes to cells: JSON, then nbformat's own validation, then a model of what the
class view looks at. Runs nothing that stands in it.
"""

from __future__ import annotations

import json
import warnings
from typing import Annotated, Any

import nbformat
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from helpers.classview import cleaning
from helpers.classview.errors import NotANotebook, NotJson, OldFormat

MOST_DIGITS = 20
"""Digits of a whole number; Python 3.10 takes minutes for one of millions."""


def _joined(value: object) -> object:
    """Return nbformat's multi-line text as one: it may be a list of lines."""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "".join(value)
    return value


Text = Annotated[str, BeforeValidator(_joined)]


class Output(BaseModel):
    """What a cell has shown: a MIME bundle, or an error; anything else of it is left out."""

    model_config = ConfigDict(extra="ignore")

    output_type: str
    data: dict[str, Any] = {}
    ename: str = ""
    evalue: str = ""

    def text(self, mime: str) -> str | None:
        """Return the bundle's text of a MIME type, or None."""
        found = _joined(self.data.get(mime))
        return found if isinstance(found, str) else None


class Cell(BaseModel):
    """A code cell; `number` counts the notebook's code cells from 1."""

    model_config = ConfigDict(extra="ignore")

    number: int = 0
    id: str = ""
    source: Text
    execution_count: int | None = None
    outputs: list[Output] = []
    tags: list[str] = []

    @model_validator(mode="before")
    @classmethod
    def _with_tags(cls, value: Any) -> Any:
        tags = value["metadata"].get("tags", []) if isinstance(value, dict) else []
        return {**value, "tags": tags}

    @property
    def is_blank(self) -> bool:
        """Return True for a cell without code: Jupyter gives it no execution count."""
        return not self.source.strip()


class Notebook(BaseModel):
    """The code cells of a notebook, and the mark that the course gave the lab when it was built."""

    cells: list[Cell]
    fingerprint: str = Field("", description="metadata.labs.fingerprint of course/build.py")


def notebook(body: bytes, file: str) -> Notebook:
    """Return the notebook that bytes hold.

    Args:
        body: the file's content.
        file: its name for people.
    Raises:
        NotJson: it does not parse, or not within the parser's depth.
        OldFormat: nbformat 3, or one that does not exist yet.
        NotANotebook: JSON, but no valid notebook.
    """
    found = _json(body, file)
    if not isinstance(found, dict) or not isinstance(found.get("cells", []), list):
        raise NotANotebook(file=file)
    if found.get("nbformat") != 4 or not isinstance(found.get("nbformat_minor"), int):
        raise OldFormat(file=file, found=cleaning.line(str(found.get("nbformat")), 20))
    try:
        _validate(found)
        return _modelled(found)
    except (nbformat.ValidationError, ValidationError) as error:
        raise NotANotebook(file=file, original=cleaning.first_line(str(error))) from None
    except (AssertionError, AttributeError, KeyError, RecursionError, TypeError, ValueError):
        raise NotANotebook(file=file) from None  # nbformat itself stumbles over some shapes


def _json(body: bytes, file: str) -> Any:
    try:
        return json.loads(body.decode("utf-8-sig"), parse_int=_whole)
    except (RecursionError, ValueError) as error:
        raise NotJson(file=file, original=cleaning.first_line(str(error))) from None


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def _validate(found: dict[str, Any]) -> None:
    """Raise where nbformat finds a notebook invalid; the notebook itself is left as it is, also
    where a cell has no id.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        copy = nbformat.from_dict(found)  # type: ignore[no-untyped-call]
        nbformat.validate(copy, relax_add_props=True)


def _modelled(found: dict[str, Any]) -> Notebook:
    code = [cell for cell in found["cells"] if cell["cell_type"] == "code"]
    labs = found["metadata"].get("labs")
    mark = labs.get("fingerprint") if isinstance(labs, dict) else None
    cells = [Cell(**cell | {"number": number}) for number, cell in enumerate(code, 1)]
    return Notebook(cells=cells, fingerprint=mark if isinstance(mark, str) else "")
