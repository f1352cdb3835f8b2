"""Make the guide's claims pages from claims.yml, and hold the labs' badges against it.

Usage: python course/claims.py   (`make notebooks` runs it too)

An entry says what people believe, whether it holds, and on what evidence we say so. A lab shows the
entry as a small badge after the sentence that makes the claim, and `problems` tells where the two
do not fit together.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from helpers import messages, paths
from helpers.evidence.register import OPEN, Check

REGISTER = paths.COURSE / "claims.yml"
BADGE = re.compile(r"\[`([A-Z]\d+)`\]\([^)]*\)")
CELL = re.compile(r"^```\{code-cell\}.*?^```$", re.MULTILINE | re.DOTALL)
ISSUE = re.compile(r"^([\w.-]+/[\w.-]+)#(\d+)")
MEASURED = ("held-on-npu", "refuted-on-npu")


def _word(value: object) -> object:
    """Return YAML's bare true and false as the words that they were meant to be."""
    return str(value).lower() if isinstance(value, bool) else value


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Text(_Model):
    """One text in both languages."""

    zh: str = Field(min_length=1)
    en: str = Field(min_length=1)

    def said(self, language: str) -> str:
        """Return the text in a language ("zh" or "en")."""
        return str(getattr(self, language))


class Evidence(_Model):
    """One piece of evidence; exactly one field is set.

    Attributes:
        source: file:line@version of a source, or a document at a revision.
        issue: owner/name#number of a public thread.
        run: path::name of a test of this repository.
        seen: what was measured here without a test that repeats it, with versions.
    """

    source: str | None = None
    issue: str | None = Field(default=None, pattern=ISSUE.pattern)
    run: str | None = Field(default=None, pattern=r"^tests/[\w/]+\.py::test_\w+$")
    seen: str | None = None

    @model_validator(mode="after")
    def _one(self) -> Evidence:
        if len(self.model_fields_set) != 1 or not all(value for _, value in self.given()):
            raise ValueError("evidence has exactly one of source, issue, run, seen")
        return self

    def given(self) -> list[tuple[str, str]]:
        """Return (kind, text) of the field that is set."""
        return [(name, getattr(self, name)) for name in self.model_fields_set]


class Npu(_Model):
    """Where a claim was measured: status held-on-npu or refuted-on-npu."""

    chip: str = Field(min_length=1)
    versions: dict[str, str] = Field(min_length=1)
    date: str = Field(pattern=r"^\d{4}-\d\d-\d\d$")


class Entry(_Model):
    """One claim; claims.yml explains the fields, and helpers.evidence uses step and shown_by."""

    id: str = Field(pattern=r"^[A-Z]\d+$")
    claim: Text
    verdict: Annotated[Literal["true", "false", "partly", "unknown"], BeforeValidator(_word)]
    truth: Text
    evidence: list[Evidence] = Field(min_length=1)
    version: str = Field(min_length=1)
    status: Literal[
        "ran-on-cpu", "read-in-source", "unverified-on-npu", "held-on-npu", "refuted-on-npu"
    ]
    npu: Npu | None = None
    lab: str
    kind: Literal["experiment", "text"]
    step: str | None = None
    shown_by: list[Check] = Field(default=[])
    cell: str | None = None
    planned: bool = False

    @model_validator(mode="after")
    def _fits(self) -> Entry:
        if (self.npu is not None) != (self.status in MEASURED):
            raise ValueError(f"{self.id}: {MEASURED} need npu (chip, versions, date), others not")
        if self.planned and self.cell is not None:
            raise ValueError(f"{self.id}: a planned entry has no cell yet")
        if self.kind == "experiment" and not self.planned and not self.cell:
            raise ValueError(f"{self.id}: an experiment names a phrase of its cell")
        return self


class Register(_Model):
    """The whole of claims.yml."""

    schema_: Literal[1] = Field(alias="schema")
    labs: list[str]
    words: dict[str, dict[str, str]]
    claims: list[Entry]

    @model_validator(mode="after")
    def _fits(self) -> Register:
        ids = [entry.id for entry in self.claims]
        twice = sorted({one for one in ids if ids.count(one) > 1})
        named = {one.lab for entry in self.claims for one in (entry, *entry.shown_by)}
        strange = sorted(named - set(self.labs))
        if twice or strange:
            raise ValueError(f"ids used twice: {twice}; labs that are not listed: {strange}")
        return self


def load(path: Path = REGISTER) -> Register:
    """Return the register.

    Raises:
        pydantic.ValidationError: an entry is not what the models above say.
    """
    return Register.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))


def sources() -> dict[tuple[str, str], str]:
    """Return the text of every lab's source by (lab, language)."""
    found = {}
    for language in messages.LANGUAGES:
        for path in sorted((paths.COURSE / language).glob("[0-9]*.md")):
            found[path.stem, language] = path.read_text(encoding="utf-8")
    return found


def badge(claim: str, language: str) -> str:
    """Return the badge of an entry ("A12") as a lab's source has it."""
    return f"[`{claim}`](../../course/guide/claims.{language}.md#{claim.lower()})"


