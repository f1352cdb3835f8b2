"""Finds a Python to build an environment on, and proves it by running it. Standard library only."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from helpers.setup import commands
from helpers.setup.problems import SetupError

# pyenv's shims stand on PATH for versions that are not there, and a moved environment keeps its
# links:
# only a Python that has answered this counts as found.
_QUESTION = """
import json, os, sys
print(json.dumps({"version": list(sys.version_info[:3]), "bits": sys.maxsize > 2**32,
    "implementation": sys.implementation.name,
    "executable": os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)}))
"""


@dataclass(frozen=True)
class Python:
    """A Python that has been run.

    Attributes:
        path: its executable, outside any virtual environment.
        version: major, minor, micro.
    """

    path: Path
    version: tuple[int, int, int]

    @property
    def name(self) -> str:
        """Return the version as a person writes it."""
        return ".".join(map(str, self.version))

    @property
    def series(self) -> str:
        """Return "3.11" for 3.11.7: what wheels are built for."""
        return f"{self.version[0]}.{self.version[1]}"


def ask(path: Path | str, timeout: float = 20.0) -> Python | None:
    """Return the CPython behind a path or behind its virtual environment, or None.

    Args:
        path: executable to run.
        timeout: seconds to wait for it.
    """
    try:
        done = subprocess.run(
            [str(path), "-I", "-c", _QUESTION], capture_output=True, text=True, timeout=timeout,
            check=True,
            stdin=subprocess.DEVNULL, env=commands.environment(),
        )  # fmt: skip
        found = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    if found["implementation"] != "cpython" or not found["bits"]:
        return None
    major, minor, micro = found["version"]
    return Python(Path(found["executable"]), (major, minor, micro))


def candidates(series: list[str], given: Path | None = None) -> list[Python]:
    """Return the Pythons to build on, best first: the running one, then those on PATH.

    Args:
        series: what is supported, best first, as in ["3.12", "3.11"].
        given: the user's choice.
    Raises:
        SetupError: none of them runs, or the given one is not supported.
    """
    places = [str(given)] if given else [_running(), *(f"python{one}" for one in series), "python3"]
    found: list[Python] = []
    for place in places:
        path = place if Path(place).is_absolute() else shutil.which(place)
        python = ask(path) if path else None
        if (
            python
            and python.series in series
            and python.series not in {one.series for one in found}
        ):
            found.append(python)
    if not found:
        raise SetupError("no-python", wanted=" / ".join(series), tried=", ".join(places))
    return found


def _running() -> str:
    """Return the Python that runs this, without the virtual environment around it."""
    return getattr(sys, "_base_executable", None) or sys.executable
