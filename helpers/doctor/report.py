"""The doctor's report: verdict and findings as a terminal table, as HTML in a notebook, as JSON."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from helpers import messages
from helpers.doctor.findings import STATUS_CODES, Finding, Status
from helpers.doctor.machine import Machine
from helpers.doctor.schemas import DoctorForm, FindingForm, VerdictForm
from helpers.doctor.verdict import Verdict
from helpers.tables import html

ORDER: tuple[Status, ...] = ("problem", "unknown", "warning", "ok")
COLOURS = {"problem": "red", "unknown": "magenta", "warning": "yellow", "ok": "green"}
COLUMNS = (
    "doctor.column.status",
    "doctor.column.name",
    "doctor.column.evidence",
    "doctor.column.advice",
)
WIDE = 110
"""Columns of a terminal from which four columns are readable; below it two."""

MARKS = {"problem": "✗", "unknown": "?", "warning": "!", "ok": "✓"}


@dataclass(frozen=True)
class Report:
    """What was found on a machine.

    Attributes:
        verdict: what can run here.
        findings: in the rules' order.
        machine: what was read, for whoever wants to look closer.
    """

    verdict: Verdict
    findings: tuple[Finding, ...]
    machine: Machine

    @property
    def ok(self) -> bool:
        """Return True where no finding is a problem."""
        return all(one.status != "problem" for one in self.findings)

    def of(self, *statuses: Status) -> list[Finding]:
        """Return the findings of some statuses, in their order."""
        return [one for one in self.findings if one.status in statuses]

    def counts(self) -> dict[str, int]:
        """Return how many findings have each status."""
        return {status: len(self.of(status)) for status in ORDER}

    def as_json(self) -> dict[str, Any]:
        """Return the form that `doctor --json` prints; its fields are fixed (schema 1)."""
        form = DoctorForm(
            ok=self.ok,
            verdict=VerdictForm.model_validate(self.verdict.as_json()),
            findings=[FindingForm.model_validate(one.as_json()) for one in self.findings],
        )
        return form.model_dump(by_alias=True)

    def text(self, width: int | None = None, everything: bool = False) -> str:
        """Return the report for a terminal.

        Args:
            width: columns; None takes the terminal's.
            everything: also list what is well.
        """
        from rich.console import Console

        buffer = io.StringIO()
        console = Console(file=buffer, width=width, highlight=False, force_jupyter=False)
        self.show(console, everything)
        return buffer.getvalue()

    def show(self, console: Any, everything: bool = False) -> None:
        """Print the report on a rich console."""
        from rich.table import Table
        from rich.text import Text

        console.print(self._headline(), style="bold", markup=False)
        console.print(self.verdict.advice, markup=False)
        shown = self._shown(everything)
        if not shown:
            return
        table = Table(show_lines=True, expand=True)
        wide = console.width >= WIDE
        for column in COLUMNS if wide else COLUMNS[1:3]:
            table.add_column(messages.text(column), overflow="fold")
        for one in shown:
            mark, name, rest = (
                Text(_mark(one), style=COLOURS[one.status]),
                one.name,
                _what_to_do(one),
            )
            if wide:
                table.add_row(mark, Text(f"{name}\n{one.id}"), Text(one.evidence), Text(rest))
            else:
                first = Text.assemble(mark, f"\n{name}\n{one.id}")
                table.add_row(first, Text(f"{one.evidence}\n{rest}".rstrip()))
        console.print(table)

    def __str__(self) -> str:
        return self.text(width=120)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = [messages.text(column) for column in COLUMNS]
        rows = [
            (_mark(one), f"{one.name} ({one.id})", one.evidence, _what_to_do(one))
            for one in self._shown(everything=True)
        ]
        lead = f"<p><b>{escape(self._headline())}</b><br>{escape(self.verdict.advice)}</p>"
        return lead + html(head, rows)

    def _headline(self) -> str:
        said = self.counts()
        return messages.text(
            "doctor.headline",
            engine=self.verdict.engine,
            stack=self.verdict.stack or "-",
            problems=said["problem"],
            unknowns=said["unknown"],
            warnings=said["warning"],
            oks=said["ok"],
        )

    def _shown(self, everything: bool) -> Sequence[Finding]:
        """Return the findings to list, the worst first."""
        wanted = ORDER if everything else ORDER[:-1]
        return [one for status in wanted for one in self.of(status)]


def _mark(finding: Finding) -> str:
    return f"{MARKS[finding.status]} {messages.text(STATUS_CODES[finding.status])}"


def _what_to_do(finding: Finding) -> str:
    if finding.status == "ok":
        return finding.advice
    return f"{finding.why}\n→ {finding.advice}"
