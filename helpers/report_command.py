"""`python -m helpers report [FOLDER]`: the pages of a run that is over, made again from its
report.json, in the language asked for.

Runs nothing: `run` does. What the pages hold is decided in `report`.
"""

from __future__ import annotations

from pathlib import Path

import click

from helpers import messages, paths, report


@click.command(name="report")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--language", type=click.Choice(messages.LANGUAGES), help="zh | en")
def command(folder: Path | None, language: str | None) -> None:
    """Make report.html of a run again from its report.json.

    FOLDER: build/run-<time>, or none for the last run.
    """
    place = (folder or paths.build_dir() / "latest").resolve()
    report.write(report.read(place), place, language)
    click.echo(paths.shown(place / "report.html"))
