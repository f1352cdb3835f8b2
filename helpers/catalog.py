"""The labs as course/catalog.yml describes them, and the version table. Reads; decides nothing."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import yaml

from helpers import messages, paths
from helpers.errors import UnknownLab
from helpers.options import Options, given
from helpers.tables import Table


@lru_cache(maxsize=1)
def labs() -> dict[str, dict[str, Any]]:
    """Return the catalogue's entries by lab id, in the course's order."""
    entries = yaml.safe_load((paths.COURSE / "catalog.yml").read_text(encoding="utf-8"))["labs"]
    return {entry["id"]: entry for entry in entries}


@lru_cache(maxsize=1)
def versions() -> dict[str, Any]:
    """Return course/versions.yml: the stacks, the defaults that the labs quote, the flags that we
    emit.
    """
    table: dict[str, Any] = yaml.safe_load(
        (paths.COURSE / "versions.yml").read_text(encoding="utf-8")
    )
    return table


def lab(name: str) -> dict[str, Any]:
    """Return one lab's entry.

    Raises:
        UnknownLab: no such lab; the message lists those that exist.
    """
    if name not in labs():
        raise UnknownLab(lab=name, labs=", ".join(labs()))
    return labs()[name]


def options(lab_id: str, engine_name: str, **chosen: Any) -> Options:
    """Return a lab's options on an engine: the course's values, overlaid with what was really
    chosen (not None).

    Args:
        lab_id: key of the catalogue.
        engine_name: "ascend", "cpu" or "remote".
        chosen: fields of Options; None means "the course's value".
    Raises:
        BadOption: an unknown name or a value that cannot be right.
    """
    values = dict(lab(lab_id)["values"].get(engine_name) or {})
    return Options(**(values | given(**chosen)))


def default(name: str, vllm: str) -> Any:
    """Return vLLM's own default of an option, as course/versions.yml quotes it.

    Args:
        name: field of Options.
        vllm: "0.18.0", "0.23.0" or "0.32.0".
    Raises:
        KeyError: not quoted for this option or version.
    """
    entries = {entry["name"]: entry["versions"] for entry in versions()["defaults"]}
    return entries[name][vllm]["value"]


def knobs(*names: str) -> Table:
    """Return a table of vLLM's own defaults in each version that the course was checked against.

    Args:
        names: fields of Options; each is quoted from course/versions.yml, which tests hold against
            vLLM's sources.
    """
    entries = {entry["name"]: entry for entry in versions()["defaults"]}
    columns = list(next(iter(entries.values()))["versions"])
    head = (messages.text("knobs.flag"), *(f"vLLM {version}" for version in columns))
    rows = [
        (entries[name]["flag"], *(_told(entries[name]["versions"][v]) for v in columns))
        for name in names
    ]
    return Table(head, rows)


def _told(quoted: dict[str, Any]) -> str:
    value = messages.text("knobs.unset") if quoted["value"] is None else json.dumps(quoted["value"])
    return f"{value} ({quoted['effective']})" if "effective" in quoted else value.strip('"')
