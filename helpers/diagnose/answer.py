"""The form of a diagnosis, as others rely on it (`diagnose --json`), and its texts in a language.

Fields may be added, never renamed. Not for finding anything: `verdict` fills it in.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from helpers import messages
from helpers.diagnose import codes
from helpers.diagnose.knowledge import PARTS, entries

Confidence = Literal["high", "medium", "low"]
Stage = Literal["loading", "serving", "shutdown", "finished"]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True, protected_namespaces=())


class Evidence(_Form):
    """A line of the log; `line` counts from 1."""

    line: int
    text: str


class Harmless(_Form):
    """A line that looks like trouble and is none, and the entry that says so."""

    line: int
    id: str


class Diagnosis(_Form):
    """What a log says.

    Attributes:
        verdict: fault; healthy; unknown (nothing known, or nothing that says how it went).
        entry: id in the knowledge base or "code.<code>"; None where nothing is known. A healthy log
            may name one too: a harmless line that worries people, a refused request.
        stage: loading, serving, shutdown or finished; None where the log does not tell.
        step: plugin, config, weights, kv_cache, graph, ready, serving, shutdown or finished.
        title: the conclusion in one line. cause, advice, confirm: in the language asked for.
        also: other entries that were found, unverified hints included.
        source: the file's name, or "-"; None for a text.
    """

    schema_: Literal[1] = Field(default=1, alias="schema")
    verdict: Literal["fault", "healthy", "unknown"]
    entry: str | None
    confidence: Confidence
    stage: Stage | None
    step: str | None = None
    evidence: list[Evidence]
    title: str
    cause: str
    advice: list[str]
    confirm: str = ""
    sources: list[str]
    also: list[str]
    harmless: list[Harmless]
    process: str | None = None
    source: str | None = None
    language: Literal["zh", "en"] = "zh"

    def as_json(self) -> str:
        """Return the interface's JSON, one object."""
        return self.model_dump_json(by_alias=True, indent=2)

    def __str__(self) -> str:
        from helpers.diagnose.show import text

        return text(self)

    def _repr_html_(self) -> str:
        from helpers.diagnose.show import html

        return html(self)


def texts(entry: str, language: str, values: dict[str, str]) -> dict[str, str]:
    """Return title, cause, fix and confirm of an entry or of a code.

    Args:
        entry: id of an entry, "code.<code>", "none.<case>" where there is neither.
        values: what the log said, for the placeholders.
    """
    if entry.startswith("code."):
        return codes.explain(entry.removeprefix("code."), language)
    if entry.startswith("none."):
        family = messages.catalogue(language)["diagnose.answers"]
        assert isinstance(family, dict)
        case = entry.removeprefix("none.")
        return {part: family[f"{case}.{part}"].format(**values).strip() for part in PARTS}
    return entries()[entry].texts(language, values)


def sources(entry: str) -> list[str]:
    """Return where the explanation of an entry or of a code comes from."""
    if entry.startswith("code."):
        return list(_CODE_SOURCES)
    return list(entries()[entry].sources) if entry in entries() else []


_CODE_SOURCES = (
    "Ascend/pytorch torch_npu/csrc/core/npu/NPUErrorCodes.h",
    "Ascend/pytorch torch_npu/csrc/core/npu/NPUException.h",
    "hicann/hixl docs/zh/api/cpp/HIXL-error-code.md",
)
