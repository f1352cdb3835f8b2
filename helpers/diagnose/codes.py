"""Codes of CANN, torch_npu, HCCL and HIXL explained from tables, also those that no entry lists.

Source: torch_npu csrc/core/npu/NPUErrorCodes.h and NPUException.h; the CANN components' error
codes; HIXL docs/zh/api/cpp/HIXL-error-code.md. Not for choosing the cause: `verdict` does that.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from helpers import messages

WRAPPERS = re.compile(r"ERR\d{5}|E[A-Z1-9]9999|50000[0-4]|HCCL\d+")
_MEMORY = ("200000", "207001", "207005", "207018", "300000")
_RESOURCES = ("207007", "207008", "207009", "207010", "207011")
_NUMBER = re.compile(
    rb"(?i:code|result|\bret|return|status|errno|error)[a-z]{0,5}[=:\[(,]{0,2}(?:0x[0-9a-f]+,)?(\d{6})(?!\d)"
)
_MARKED = re.compile(rb"(ERR\d{5})")
_FAMILY = re.compile(rb"(?<![0-9])(E[A-Z]\d{4}|E[1-9]9999)(?![0-9A-Za-z])")
_HCCL = re.compile(rb"(?:HCCLfunctionerror|Hccl\w+,?)[^0-9]{0,200}?errorcodeis(\d{1,2})(?!\d)")


class Code(NamedTuple):
    """A code and where it stands: an offset of the text that was searched."""

    name: str
    offset: int


def _table(kind: str) -> dict[str, str]:
    found = messages.catalogue("en")["diagnose.codes"]
    assert isinstance(found, dict)
    return {name.removeprefix(kind): text for name, text in found.items() if name.startswith(kind)}


def is_known(name: str) -> bool:
    """Return whether the tables can say anything about a code."""
    if name.startswith("ERR"):
        return name[3:5] in _table("module.") and name[5:] in _table("reason.")
    if name.startswith("HCCL"):
        return name[4:] in _table("hccl.")
    return name in _table("code.") or name[:2] in _table("component.")


def find(text: bytes) -> list[Code]:
    """Return the codes of a squeezed text in their order.

    A number counts only beside a word such as "error code", and only if a table holds it.
    """
    numbers = _table("code.")
    found = [
        Code(match.group(1).decode(), match.start(1))
        for match in _NUMBER.finditer(text)
        if match.group(1).decode() in numbers
    ]
    for pattern in (_MARKED, _FAMILY):
        found += [Code(match.group(1).decode(), match.start(1)) for match in pattern.finditer(text)]
    found += [Code("HCCL" + m.group(1).decode(), m.start(1)) for m in _HCCL.finditer(text)]
    return sorted((code for code in found if is_known(code.name)), key=lambda code: code.offset)


def explain(name: str, language: str) -> dict[str, str]:
    """Return title, cause, fix and confirm of a code, composed from the tables.

    Args:
        name: "507015", "ERR01007", "EI0002", "HCCL9".
        language: "zh" or "en".
    Raises:
        KeyError: no table holds it.
    """
    texts = messages.catalogue(language)["diagnose.codes"]
    assert isinstance(texts, dict)
    if name.startswith("ERR"):
        meaning = texts["form.marked"].format(
            module=texts[f"module.{name[3:5]}"], reason=texts[f"reason.{name[5:]}"]
        )
        group = "marked"
    elif name.startswith("HCCL"):
        meaning, group = texts[f"hccl.{name[4:]}"], "hccl"
    elif name.isdigit():
        meaning, group = texts[f"code.{name}"], _group(name)
    else:
        component = texts[f"component.{name[:2]}"]
        special = texts.get(f"code.{name}")
        form = "form.family" if special else "form.family_unlisted"
        meaning = texts[form].format(component=component, meaning=special or "")
        group = "EI" if name.startswith(("EI", "EJ")) else "family"
    shown = name.removeprefix("HCCL")
    return {
        "title": texts["form.title"].format(code=shown, meaning=meaning),
        "cause": texts[f"cause.{group}"].format(code=shown, meaning=meaning),
        "fix": texts[f"fix.{group}"].strip(),
        "confirm": texts["confirm"].strip(),
    }


def _group(number: str) -> str:
    """Return which advice a number gets: by its range, which is how CANN numbers its layers."""
    if number in _MEMORY:
        return "memory"
    if number in _RESOURCES:
        return "resource"
    if number.startswith(("5039", "1039")):
        return "hixl"
    if number[:3] in ("561", "161", "361"):
        return "aclnn"
    if number.startswith("5078") or number.startswith("5079") or number in ("507033", "507008"):
        return "device"
    return "usage" if number.startswith(("10", "14", "20")) else "execution"
