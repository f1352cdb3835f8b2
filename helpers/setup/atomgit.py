"""The AtomGit client's environment, from requirements/atomgit.lock: made with the first download,
or by `python -m helpers setup --only atomgit`. Standard library only.

Not for the download itself: `download` runs the client in here as a process and imports none of it.
"""

from __future__ import annotations

import re
from pathlib import Path

from helpers import interpreters, paths
from helpers.setup import course, stamps
from helpers.setup.environments import Environment, Step, locked, proved
from helpers.setup.problems import SetupError
from helpers.setup.pythons import Python

LOCK = "atomgit.lock"
NEEDED = 250  # MB: about 90 installed, and pip's downloads
SERIES = course.SERIES

# Only looked for: importing it writes into the home directory (~/.atomgit, ~/.cache/atomgit).
_QUICK = """
import importlib.metadata, importlib.util
import httpx, huggingface_hub
assert importlib.metadata.version("atomgit") and importlib.util.find_spec("atomgit_hub")
"""

# The same, and what the client imports when it is imported; it also writes their .pyc files.
_FULL = """
import click, colorama, requests, tabulate, tqdm
from huggingface_hub import HfApi, hf_hub_download, snapshot_download
"""


def plan(directory: Path, python: Python, log: Path) -> Environment:
    """Return how the AtomGit client's environment is made.

    Args:
        directory: where it shall lie.
        python: what it is built on.
        log: file for the output of its commands.
    Raises:
        SetupError: the lock file is missing.
    """
    lock = paths.REQUIREMENTS / LOCK
    if not lock.exists():
        raise SetupError("no-lock", path=lock)
    count = len(set(re.findall(r"^([^\s#=]+)==", lock.read_text("utf-8"), re.MULTILINE)))
    return Environment(
        name="atomgit",
        directory=directory,
        sources=(lock,),
        python=python,
        steps=(
            Step("title-packages", locked(LOCK), {"count": count}),
            Step("title-proof", proved(_FULL)),
        ),
        quick_proof=_QUICK,
        needed=NEEDED,
        log=log,
    )


def is_made() -> bool:
    """Return whether the environment is there and made from the present lock file.

    Reads its stamp only, in a millisecond: a download asks this each time.
    """
    python = interpreters.atomgit_python()
    lock = paths.REQUIREMENTS / LOCK
    stamp = stamps.read(python.parents[1])
    return python.exists() and lock.exists() and stamp.get("sources") == stamps.digest(lock)
