"""course/claims.yml as evidence needs it: which checkpoint shows a claim, and a status changed in
place.

The file is edited line by line, so that its comments and its layout stay as people wrote them; the
register as a whole is checked by course/claims.py.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict

from helpers import paths
from helpers.evidence.errors import RegisterStrange

PATH = paths.COURSE / "claims.yml"
OPEN = "unverified-on-npu"
Status = Literal["held-on-npu", "refuted-on-npu"]


class Check(BaseModel):
    """One checkpoint that has to pass, and a text that its lab has to print, if any."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    lab: str
    step: str
    output: str | None = None


class Claim(BaseModel):
    """An entry, as far as a run can say something of it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str
    status: str
    lab: str
    step: str | None = None
    shown_by: tuple[Check, ...] = ()

    @property
    def checks(self) -> tuple[Check, ...]:
        """Return what has to be seen on an NPU: `shown_by`, else the entry's own checkpoint."""
        if self.shown_by or self.step is None:
            return self.shown_by
        return (Check(lab=self.lab, step=self.step),)


def read(path: Path = PATH) -> list[Claim]:
    """Return the entries of the register, in order.

    Raises:
        pydantic.ValidationError: an entry lacks what is needed here.
    """
    return [Claim.model_validate(entry) for entry in _entries(path.read_text(encoding="utf-8"))]


def with_status(text: str, claim: str, status: Status, npu: dict[str, Any]) -> str:
    """Return the register's text with one entry's status changed and where it was seen, all other
    lines as they were.

    Args:
        text: of claims.yml.
        claim: id of an entry whose status is unverified-on-npu.
        npu: chip, versions, date.
    Raises:
        RegisterStrange: the entry or its status line is not found, or more than they would change.
    """
    block = re.search(rf"^  - id: {re.escape(claim)}$.*?(?=^  - id: |\Z)", text, re.M | re.S)
    old = re.search(rf"^    status: {OPEN}$", block.group(), re.M) if block else None
    if block is None or old is None:
        raise RegisterStrange(claim=claim)
    new = f"    status: {status}\n    npu: {json.dumps(npu, ensure_ascii=False)}"
    start = block.start() + old.start()
    changed = text[:start] + new + text[start + len(old.group()) :]
    expected = [
        entry | {"status": status, "npu": npu} if entry["id"] == claim else entry
        for entry in _entries(text)
    ]
    if _entries(changed) != expected:
        raise RegisterStrange(claim=claim)
    return changed


def _entries(text: str) -> list[dict[str, Any]]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return list(yaml.load(text, Loader=loader)["claims"])
