"""The command line: minicpm-labs, or python -m helpers. Each command is a few lines over a module
that does the work.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from helpers import __version__, messages, paths
from helpers.errors import LabError

ELSEWHERE: dict[str, str] = {
    "diagnose": "helpers.diagnose.command",
    "download": "helpers.download.command",
    "doctor": "helpers.doctor.command",
    "evidence": "helpers.evidence.command",
    "install-command": "helpers.doctor.install_command",
    "report-bundle": "helpers.bundle.command",
    "report": "helpers.report_command",
    "route": "helpers.diagnose.route_command",
    "run": "helpers.run_command",
}
"""Commands that a subject keeps beside its own code: name → module whose `command` it is, imported
only when it is called for.
"""


class _Told(click.Group):
    """A group that ends a LabError with its message and status 1, never with a traceback."""

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted({*super().list_commands(context), *ELSEWHERE})

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in ELSEWHERE:
            return super().get_command(context, name)
        found: click.Command = import_module(ELSEWHERE[name]).command
        return found

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except LabError as error:
            click.echo(str(error), err=True)
            sys.exit(1)


@click.group(cls=_Told, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="minicpm-labs")
@click.option("--language", type=click.Choice(messages.LANGUAGES), help="zh | en")
def main(language: str | None) -> None:
    """Labs of MiniCPM on vLLM and vllm-ascend: run them, and look after the servers that they
    start.
    """
    if language:
        messages.use(language)
        os.environ["LAB_LANGUAGE"] = language


@main.command(
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.pass_context
def setup(context: click.Context) -> None:
    """Make the interpreters that the course needs (standard library only)."""
    from helpers import setup as installer

    sys.exit(installer.main(context.args))


@main.command()
@click.option("--json", "as_json", is_flag=True)
def status(as_json: bool) -> None:
    """List the servers that the course has started on this machine."""
    from helpers import server, tables

    rows = server.status()
    if as_json:
        click.echo(json.dumps([row.as_json() for row in rows], ensure_ascii=False))
        return
    if not rows:
        click.echo(messages.text("status.none"))
        return
    head = [
        messages.text(f"status.column.{name}")
        for name in ("port", "model", "state", "pid", "seconds", "log")
    ]
    cells = [
        (
            str(r.port),
            r.served_model_name,
            messages.text(f"status.{r.state}"),
            str(r.pid),
            f"{r.seconds:.0f}",
            paths.shown(r.log),
        )
        for r in rows
    ]
    click.echo(tables.plain(head, cells))


@main.command()
@click.option("--port", type=int, help="only the server on this port")
def stop(port: int | None) -> None:
    """Stop the servers that the course has started, and prove that they are gone."""
    from helpers import server

    lines = server.stop_all(port)
    click.echo("\n".join(lines) if lines else messages.text("status.none"))


@main.command()
@click.option("--port", type=int, help="of the server on this port; default: the last one begun")
@click.option("-n", "--lines", type=int, default=20, show_default=True)
@click.option("-f", "--follow", is_flag=True, help="go on showing what is added; Ctrl-C ends it")
def logs(port: int | None, lines: int, follow: bool) -> None:
    """Show the end of a server's log."""
    from helpers import server
    from helpers.server import log

    found = [row.log for row in server.status() if row.port == port] if port else []
    path = Path(found[0]) if found else log.newest(paths.state_dir() / "logs")
    if path is None or (port and not found):
        click.echo(messages.text("status.none"))
        return
    if not follow:
        click.echo(log.tail(path, lines))
        return
    try:
        for text in log.follow(path, lines):
            click.echo(text, nl=False)
    except KeyboardInterrupt:
        return


@main.command()
@click.argument("lab", default="02_minicpm5")
@click.option("--engine", "wanted", default="auto", type=click.Choice(["auto", "ascend", "cpu"]))
@click.option("--model-dir", default="", help="directory of a checkpoint")
@click.option("--port", type=int, default=8000, help="0 takes a free one")
def serve(lab: str, wanted: str, model_dir: str, port: int) -> None:
    """Start the server of a LAB, wait until it answers, and leave it running."""
    from helpers import catalog, engines, models, server

    engine = engines.select(wanted)
    model = models.find(lab, engine.name, model_dir)
    started = server.start(
        engine, model, catalog.options(lab, engine.name, served_model_name=model.name, port=port)
    )
    click.echo(started.command)
    started.wait_ready()
    label = messages.text("model.stand_in") if model.stand_in else ""
    click.echo(f"{started.base_url}/v1  {label}".rstrip())


if __name__ == "__main__":
    main()
