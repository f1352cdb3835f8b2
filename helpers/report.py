"""A run's report: report.json for machines, junit.xml for CI, report.html for people, all from the
same model. Runs and judges nothing; what the page shows is gathered in `report_view`.
"""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from helpers import junit, messages, paths, records, report_view
from helpers.errors import LabError
from helpers.schemas import Report

_TEXTS = (
    "title",
    "started",
    "matrix",
    "took",
    "versions",
    "step",
    "steps",
    "run",
    "runs",
    "seconds",
    "parameters",
    "failures",
    "first_answer",
    "starts",
    "teardown",
    "notebook",
    "page",
    "log",
    "result",
    "passed",
    "failed",
    "kept",
    "attempts",
    "slowest",
    "none_left",
    "left",
    "skipped",
    "not_run",
    "engine",
    "model",
    "cause",
    "fix",
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
    """Write report.json, junit.xml and report.html into a folder.

    Args:
        language: of the page, "zh" or "en"; None takes the language in force.
    Raises:
        OSError: the folder cannot be written.
    """
    body = json.dumps(summary.model_dump(by_alias=True), ensure_ascii=False, indent=1)
    records.write_whole(folder / "report.json", body + "\n")
    records.write_whole(folder / "junit.xml", junit.xml(summary))
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
    """Return the report as one HTML page without anything from outside and without a script.

    Args:
        language: "zh" or "en"; None takes the language in force.
    """
    from helpers import pages

    spoken = language or messages.language()
    statuses = {
        name: messages.text(f"checkpoint.status.{name}", spoken)
        for name in ("pass", "fail", "skipped", "todo", "kept")
    }
    return (
        pages.environment()
        .get_template("report.html.j2")
        .render(
            report=summary,
            language=spoken,
            texts={name: messages.text(f"report.{name}", spoken) for name in _TEXTS},
            statuses=statuses,
            labs=report_view.labs(summary, spoken),
            causes=report_view.causes(summary, spoken),
            skips=report_view.skips(summary),
            versions=report_view.versions(summary),
            passed=sum(run.ok for run in summary.runs),
            told_parameters=report_view.parameters,
            slowest=report_view.slowest,
        )
    )
