"""`python -m helpers run`: the catalogue or some labs of it, or a matrix file. What runs, and how,
is decided in `batch`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click
import yaml

from helpers import batch, messages, paths, tables
from helpers.schemas import Report

MATRIX = (".yml", ".yaml")


@click.command(name="run")
@click.argument("what", metavar="[LABS]... | MATRIX.yml", nargs=-1)
@click.option(
    "--language",
    "languages",
    multiple=True,
    type=click.Choice(messages.LANGUAGES),
    help="default: both",
)
@click.option(
    "-p",
    "--parameter",
    "parameters",
    multiple=True,
    type=(str, str),
    help="NAME VALUE, the value read as YAML",
)
@click.option("--workers", type=click.IntRange(1), help="matrix: runs at once")
@click.option("--out", type=click.Path(path_type=Path), help="matrix: folder of the results")
@click.option("--again/--resume", default=None, help="matrix: also what has passed / keep it")
@click.option("--dry-run", is_flag=True, help="show the table of runs, run nothing")
def command(
    what: tuple[str, ...],
    languages: tuple[str, ...],
    parameters: tuple[tuple[str, str], ...],
    workers: int | None,
    out: Path | None,
    again: bool | None,
    dry_run: bool,
) -> None:
    """Run LABS (none: the whole catalogue), or the MATRIX of a file, through papermill and write
    build/run-<time>/report.html.
    """
    try:
        given = {name: yaml.safe_load(value) for name, value in parameters}
    except yaml.YAMLError as error:
        raise click.BadParameter(str(error), param_hint="--parameter") from error
    if any(one.endswith(MATRIX) for one in what):
        if len(what) > 1:
            raise click.UsageError(messages.text("run.one_matrix"))
        _matrix(Path(what[0]), languages, given, workers, out, bool(again), dry_run)
        return
    for option, value in (("--workers", workers), ("--out", out), ("--again", again)):
        if value is not None:
            raise click.UsageError(messages.text("run.needs_matrix", option=option))
    _labs(batch.jobs(languages, what, given), dry_run)


def _labs(todo: list[batch.Job], dry_run: bool) -> None:
    """Run labs one after another."""
    began = os.environ.get("LAB_BEGAN")
    minutes = f"{batch.expected_minutes(todo):.0f}"
    click.echo(messages.text("run.expected", runs=len(todo), minutes=minutes))
    if dry_run:
        for job in todo:
            click.echo(f"  {job.title}")
        return
    try:
        summary = batch.run(todo, began=float(began) if began else None, say=click.echo)
    except KeyboardInterrupt:
        click.echo(messages.text("run.interrupted"), err=True)
        sys.exit(130)
    if summary.first_answer_seconds is not None:
        code = "run.first_answer.clone" if began else "run.first_answer.run"
        click.echo(messages.text(code, seconds=f"{summary.first_answer_seconds:.0f}"))
    _end(summary, (paths.build_dir() / "latest").resolve())


def _matrix(
    source: Path,
    languages: tuple[str, ...],
    given: dict[str, Any],
    workers: int | None,
    out: Path | None,
    again: bool,
    dry_run: bool,
) -> None:
    """Run a matrix, or show what it would run."""
    from helpers.batch import folders, many, matrix

    wanted = matrix.read(source, parameters=given, languages=languages, workers=workers)
    if dry_run:
        known = out or (None if again else folders.of_matrix(source)) or Path()
        todo = many.tasks(wanted, source, known)
        click.echo(tables.plain(*many.dry_run(todo, {} if again else many.finished(todo))))
        click.echo(messages.text("run.dry"))
        return
    folder = many.place_for(source, out, again)
    shown = paths.shown(folder)
    todo = many.tasks(wanted, source, folder)
    done = {} if again else many.finished(todo)
    if len(done) == len(todo):
        click.echo(messages.text("run.nothing_left", runs=len(todo)))
    else:
        click.echo(
            messages.text(
                "run.matrix_begins",
                runs=len(todo),
                folder=shown,
                executor=wanted.executor,
                workers=wanted.workers,
            )
        )
        if done:
            click.echo(messages.text("run.resumed", kept=len(done), todo=len(todo) - len(done)))
    try:
        summary = many.run(wanted, source, folder, again=again, say=click.echo, console=_terminal())
    except KeyboardInterrupt:
        click.echo(messages.text("run.interrupted_matrix", report=shown), err=True)
        sys.exit(130)
    _end(summary, folder)


def _terminal() -> Any:
    """Return a rich Console where a person watches, else None."""
    if not sys.stdout.isatty():
        return None
    from rich.console import Console

    return Console()


def _end(summary: Report, folder: Path) -> None:
    where = paths.shown(folder / "report.html")
    click.echo(messages.text("run.done.ok" if summary.ok else "run.done.failed", report=where))
    sys.exit(0 if summary.ok else 1)
