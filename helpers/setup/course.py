"""The course environment: the kernel of the labs, from requirements/course.lock. Standard library
only."""

from __future__ import annotations

import re
from pathlib import Path

from helpers import paths
from helpers.setup import commands
from helpers.setup.environments import Environment, Step, locked, proved
from helpers.setup.problems import SetupError
from helpers.setup.pythons import Python

SERIES = ["3.12", "3.11", "3.13", "3.10"]
NEEDED = 900  # MB: about 400 installed, and pip's downloads

# The quick proof imports what breaks most easily (compiled parts, our own package) and only looks
# for the rest.
_QUICK = """
import importlib.util, pathlib, sys
import click, ipykernel, nbformat, pydantic, requests, yaml, zmq
import helpers
assert pathlib.Path(helpers.__file__).parent.parent == pathlib.Path({root!r}), helpers.__file__
missing = [n for n in ("jupyterlab", "papermill", "nbclient", "jupytext", "nbval", "ipywidgets",
"PIL")
           if importlib.util.find_spec(n) is None]
assert not missing, missing
"""

# The full proof imports what a kernel and a run use. It also writes their .pyc files, so that the
# first cell is quick.
_FULL = """
import importlib
for name in ("ipykernel.kernelapp", "IPython.terminal.ipapp", "papermill.cli", "nbclient",
"nbconvert", "jupytext",
             "ipywidgets", "PIL.Image", "rich.console", "psutil", "filelock", "jinja2", "pydantic",
             "requests"):
    importlib.import_module(name)
print("ok")
"""


def plan(directory: Path, python: Python, log: Path) -> Environment:
    """Return how the course environment is made.

    Args:
        directory: where it shall lie.
        python: what it is built on.
        log: file for the output of its commands.
    Raises:
        SetupError: the lock file is missing.
    """
    lock = paths.REQUIREMENTS / "course.lock"
    if not lock.exists():
        raise SetupError("no-lock", path=lock)
    count = len(set(re.findall(r"^([^\s#=]+)==", lock.read_text("utf-8"), re.MULTILINE)))
    return Environment(
        name="course",
        directory=directory,
        sources=(lock, paths.ROOT / "pyproject.toml"),
        python=python,
        steps=(
            Step("title-packages", locked("course.lock"), {"count": count}),
            Step("title-project", _project),
            Step("title-proof", proved(_FULL)),
        ),
        quick_proof=_QUICK.format(root=str(paths.ROOT)),
        needed=NEEDED,
        log=log,
    )


def _project(environment: Environment) -> str:
    """Install the checkout, editable. It is not written to, and no index is asked."""
    commands.run(
        [
            environment.executable, "-I", "-m", "pip", "install", "--no-deps", "--no-index",
            "--no-build-isolation",
            "--editable", paths.ROOT,
        ],
        environment.log,
    )  # fmt: skip
    return ""