def problems(register: Register, labs: dict[tuple[str, str], str]) -> list[str]:
    """Return a line for each place where labs and register do not fit together.

    Args:
        labs: text of each lab's source by (lab, language).
    """
    found = [
        line for (lab, language) in labs for line in _bad_badges(register, labs, lab, language)
    ]
    for lab in sorted({lab for lab, _ in labs}):
        shown = [BADGE.findall(labs.get((lab, language), "")) for language in messages.LANGUAGES]
        if shown[0] != shown[1]:
            found.append(f"{lab}: the badges of zh and en differ")
    for entry in register.claims:
        found += _missing(entry, labs)
    return found


def _bad_badges(
    register: Register, labs: dict[tuple[str, str], str], lab: str, language: str
) -> list[str]:
    text, known = labs[lab, language], {entry.id for entry in register.claims}
    found = []
    for match in BADGE.finditer(text):
        if match[1] not in known:
            found.append(f"{language}/{lab}: badge {match[1]} has no entry")
        elif match[0] != badge(match[1], language):
            found.append(f"{language}/{lab}: badge {match[1]} leads elsewhere")
    if any(BADGE.search(cell) for cell in CELL.findall(text)):
        found.append(f"{language}/{lab}: a badge stands in a code cell")
    return found


def _missing(entry: Entry, labs: dict[tuple[str, str], str]) -> list[str]:
    """Return what an entry promises and its lab does not have, in either language."""
    exists = any(lab == entry.lab for lab, _ in labs)
    if entry.planned and exists:
        return [f"{entry.id}: {entry.lab} exists, so the entry is no longer planned"]
    if entry.planned:
        return []
    if not exists:
        return [f"{entry.id}: {entry.lab} does not exist, so the entry is planned"]
    found = []
    for language in messages.LANGUAGES:
        text = labs.get((entry.lab, language), "")
        cells = CELL.findall(text)
        if entry.id not in BADGE.findall(text):
            found.append(f"{entry.id}: {language}/{entry.lab} shows no badge")
        if entry.cell and not any(entry.cell in cell for cell in cells):
            found.append(f"{entry.id}: no cell of {language}/{entry.lab} has {entry.cell!r}")
        if entry.step and not any(f'"{entry.step}"' in cell for cell in cells):
            found.append(f"{entry.id}: {language}/{entry.lab} has no checkpoint {entry.step!r}")
        for one in entry.shown_by:
            if f'"{one.step}"' not in "".join(CELL.findall(labs.get((one.lab, language), ""))):
                found.append(f"{entry.id}: {language}/{one.lab} has no checkpoint {one.step!r}")
    return found


def page(language: str) -> str:
    """Return the page in a language ("zh" or "en")."""
    register = load()
    words = register.words[language]
    lines = [words["title"], "", words["lead"], ""]
    for entry in register.claims:
        lines += _section(entry, language, words)
    return "\n".join(lines)


def _section(entry: Entry, language: str, words: dict[str, str]) -> list[str]:
    colon = words["colon"]
    taught = f"`{entry.lab}` ({words['planned' if entry.planned else entry.kind]})"
    status = words[entry.status]
    if entry.npu is not None:
        versions = ", ".join(f"{name} {value}" for name, value in entry.npu.versions.items())
        status += f"{colon}{entry.npu.chip}, {versions}, {entry.npu.date}"
    return [
        f'<a id="{entry.id.lower()}"></a>',
        "",
        f"## `{entry.id}` {entry.claim.said(language)}",
        "",
        f"**{words[entry.verdict]}**{words['end']}{entry.truth.said(language)}",
        "",
        f"- {words['evidence']}{colon}".rstrip(),
        *(f"  - {line}" for line in _evidence(entry, words)),
        f"- {words['version']}{colon}{entry.version}",
        f"- {words['status']}{colon}{status}",
        f"- {words['taught']}{colon}{taught}",
        *_shown_by(entry, words),
        "",
    ]


def _shown_by(entry: Entry, words: dict[str, str]) -> list[str]:
    """Return the line that says what an NPU has to show, while nobody has run it on one."""
    checks = ", ".join(f"`{one.lab}` `{one.step}`" for one in entry.shown_by)
    wanted = checks and entry.status == OPEN
    return [f"- {words['shown_by']}{words['colon']}{checks}".rstrip()] if wanted else []


def _evidence(entry: Entry, words: dict[str, str]) -> list[str]:
    """Return a line for each piece of evidence, issues as links."""
    lines = []
    for kind, text in (pair for one in entry.evidence for pair in one.given()):
        shown = f"`{text}`" if kind == "run" else text
        if kind == "issue":
            shown = ISSUE.sub(r"[\g<0>](https://github.com/\1/issues/\2)", text)
        lines.append(f"{words[kind]}{words['colon']}{shown}")
    return lines


def target(language: str) -> Path:
    """Return the path of a page."""
    return paths.COURSE / "guide" / f"claims.{language}.md"


def main() -> int:
    """Write the pages, tell what does not fit, and return the exit status."""
    for language in messages.LANGUAGES:
        target(language).write_text(page(language), encoding="utf-8")
    found = problems(load(), sources())
    print("\n".join(found) or "course/claims.yml and the labs fit together")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
