"""A bundle's archive: a ZIP, written whole or not at all, never over anything else."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from helpers import paths
from helpers.bundle.problems import BundleExists, BundleUnwritable


def default_path() -> Path:
    """Return a path in the working directory, where a notebook's file browser shows it, that
    nothing has yet.
    """
    stem = f"report-{datetime.now():%Y%m%d-%H%M%S}"
    number, path = 1, Path.cwd() / f"{stem}.zip"
    while os.path.lexists(path):
        number += 1
        path = path.with_name(f"{stem}-{number}.zip")
    return path


def refuse_existing(path: Path) -> None:
    """Do nothing where nothing lies at a path.

    Raises:
        BundleExists: something does, a broken link included.
    """
    if os.path.lexists(path):
        raise BundleExists(path=paths.shown(path))


def write(path: Path, files: Mapping[str, str]) -> None:
    """Write texts into a new archive, readable for its owner only.

    Args:
        files: name in the archive → text.
    Raises:
        BundleExists: somebody else has just made the file.
        BundleUnwritable: the directory is not there, or cannot be written, or is full.
    """
    made = False
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        made = True
        with (
            os.fdopen(descriptor, "wb") as sink,
            zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive,
        ):
            for name, text in files.items():
                archive.writestr(name, text.encode("utf-8", "replace"))
    except FileExistsError as error:
        raise BundleExists(path=paths.shown(path)) from error
    except OSError as error:
        if made:
            path.unlink(missing_ok=True)
        raise BundleUnwritable(path=paths.shown(path), original=paths.shown(error)) from error
