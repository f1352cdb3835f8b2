"""What is said of the faults, by id, in the language in force. The texts stand in messages."""

from __future__ import annotations

from helpers import messages
from helpers.tables import Table


def said(family: str, name: str) -> str:
    """Return one text of a family, for instance said("faults.stories", "flag_unknown").

    Raises:
        KeyError: no such family or name.
    """
    texts = messages.catalogue(messages.language())[family]
    if isinstance(texts, str):
        raise KeyError(family)
    return texts[name]


def causes() -> Table:
    """Return the causes to choose from: id and meaning, in the order of their ids."""
    texts = messages.catalogue(messages.language())["faults.causes"]
    assert isinstance(texts, dict)
    head = (messages.text("faults.column.id"), messages.text("faults.column.meaning"))
    return Table(head, sorted(texts.items()))
