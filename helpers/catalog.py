"""The labs as course/catalog.yml describes them, and the version table. Reads; decides nothing."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import yaml

from helpers import paths
from helpers.options import Options, given


@lru_cache(maxsize=1)
def labs() -> dict[str, dict[str, Any]]:
    """Return the catalogue's entries by lab id, in the course's order."""
    entries = yaml.safe_load((paths.COURSE / "catalog.yml").read_text(encoding="utf-8"))["labs"]
    return {entry["id"]: entry for entry in entries}


@lru_cache(maxsize=1)
def versions() -> dict[str, Any]:
    """Return course/versions.yml: the stacks, the defaults that the labs quote, the flags that we emit."""
    return yaml.safe_load((paths.COURSE / "versions.yml").read_text(encoding="utf-8"))


def lab(name: str) -> dict[str, Any]:
    """Return one lab's entry.

    Raises:
        KeyError: no such lab; the message lists those that exist.
    """
    if name not in labs():
        raise KeyError(f"{name}: not in course/catalog.yml ({', '.join(labs())})")
    return labs()[name]


def options(lab_id: str, engine_name: str, **chosen: Any) -> Options:
    """Return a lab's options on an engine: the course's values, overlaid with what was really chosen (not None).

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
    """Return vLLM's own default of an option in a version, as course/versions.yml quotes it (0.18.0, 0.23.0 or 0.32.0)."""
    return versions()["defaults"][name]["values"][vllm]
