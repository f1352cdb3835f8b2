"""`python -m helpers evidence pack | merge`: the commands behind `make evidence` and `make
evidence-merge`.
"""

from __future__ import annotations

from pathlib import Path

import click

from helpers import messages, paths

SAID = {"held": "evidence.held", "refuted": "evidence.refuted"}


@click.group("evidence")
def command() -> None:
    """Pack what a run on an NPU has shown, or merge such an archive into course/claims.yml."""


@command.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="the archive")
def pack(folder: Path | None, output: Path | None) -> None:
    """Pack a run's evidence; nothing is sent.

    FOLDER: build/run-<time>, or none for the last run.
    """
    from helpers.evidence import archive, packing

    path = packing.pack(folder or paths.build_dir() / "latest", output)
    head = archive.read(path).head
    if head.left_out:
        click.echo(messages.text("evidence.left_out", runs=", ".join(head.left_out)))
    for one in head.claims:
        if one.verdict != "unseen":
            click.echo(f"{one.id:<4} {messages.text(SAID[one.verdict])}  {one.because}")
    decided = sum(one.verdict != "unseen" for one in head.claims)
    click.echo(messages.text("evidence.packed", path=paths.shown(path), claims=decided))


@command.command()
@click.argument("file", type=click.Path(path_type=Path))
def merge(file: Path) -> None:
    """Check an archive and write what it decides into course/claims.yml.

    FILE: as `evidence pack` has made it.
    """
    from helpers.evidence import merging

    done = merging.merge(file)
    for one in done.changed:
        click.echo(f"{one.id:<4} {messages.text(SAID[one.verdict])}  {one.because}")
    for one in done.contradicted:
        click.echo(messages.text("evidence.contradicted", claim=one.id, because=one.because))
    unseen = ", ".join(done.unseen) or "-"
    click.echo(messages.text("evidence.merged", changed=len(done.changed), unseen=unseen))
