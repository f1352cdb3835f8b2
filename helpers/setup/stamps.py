"""What an environment was made from (its stamp), and the lock that keeps two setups apart."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from helpers import records

STAMP = ".minicpm-labs.json"


def digest(*files: Path) -> str:
    """Return the SHA-256 over the contents of some files, in their order."""
    sum_ = hashlib.sha256()
    for file in files:
        sum_.update(hashlib.sha256(file.read_bytes()).digest())
    return sum_.hexdigest()


def read(directory: Path) -> dict[str, object]:
    """Return the stamp of an environment, or {} where there is none that can be read."""
    try:
        found = json.loads((directory / STAMP).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write(directory: Path, stamp: dict[str, object]) -> None:
    """Write the stamp of an environment, whole or not at all."""
    text = json.dumps(stamp, indent=1, ensure_ascii=False) + "\n"
    records.write_whole(directory / STAMP, text)


def remove(directory: Path) -> None:
    """Remove the stamp: from here on the environment counts as unfinished."""
    (directory / STAMP).unlink(missing_ok=True)


@contextlib.contextmanager
def exclusive(path: Path, on_wait: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock file of setup while the block runs; wait where another process holds it.

    The operating system drops the lock when its holder dies, so that an interrupted setup blocks
    nobody.

    Args:
        path: the lock file, made if it is not there.
        on_wait: called once with the holder's pid (or "?") when we have to wait.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as file:
        told = False
        while not _try_lock(file):
            if not told:
                file.seek(0)
                on_wait(file.read().strip() or "?")
                told = True
            time.sleep(0.3)
        file.seek(0)
        file.truncate()
        file.write(str(os.getpid()))
        file.flush()
        yield


def _try_lock(file: IO[str]) -> bool:
    """Return whether the lock is ours now."""
    try:
        import fcntl
    except ImportError:  # Windows: one setup at a time is the user's care
        return True
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
