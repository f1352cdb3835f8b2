"""Tell why `npu-smi` gave no table: its own error lines, the shell's and the loader's, English or
Chinese. Pure functions on text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from helpers.doctor import npu_smi
from helpers.doctor.reading import clean

Cause = Literal["device_used", "driver", "library", "missing", "permission", "no_such_card"]

_RETURNED = re.compile(r"\bret(?:urn code)?\s*(?:is|=|:)?\s*(-\d{3,6})\b", re.IGNORECASE)
_DCMI = re.compile(r"dcmi\b.*\b(?:initiali[sz]ed?|init)\b.*fail", re.IGNORECASE)
_USED = re.compile(r"device is used|is used by|-8020\b", re.IGNORECASE)
_LIBRARY = re.compile(
    r"\b(lib[\w.+-]+\.so(?:\.[\w.]+)?)\b(?=[^\n]*(?:cannot open|无法打开|not found))"
)
_LOADER = re.compile(r"(?:shared librar|共享库)[^\n]*?\b(lib[\w.+-]+\.so(?:\.[\w.]+)?)\b")
_MISSING = re.compile(
    r"npu-smi[^\n]*(?:command not found|not found|no such file|未找到命令|找不到命令|没有那个文件)"
    r"|(?:command not found|未找到命令|找不到命令)[^\n]*npu-smi",
    re.IGNORECASE,
)
_PERMISSION = re.compile(
    r"permission denied|operation not permitted|not permitted|no permission|access denied"
    r"|root user|权限不够|权限不足|拒绝访问|不允许的操作",
    re.IGNORECASE,
)
_CARD = re.compile(r"invalid (?:card|chip|npu|device) ?id|error parameter of -i", re.IGNORECASE)
_DRIVER = re.compile(r"DrvMng\w+ failed|driver (?:is )?not (?:loaded|installed)", re.IGNORECASE)


@dataclass(frozen=True)
class Failure:
    """Why there is no table.

    Attributes:
        cause: device_used (another container), driver (not reachable), library (loader), missing
            (no such command), permission, no_such_card.
        code: the number that it returned, for instance -8005.
        library: file name that the loader did not find.
        line: the line that says so.
    """

    cause: Cause
    code: int | None = None
    library: str | None = None
    line: str = ""


def failure(text: str) -> Failure | None:
    """Return why npu-smi failed, or None where the text does not say, or has a table of chips."""
    cleaned = clean(text)
    if npu_smi.table(cleaned).chips:
        return None
    returned = _RETURNED.search(cleaned)
    code = int(returned[1]) if returned else None
    library = _LOADER.search(cleaned) or _LIBRARY.search(cleaned)
    if library:
        return Failure("library", code, library[1], _line(cleaned, library.start()))
    rules: tuple[tuple[Cause, re.Pattern[str]], ...] = (
        ("missing", _MISSING),
        ("device_used", _USED),
        ("permission", _PERMISSION),
        ("no_such_card", _CARD),
        ("driver", _DCMI),
        ("driver", _DRIVER),
    )
    for cause, pattern in rules:
        found = pattern.search(cleaned)
        if found:
            return Failure(cause, code, None, _line(cleaned, found.start()))
    return Failure("driver", code, None, _line(cleaned, returned.start())) if returned else None


def _line(text: str, position: int) -> str:
    start = text.rfind("\n", 0, position) + 1
    return text[start:].partition("\n")[0].strip()
