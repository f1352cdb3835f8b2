"""A lab through the real command line, in a process of its own, and the report that it leaves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from helpers import paths
from helpers.schemas import Report


def passed(
    lab: str, language: str, given: Mapping[str, str], variables: Mapping[str, str], timeout: float
) -> tuple[Report, Path]:
    """Return the report of a run that ended with status 0, and its folder.

    Args:
        given: parameters, as `-p NAME VALUE`.
        variables: environment variables beside this process's; the run has an id of its own.
        timeout: seconds.
    """
    words = [word for name, value in given.items() for word in ("-p", name, value)]
    env = {name: value for name, value in os.environ.items() if name != "LAB_RUN"}
    done = subprocess.run(
        [sys.executable, "-m", "helpers", "run", lab, "--language", language, *words],
        cwd=paths.ROOT,
        env=env | dict(variables),
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    folder = (paths.build_dir() / "latest").resolve()
    return Report(**json.loads((folder / "report.json").read_text(encoding="utf-8"))), folder
