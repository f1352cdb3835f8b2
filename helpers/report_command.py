"""`python -m helpers report [FOLDER]`: the pages of a run that is over, made again from its
report.json, in the language asked for; or, with --class, what a class has handed in.

Runs nothing: `run` does. What the pages hold is decided in `report` and `classview`.
"""

from __future__ import annotations

from pathlib import Path

import click

from helpers import messages, paths, report


@click.command(name="report")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--language", type=click.Choice(messages.LANGUAGES), help="zh | en")
@click.option(
    "--class",
    "handed_in",
    type=click.Path(path_type=Path),
    help="DIR/learner/*.ipynb, DIR/learner_lab.ipynb, DIR/learner.zip: one row a learner",
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="the page of --class; default: build/class.html"
)
def command(
    folder: Path | None, language: str | None, handed_in: Path | None, out: Path | None
) -> None:
    """Make report.html of a run again from its report.json, or a page of a class's hand-ins.

    FOLDER: build/run-<time>, or none for the last run.
    """
    if handed_in is not None and folder is None:
        from helpers.classview import command as class_command

        messages.use(language or messages.language())
        class_command.report(handed_in, out)
        return
    if handed_in is not None or out is not None:
        raise click.UsageError("--class DIR [--out FILE], or FOLDER")
    place = (folder or paths.build_dir() / "latest").resolve()
    report.write(report.read(place), place, language)
    click.echo(paths.shown(place / "report.html"))
