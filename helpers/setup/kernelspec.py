"""Registers the course kernel for the user, and opens the course's JupyterLab. Standard library
only."""

from __future__ import annotations

import os
from pathlib import Path

from helpers import paths
from helpers.setup import commands

NAME = "minicpm-labs"


def register(python: Path, log: Path) -> None:
    """Register the kernelspec in the user's directory, where a platform's Jupyter finds it.

    The platform's kernels do not see the variables of the terminal that ran this: the place of our
    state goes along.
    """
    arguments: list[str | Path] = [
        python, "-I", "-m", "ipykernel", "install", "--user", "--name", NAME, "--display-name",
        "MiniCPM labs",
    ]  # fmt: skip
    for name in ("LAB_STATE_DIR", "LAB_ENGINE_PYTHON"):
        if os.environ.get(name):
            arguments += ["--env", name, os.environ[name]]
    commands.run(arguments, log)


def open_lab(python: Path) -> None:
    """Become the course's JupyterLab. Does not return.

    Jupyter refuses to run as root unless told; in a container root is the usual user.
    """
    arguments = [
        str(python),
        "-m",
        "jupyterlab",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.root_dir={paths.ROOT}",
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--allow-root")
    os.execv(arguments[0], arguments)
