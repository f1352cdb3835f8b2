"""Directories that the course writes to, device nodes, and whether a place outlives the container.
Reads only.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from helpers import paths
from helpers.doctor.machine import Node, Place

MANAGERS = ("davinci_manager", "devmm_svm", "hisi_hdc")
"""Nodes beside /dev/davinciN that a container needs (vllm-ascend installation.md@v0.23.0)."""


def nodes(root: Path) -> tuple[Node, ...]:
    """Return the davinci nodes and their managers under root/dev, sorted by name."""
    found = []
    for path in sorted((root / "dev").glob("*")):
        if path.name in MANAGERS or re.fullmatch(r"davinci\d+", path.name):
            found.append(
                Node(
                    name=path.name,
                    readable=os.access(path, os.R_OK),
                    writable=os.access(path, os.W_OK),
                    group=_group(path),
                )
            )
    return tuple(found)


def place(path: Path, mounts: str, container: bool) -> Place:
    """Return what can be said of a directory, whether or not it exists yet.

    Args:
        mounts: text of /proc/mounts, "" where there is none.
        container: outside a container only a file system in memory is lost.
    """
    real = path.expanduser().absolute()
    existing = next((p for p in (real, *real.parents) if p.exists()), None)
    if existing is None:
        return Place(path=paths.shown(path))
    try:
        free: int | None = shutil.disk_usage(existing).free
    except OSError:
        free = None
    kind = file_system(existing.resolve(), mounts)
    passing = paths.PASSING | paths.LAYERED if container else paths.PASSING
    return Place(
        path=paths.shown(path),
        free=free,
        writable=os.access(existing, os.W_OK),
        kept=None if kind is None else kind not in passing,
    )


def file_system(path: Path, mounts: str) -> str | None:
    """Return the kind of file system a path lies on ("ext4", "overlay"), None where unknown.

    Args:
        mounts: text of /proc/mounts.
    """
    best: tuple[int, str] | None = None
    for line in mounts.splitlines():
        words = line.split()
        if len(words) < 3:
            continue
        where = Path(words[1].replace("\\040", " "))
        if (path == where or where in path.parents) and (not best or len(where.parts) >= best[0]):
            best = (len(where.parts), words[2])
    return best[1] if best else None


def _group(path: Path) -> str | None:
    try:
        return path.group()
    except (OSError, KeyError, NotImplementedError):
        return None
