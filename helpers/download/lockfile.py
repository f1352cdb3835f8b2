"""course/weights.lock.yml: which weights a class uses, file by file: everybody has the same.

Reads it, and writes it from a verified copy; comparing is `verify`'s, refusing code `trust`'s.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from helpers import paths, records
from helpers.download import errors, record
from helpers.download.record import Expected, Listing, Record

PATH = paths.COURSE / "weights.lock.yml"


def listing(repo: str, path: Path | None = None) -> Listing | None:
    """Return the files that the lock names for a repository, or None where it pins none.

    Raises:
        LockUnreadable: the file is there and is no lock.
    """
    entry = _entries(path or PATH).get(repo)
    if not entry or not entry.get("files"):
        return None
    try:
        files = tuple(
            Expected(name, one["size"], one.get("hash"), one.get("algorithm", "sha256"))
            for name, one in sorted(entry["files"].items())
        )
        return Listing(repo, str(entry["revision"]), str(entry["commit"]), files, "lock")
    except (KeyError, TypeError, AttributeError) as error:
        raise errors.LockUnreadable(
            path=paths.shown(path or PATH), original=f"{type(error).__name__}: {error}"
        ) from error


def write(found: Record, path: Path | None = None) -> Path:
    """Return the lock file after a verified copy has been written into it, whole or not at all; the
    comment at its head and other repositories stay.

    Raises:
        NotLockable: a file of the copy was not compared with a hub's hash, or the copy came from a
            loopback hub.
        LockUnreadable: the file is there and is no lock.
    """
    target = path or PATH
    if not found.complete or record.is_loopback(found.hub) or found.hub == "nothing":
        raise errors.NotLockable(directory=paths.shown(found.directory))
    entries = _entries(target)
    entries[found.repo] = {
        "revision": found.revision,
        "commit": found.commit,
        "files": {
            one.path: {"size": one.size, "hash": one.hash, "algorithm": one.algorithm}
            for one in found.files
        },
    }
    body = yaml.safe_dump(
        {"schema": 1, "repositories": entries}, allow_unicode=True, sort_keys=True, width=120
    )
    return records.write_whole(target, _head(target) + body)


def _entries(path: Path) -> dict[str, Any]:
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
        entries = found.get("repositories") or {}
        if not isinstance(entries, dict):
            raise ValueError("repositories")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError, yaml.YAMLError) as error:
        raise errors.LockUnreadable(path=paths.shown(path), original=str(error)) from error
    return entries


def _head(path: Path) -> str:
    """Return the comment lines at a file's head."""
    if not path.exists():
        return ""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    count = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return "".join(lines[:count])
