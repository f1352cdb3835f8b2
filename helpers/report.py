"""A run's report: report.json for machines, report.html for people, both from the same model. Runs
and judges nothing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from pydantic import ValidationError

from helpers import catalog, messages, paths, records
from helpers.errors import LabError
from helpers.schemas import Report

_TEXTS = (
    "title",
    "labs",
    "started",
    "engine",
    "versions",
    "step",
    "seconds",
    "total",
    "failures",
    "first_answer",
    "starts",
    "teardown",
    "notebook",
    "result",
    "passed",
    "failed",
    "none_left",
    "left",
    "skipped",
)


class ReportMissing(LabError):
    """A folder holds no report.json; values: path."""

    code = "report.missing"


class ReportUnreadable(LabError):
    """report.json is not what this version writes; values: path. The original is the first
    complaint.
    """

    code = "report.unreadable"


def write(summary: Report, folder: Path, language: str | None = None) -> None:
    """Write report.json and report.html into a folder.

    Args:
        language: of the page, "zh" or "en"; None takes the language in force.
    Raises:
        OSError: the folder cannot be written.
    """
    body = json.dumps(summary.model_dump(by_alias=True), ensure_ascii=False, indent=1)
    records.write_whole(folder / "report.json", body + "\n")
    records.write_whole(folder / "report.html", html(summary, language))


def read(folder: Path) -> Report:
    """Return the report that lies in a folder.

    Raises:
        ReportMissing: there is none.
        ReportUnreadable: it is not of the form that this version writes.
    """
    path = folder / "report.json"
    try:
        return Report.model_validate_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ReportMissing(path=paths.shown(path)) from error
    except (OSError, ValidationError) as error:
        told = str(error).splitlines()
        raise ReportUnreadable(path=paths.shown(path), original="\n".join(told[:3])) from error


def html(summary: Report, language: str | None = None) -> str:
    """Return the report as one HTML page without anything from outside.

    Args:
        language: "zh" or "en"; None takes the language in force.
    """
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    spoken = language or messages.language()
    texts = {name: messages.text(f"report.{name}", spoken) for name in _TEXTS}
    statuses = {
        name: messages.text(f"checkpoint.status.{name}", spoken)
        for name in ("pass", "fail", "skipped", "todo", "kept")
    }
    return environment.get_template("report.html.j2").render(
        report=summary, language=spoken, texts=texts, statuses=statuses, labs=_rows(summary, spoken)
    )


def _rows(summary: Report, language: str) -> list[dict[str, Any]]:
    """Return a table for each lab: its steps in order, and a column for each run of it."""
    rows = []
    for lab in dict.fromkeys(run.lab for run in summary.runs):
        runs = [run for run in summary.runs if run.lab == lab]
        steps = list(dict.fromkeys(found.step for run in runs for found in run.checkpoints))
        title = catalog.labs().get(lab, {}).get("title", {}).get(language, lab)
        found = {(n, one.step): one for n, run in enumerate(runs) for one in run.checkpoints}
        rows.append({"id": lab, "title": title, "runs": runs, "steps": steps, "found": found})
    return rows
