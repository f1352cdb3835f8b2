"""The knowledge base: entries and their signatures, read from knowledge/*.yml and checked.

A family is one file; its texts stand in messages/diagnose_<family>.zh.yml and .en.yml. Not for
searching a log: `findings` does that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from helpers import messages

FOLDER = Path(__file__).parent / "knowledge"
FAMILIES = (
    "diagnose.installation",
    "diagnose.device",
    "diagnose.start",
    "diagnose.weights",
    "diagnose.memory",
    "diagnose.runtime",
    "diagnose.distributed",
    "diagnose.requests",
    "diagnose.process",
    "diagnose.symptoms",
    "diagnose.notices",
)
PARTS = ("title", "cause", "fix", "confirm")
Kind = Literal["fault", "client", "consequence", "hint", "notice"]
Phase = Literal["start", "loading", "serving", "shutdown", "finished"]


def solid(text: str) -> bytes:
    """Return a literal as it is searched for, without blanks."""
    return text.replace(" ", "").encode()


def squeezed(pattern: str) -> str:
    """Return a regular expression for text without blanks: its own blanks, optional or not, go."""
    return pattern.replace(" ?", "").replace(" ", "")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Signature(_Strict):
    """What must stand in a log: a literal text, and what must and must not stand around it.

    Blanks and line ends do not count, in the log nor here: terminals wrap lines.

    Attributes:
        text: literal, in the log's own letters; stable words, never a run's numbers.
        pattern: regular expression that must be found around it; named groups become values.
        unless: regular expression that must not be found around it.
        near: literals that must stand within `within` characters before or after.
        not_near: literals that must not stand there: another statement that quotes this text.
        where: comparison of the values that the pattern's groups hold, "others > reserved".
        phase: the run must be in one of these phases at that line.
        whole: search ordinary INFO lines too (slower; for texts that vLLM prints at INFO).
        kind: instead of the entry's, for this signature.
    """

    text: str = Field(min_length=3)
    pattern: str | None = None
    unless: str | None = None
    near: tuple[str, ...] = ()
    not_near: tuple[str, ...] = ()
    within: int = 4000
    where: str | None = None
    phase: tuple[Phase, ...] = ()
    whole: bool = False
    kind: Kind | None = None

    @field_validator("pattern", "unless")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                re.compile(squeezed(value))
            except re.error as error:
                raise ValueError(f"not a regular expression: {value}") from error
            if r"\s" in value or "^" in value.replace("[^", "") or value.endswith("$"):
                raise ValueError("blanks and line ends do not count: no \\s, ^ or $")
        return value

    @property
    def needle(self) -> bytes:
        """Return the literal as it is searched for, without blanks."""
        return solid(self.text)


class Applies(_Strict):
    """Where an entry holds; None means everywhere."""

    engine: Literal["ascend", "cpu"] | None = None
    versions: str | None = None
    chip: str | None = None


class Entry(_Strict):
    """One thing that can be wrong (or looks wrong and is not), as its family's file describes it.

    Attributes:
        kind: fault; client (a request was refused, the server is well); consequence (something
            else failed before); hint (never decides alone); notice (harmless).
        generic: gives way to any entry that is not.
        notable: a notice worth naming as the answer where nothing else was found.
        covers: the shared cases that it explains.
        symptom: the row of the troubleshooting table that it belongs to.
    """

    id: str = Field(pattern=r"^[a-z0-9_]+$")
    family: str
    kind: Kind = "fault"
    generic: bool = False
    notable: bool = False
    stage: tuple[str, ...] = ()
    applies: Applies = Applies()
    confidence: Literal["high", "medium", "low", "unverified"]
    covers: tuple[str, ...] = ()
    symptom: str | None = None
    sources: tuple[str, ...] = Field(min_length=1)
    signatures: tuple[Signature, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _unverified_decides_nothing(self) -> Entry:
        if self.confidence == "unverified" and self.kind != "hint":
            raise ValueError(f"{self.id}: what nobody verified is a hint")
        return self

    def texts(self, language: str, values: Mapping[str, str]) -> dict[str, str]:
        """Return title, cause, fix and confirm, with what the log said filled in.

        Args:
            language: "zh" or "en".
            values: what the signature's groups hold; one that is missing shows as "…".
        """
        family = messages.catalogue(language)[self.family]
        if isinstance(family, str):
            raise KeyError(self.family)
        known = _Known(values)
        return {part: family[f"{self.id}.{part}"].format_map(known).strip() for part in PARTS}


class _Known(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "…"


@lru_cache(maxsize=1)
def entries() -> dict[str, Entry]:
    """Return every entry by id, in the order of the families and of their files."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found: dict[str, Entry] = {}
    for family in FAMILIES:
        path = FOLDER / f"{family.removeprefix('diagnose.')}.yml"
        for data in yaml.load(path.read_text(encoding="utf-8"), Loader=loader):
            entry = Entry(family=family, **data)
            if entry.id in found:
                raise ValueError(f"{entry.id} stands twice")
            found[entry.id] = entry
    return found
