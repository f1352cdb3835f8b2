"""`python -m helpers doctor`: the report in a terminal, or as JSON; exit status 1 where a problem
was found.
"""

from __future__ import annotations

import json
import sys

import click


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="the report as JSON, nothing else")
@click.option("--deep", is_flag=True, help="also import torch_npu and vLLM in the engine (≤ 90 s)")
@click.option("--all", "everything", is_flag=True, help="also list what is well")
@click.option("--model-dir", default="", help="directory that weights go to")
def command(as_json: bool, deep: bool, everything: bool, model_dir: str) -> None:
    """Look at this machine: what can run here, and what is in the way."""
    from helpers import doctor

    report = doctor.examine(deep=deep, model_dir=model_dir)
    if as_json:
        click.echo(json.dumps(report.as_json(), ensure_ascii=False))
    else:
        from rich.console import Console

        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="replace")  # a GBK terminal lacks the marks
        report.show(Console(), everything)
    sys.exit(0 if report.ok else 1)
