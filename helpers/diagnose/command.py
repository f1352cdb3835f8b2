"""`python -m helpers diagnose FILE|-|--last`: a log's diagnosis as text, HTML or JSON.

Not for the diagnosis itself: `diagnose.read` makes it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from helpers import diagnose, messages, paths
from helpers.diagnose import show
from helpers.errors import LabError


class NoLog(LabError):
    """--last was asked for and the state directory has no log; values: path."""

    code = "diagnose.command.no_log"


class LogUnreadable(LabError):
    """The file cannot be read; values: path, reason."""

    code = "diagnose.command.unreadable"


def newest_log() -> Path:
    """Return the log in the state directory that was written to last.

    Raises:
        NoLog: there is none.
    """
    folder = paths.state_dir() / "logs"
    logs = sorted(folder.glob("*.log"), key=lambda path: path.stat().st_mtime)
    if not logs:
        raise NoLog(path=paths.shown(folder))
    return logs[-1]


@click.command(name="diagnose")
@click.argument("file", required=False)
@click.option("--last", is_flag=True, help="the newest log of a server or an offline run")
@click.option("--json", "as_json", is_flag=True, help="the interface of DESIGN.md")
@click.option("--html", "as_html", is_flag=True, help="a fragment for a page")
@click.option("--language", type=click.Choice(messages.LANGUAGES), help="zh | en")
def command(
    file: str | None, last: bool, as_json: bool, as_html: bool, language: str | None
) -> None:
    """Read a log (FILE, - for standard input) and say what failed, why, and what to do.

    The exit status is 0 for healthy, 1 for a fault, 3 where that cannot be told.
    """
    if bool(file) == last:
        raise click.UsageError(messages.text("diagnose.command.which", language))
    found = _read(file, language)
    if as_json:
        click.echo(found.as_json())
    elif as_html:
        click.echo(show.html(found))
    else:
        click.echo(show.text(found))
    sys.exit({"healthy": 0, "fault": 1, "unknown": 3}[found.verdict])


def _read(file: str | None, language: str | None) -> diagnose.Diagnosis:
    """Return the diagnosis of a file, of standard input ("-"), or of the newest log (None)."""
    if file == "-":
        return diagnose.read_stream(sys.stdin.buffer, language).model_copy(update={"source": "-"})
    path = Path(file) if file else newest_log()
    try:
        return diagnose.read(path, language)
    except OSError as error:
        raise LogUnreadable(path=paths.shown(path), reason=error.strerror or str(error)) from error
