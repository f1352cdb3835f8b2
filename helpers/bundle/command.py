"""`python -m helpers report-bundle`: makes the archive, and says where it lies, what is in it, what
was taken out, and where to ask with it.
"""

from __future__ import annotations

from pathlib import Path

import click

from helpers import bundle, messages, paths
from helpers.bundle import archive, readme, subject
from helpers.diagnose import route_command


@click.command("report-bundle")
@click.argument("logs", nargs=-1, type=click.Path(path_type=Path))
@click.option("--port", type=int, help="of the server that was started on this port")
@click.option("--last", is_flag=True, help="of the newest log (the default)")
@click.option("--out", type=click.Path(path_type=Path), help="the archive; default: here")
def command(logs: tuple[Path, ...], port: int | None, last: bool, out: Path | None) -> None:
    """Pack what somebody needs who is asked for help, without secrets: of LOGS, or of a server.

    Nothing is sent, and no file is overwritten.
    """
    if sum((bool(logs), port is not None, last)) > 1:
        raise click.UsageError(messages.text("bundle.which"))
    if logs:
        about = subject.of_files(logs)
    else:
        about = subject.last() if port is None else subject.of_port(port)
    made = bundle.make(about, out or archive.default_path())
    click.echo("\n".join(told(made)))


def told(made: bundle.Made, language: str | None = None) -> list[str]:
    """Return what the learner is told of a bundle, line by line."""
    size = f"{made.path.stat().st_size / 1024:.0f}"
    out = [messages.text("bundle.made", language, path=paths.shown(made.path), size=size)]
    out += [f"  {name:<24} {readme.purpose(name, language)}" for name in made.files]
    removed = readme.told(made.removed, language)
    out.append(messages.text("bundle.readme.removed", language, removed=removed))
    out.append("")
    found = made.diagnosis
    known = found.verdict == "fault" and found.entry is not None and found.confidence != "low"
    if known:
        out.append(messages.text("bundle.known", language, entry=found.entry))
    where = route_command.told(made.route, language)
    out += [messages.text("bundle.where", language), *(f"  {one}" for one in where.splitlines())]
    return [*out, "", messages.text("bundle.read_first", language)]
