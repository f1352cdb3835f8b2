"""Ray beside the course, and two Ray nodes on this machine, for the tests of the executor `ray`."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from helpers import paths


@dataclass(frozen=True)
class Nodes:
    """Two nodes: the address for RAY_ADDRESS, and the pid of the second node's raylet."""

    address: str
    raylet: int
    orders: IO[str]

    def kill_second(self) -> None:
        """End the second node's processes by SIGKILL; its runs notice that by themselves."""
        self.orders.write("kill\n")
        self.orders.flush()


def with_ray() -> dict[str, str]:
    """Return the variables with which the course's Python finds Ray, in a directory of its own: the
    course's environment stays as setup has made it.
    """
    lock = paths.REQUIREMENTS / "cluster.lock"
    (version,) = re.findall(r"^ray==(\S+)", lock.read_text(encoding="utf-8"), re.MULTILINE)
    folder = paths.venvs_dir() / "cluster"
    if not (folder / f"ray-{version}.dist-info").is_dir():
        shutil.rmtree(folder, ignore_errors=True)
        wanted = ["-m", "pip", "install", "-q", "--no-compile", "--require-hashes", "--target"]
        subprocess.run([sys.executable, *wanted, str(folder), "-r", str(lock)], check=True)
    return {
        "PYTHONPATH": os.pathsep.join([str(folder), str(paths.ROOT)]),
        "RAY_AUTH_MODE": "disabled",
        "RAY_USAGE_STATS_ENABLED": "0",
    }


@contextlib.contextmanager
def two_nodes(variables: dict[str, str], folder: Path) -> Iterator[Nodes]:
    """Yield two nodes that are gone afterwards.

    Args:
        variables: those of `with_ray`.
        folder: for temporary files; sockets lie there, so its path may not be long.
    """
    folder.mkdir(exist_ok=True)
    env = {**os.environ, **variables, "TMPDIR": str(folder), "RAY_TMPDIR": str(folder)}
    words = [sys.executable, str(Path(__file__).with_name("ray_nodes.py"))]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, env=env, stdin=pipe, stdout=pipe, text=True) as one:
        assert one.stdout is not None and one.stdin is not None
        try:
            yield Nodes(**json.loads(one.stdout.readline()), orders=one.stdin)
        finally:
            one.communicate()
