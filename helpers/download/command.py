"""The command `minicpm-labs download`: a few lines over `helpers.download`."""

from __future__ import annotations

from pathlib import Path

import click

from helpers import download, messages, paths
from helpers.download import lockfile


@click.command()
@click.argument("repo")
@click.argument("model_dir", default="", required=False)
@click.option("--source", default="atomgit", type=click.Choice(["atomgit", "local"]))
@click.option("--revision", help="branch, tag or commit; default: the lock's, else the hub's")
@click.option("--hub", help="address of another hub")
@click.option("--everything", is_flag=True, help="read every byte of what is there")
@click.option("--lock", is_flag=True, help="write course/weights.lock.yml from the verified copy")
def command(
    repo: str,
    model_dir: str,
    source: str,
    revision: str | None,
    hub: str | None,
    everything: bool,
    lock: bool,
) -> None:
    """Fetch REPO ("owner/name") into MODEL_DIR (none: found or chosen), and verify every file."""
    try:
        made = download.download(
            repo, model_dir, source=source, revision=revision, hub=hub, everything=everything
        )
    except KeyboardInterrupt:
        raise click.ClickException(messages.text("download.interrupted")) from None
    click.echo(str(made))
    click.echo(messages.text("download.where", directory=Path(made.directory)))
    if lock:
        written = lockfile.write(made)
        click.echo(messages.text("download.locked", path=paths.shown(written)))
