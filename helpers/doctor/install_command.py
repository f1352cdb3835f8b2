"""`python -m helpers install-command`: prints how to get an engine on this machine; runs nothing.

What is printed is a shell script: notes as comments, then the commands.
"""

from __future__ import annotations

import os

import click


@click.command("install-command")
@click.option(
    "--way",
    type=click.Choice(["auto", "docker", "pip", "platform", "cpu"]),
    default="auto",
    help="auto: what fits this machine",
)
@click.option("--devices", default="", help="numbers of /dev/davinciN for docker, e.g. 0,1")
@click.option("--stack", "stack_id", default=None, help="id in course/versions.yml")
def command(way: str, devices: str, stack_id: str | None) -> None:
    """Print the commands that install an engine here: docker, pip, or the CPU engine."""
    from helpers import doctor
    from helpers.doctor import install, stacks

    known = [stack["id"] for stack in stacks.all_stacks() if stack["engine"] == "ascend"]
    if stack_id is not None and stack_id not in known:
        raise click.BadParameter(", ".join(known), param_hint="--stack")
    numbers = _numbers(devices)
    report = doctor.examine()
    machine = report.machine
    on_host = machine.has_npu and not machine.container
    exists = os.path.exists if on_host else None
    if way == "auto" and stack_id is None:
        found = install.plan(machine, report.findings, numbers, exists)
    else:
        chosen = "docker" if way == "auto" else way
        found = install.by_name(chosen, machine, numbers, stack_id, exists)
    click.echo(str(found))


def _numbers(text: str) -> list[int]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not all(word.isdecimal() and len(word) < 4 for word in words):
        raise click.BadParameter("0,1,…", param_hint="--devices")
    return [int(word) for word in words]
