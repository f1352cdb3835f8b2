"""One finding: what was looked at, how it stands, the evidence, why it matters, what to do.

Texts are looked up when they are read, in the language then in force. Which findings there are is
the rules' business; their order is that of `rules.ORDER`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from helpers import messages, paths

Status = Literal["ok", "warning", "problem", "unknown"]
PREFIX = "doctor."
STATUS_CODES: dict[Status, str] = {
    "problem": "doctor.status.problem",
    "unknown": "doctor.status.unknown",
    "warning": "doctor.status.warning",
    "ok": "doctor.status.ok",
}


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's report.

    Attributes:
        code: of its two texts (name, why) in messages; its id without the prefix.
        status: unknown where it could not be seen: never a guess.
        evidence: what was seen, mostly as the tools print it; home and state are abbreviated.
        advice_code: of the text that says what to do; None where there is nothing to do.
        values: for that text's placeholders.
    """

    code: str
    status: Status
    evidence: str
    advice_code: str | None = None
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Return its id, for instance "npu.health"."""
        return self.code.removeprefix(PREFIX)

    @property
    def name(self) -> str:
        """Return what was looked at, in a few words."""
        return messages.parts(self.code)["name"]

    @property
    def why(self) -> str:
        """Return why it matters."""
        return messages.parts(self.code)["why"]

    @property
    def advice(self) -> str:
        """Return what to do, or "" where there is nothing to do."""
        return messages.text(self.advice_code, **self.values) if self.advice_code else ""

    def as_json(self) -> dict[str, str]:
        """Return the form that `doctor --json` prints."""
        return {
            "id": self.id,
            "status": self.status,
            "evidence": self.evidence,
            "why": self.why,
            "advice": self.advice,
        }


def ok(code: str, evidence: str, advice: str | None = None, **values: Any) -> Finding:
    """Return a finding that all is well; an advice then only explains."""
    return Finding(code, "ok", paths.shown(evidence), advice, values)


def warning(code: str, evidence: str, advice: str, **values: Any) -> Finding:
    """Return a finding that a lab will meet, and most often survive."""
    return Finding(code, "warning", paths.shown(evidence), advice, values)


def problem(code: str, evidence: str, advice: str, **values: Any) -> Finding:
    """Return a finding that something will not work as it is."""
    return Finding(code, "problem", paths.shown(evidence), advice, values)


def unknown(code: str, evidence: str, advice: str, **values: Any) -> Finding:
    """Return a finding that it could not be seen, and how to see it."""
    return Finding(code, "unknown", paths.shown(evidence), advice, values)
