"""What every error of the course is: what happened, why, and what to do next, in the learner's
language; and what the log says, read when it is shown or asked for.

Not for the causes: `errors` and the families beside their subjects have one class for each. Not for
reading a log: `diagnose` does, and is imported only then.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from helpers import messages

if TYPE_CHECKING:  # half a second that only an error which is shown may cost
    from helpers.diagnose import Diagnosis


class LabError(Exception):
    """A failure that a learner can cause or meet, told in three sentences.

    Attributes:
        code: key of its texts in messages/zh.yml and en.yml.
        names_cause: whether these texts name the cause; else the diagnosis, where there is one, is
            told with them.
        what, why, next: the three texts in the language in force when they are read.
        evidence: lines that prove it (a log's tail, a listing), or None.
        original: the text of the program that complained first, unchanged, or None.
        log_file: the whole log behind it, or None.
    """

    code: ClassVar[str] = "lab.error"
    names_cause: ClassVar[bool] = True

    def __init_subclass__(cls, *, names_cause: bool = True) -> None:
        """Take whether a class's texts name the cause: a more special one's do, unless it says
        otherwise, whatever it derives from.
        """
        super().__init_subclass__()
        cls.names_cause = names_cause

    def __init__(
        self,
        *,
        evidence: str | None = None,
        original: str | None = None,
        log_file: str | Path | None = None,
        **values: Any,
    ) -> None:
        self.values = values
        self.evidence = evidence
        self.original = original
        self.log_file = None if log_file is None else Path(log_file)
        self._diagnoses: dict[str, Diagnosis | None] = {}
        super().__init__(self.code)

    @property
    def what(self) -> str:
        """Return what happened, one sentence."""
        return messages.parts(self.code, **self.values)["what"]

    @property
    def why(self) -> str:
        """Return why it happened, as far as known."""
        return messages.parts(self.code, **self.values)["why"]

    @property
    def next(self) -> str:
        """Return what to do next."""
        return messages.parts(self.code, **self.values)["next"]

    @property
    def diagnosis(self) -> Diagnosis | None:
        """Return what the log, else the original text, is known to mean, in the language in force;
        None where that is not known.

        Read once, when it is first asked for.
        """
        return self._diagnosed(messages.language())

    def told(self, language: str | None = None) -> str:
        """Return the whole message, diagnosis, original text and evidence included.

        Args:
            language: "zh" or "en"; None takes the language in force.
        """
        said = messages.parts(self.code, language, **self.values)
        label = {
            name: messages.text(f"error.label.{name}", language)
            for name in ("why", "next", "evidence", "original")
        }
        lines = [
            f"[{self.code}] {said['what']}",
            f"{label['why']}{said['why']}",
            f"{label['next']}{said['next']}",
            *self._told_diagnosis(language or messages.language()),
        ]
        if self.original:
            lines.append(f"{label['original']}{self.original}")
        if self.evidence:
            lines += [label["evidence"], *(f"    {line}" for line in self.evidence.splitlines())]
        return "\n".join(lines)

    def _diagnosed(self, language: str) -> Diagnosis | None:
        """Return the diagnosis in a language, or None; no failure of reading it may stand before
        the failure that it was asked about.
        """
        if language not in self._diagnoses:
            said = "\n".join(part for part in (self.original, self.evidence) if part)
            try:
                from helpers.diagnose import attached

                found = attached.find(self.log_file, said, language)
            except Exception:  # noqa: BLE001 - whatever it is, the error itself must be told
                found = None
            self._diagnoses[language] = found
        return self._diagnoses[language]

    def _told_diagnosis(self, language: str) -> list[str]:
        """Return the lines that the diagnosis adds; none where the texts say all there is."""
        if self.log_file is None and self.names_cause:
            return []
        found = self._diagnosed(language)
        if found is not None:
            from helpers.diagnose import attached

            return attached.lines(found, language, whole=not self.names_cause)
        return [messages.text("error.diagnosis.unknown", language)] if self.log_file else []

    def __str__(self) -> str:
        return self.told()

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows in place of a traceback: the message alone (IPython calls this
        by its name).
        """
        return self.told().splitlines()
