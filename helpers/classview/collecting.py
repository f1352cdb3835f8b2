"""Whose hand-ins lie in a folder: DIR/learner/*.ipynb, DIR/learner_lab.ipynb, DIR/learner.zip.

Lists and reads bytes within limits, follows no link, unpacks nothing to the disk. What the bytes
are is `reading`'s business.
"""

from __future__ import annotations

import lzma
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NoReturn

from helpers.classview import cleaning
from helpers.classview.errors import (
    BadZip,
    ClassFolderMissing,
    NoHandIns,
    NothingHandedIn,
    TooLarge,
    TooMany,
    Unreadable,
)

MOST_MIB = 20
"""MiB of one notebook; a lab with its outputs has 0.1."""

MOST_ZIP_MIB = 100
MOST_FILES = 60
"""Notebooks of one learner that are read."""

MOST_DEPTH = 4
LEFT_OUT = (".", "__MACOSX")
"""Beginnings of names that no learner gave: .ipynb_checkpoints, .DS_Store, macOS's own."""

FROM_ZIP = (
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
    lzma.LZMAError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""What zipfile raises for an archive that is damaged, encrypted or of an unknown kind."""


@dataclass(frozen=True)
class HandIn:
    """A file that a learner handed in: whose, its name for people, and how to get its bytes.

    `read` raises Unreadable, or one of its kinds.
    """

    learner: str
    name: str
    read: Callable[[], bytes]


def collect(folder: Path, labs: Sequence[str]) -> dict[str, list[HandIn]]:
    """Return each learner's hand-ins, learners and files by name.

    Args:
        folder: DIR.
        labs: ids of the course's labs: what a file's name may end in.
    Raises:
        ClassFolderMissing: it cannot be listed.
        NoHandIns: nothing in it looks like a hand-in.
    """
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise ClassFolderMissing(path=folder, original=str(error)) from None
    found: dict[str, list[HandIn]] = {}
    for entry in entries:
        path = Path(entry.path)
        if entry.name.startswith(LEFT_OUT):
            continue
        if entry.is_dir(follow_symlinks=False):
            learner = cleaning.line(entry.name, 80)
            files = list(_below(path, folder))
        elif entry.is_symlink() or path.suffix in (".ipynb", ".zip"):
            learner, files = owner(entry.name, labs), [path]
        else:
            continue
        found.setdefault(learner, []).extend(_hand_ins(learner, files, folder, entry.name))
    if not found:
        raise NoHandIns(path=folder)
    return {learner: _within_limit(learner, found[learner]) for learner in sorted(found)}


def owner(name: str, labs: Sequence[str]) -> str:
    """Return the learner that a file's name names: "li_02_minicpm5.zh (1).ipynb" → "li"."""
    stem = re.sub(r"(\.ipynb|\.zip)$", "", name)
    stem = re.sub(r"\s*\(\d+\)$", "", stem)
    stem = re.sub(r"[._-](zh|en)$", "", stem)
    for lab in labs:
        if stem.endswith(lab) and stem != lab:
            stem = stem.removesuffix(lab).rstrip("_-. ")
            break
    return cleaning.line(stem, 80) or cleaning.line(name, 80) or "?"


def _below(path: Path, folder: Path) -> Iterator[Path]:
    """Yield the notebooks and archives below a learner's folder, links not followed."""
    for here, folders, files in os.walk(path):
        deep = len(Path(here).relative_to(folder).parts)
        keep = [] if deep >= MOST_DEPTH else folders
        folders[:] = sorted(name for name in keep if not name.startswith(LEFT_OUT))
        for name in sorted(files):
            if name.endswith((".ipynb", ".zip")) and not name.startswith(LEFT_OUT):
                yield Path(here, name)


def _hand_ins(learner: str, files: Iterable[Path], folder: Path, entry: str) -> list[HandIn]:
    found: list[HandIn] = []
    for path in files:
        name = cleaning.line(str(path.relative_to(folder)), 120)
        if path.suffix == ".zip":
            found += _zipped(learner, path, name)
        else:
            found.append(HandIn(learner, name, partial(_bytes, path, name, MOST_MIB)))
    if not found:
        name = cleaning.line(entry, 120)
        found.append(HandIn(learner, name, partial(_refuse, NothingHandedIn(file=name))))
    return found


def _within_limit(learner: str, found: list[HandIn]) -> list[HandIn]:
    if len(found) <= MOST_FILES:
        return found
    refusal = TooMany(file=learner, limit=MOST_FILES)
    return [*found[:MOST_FILES], HandIn(learner, learner, partial(_refuse, refusal))]


def _refuse(refusal: Unreadable) -> NoReturn:
    raise refusal


def _bytes(path: Path, name: str, limit: int) -> bytes:
    """Return a regular file's content; a link, a pipe or a device is not opened for reading.

    Raises:
        Unreadable: it is none, or cannot be read.
        TooLarge: it has more MiB than the limit.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        if path.is_symlink():
            raise Unreadable(file=name)
        with os.fdopen(os.open(path, flags), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise Unreadable(file=name)
            body = file.read((limit << 20) + 1)
    except OSError as error:
        raise Unreadable(file=name, original=os.strerror(error.errno or 0)) from None
    if len(body) > limit << 20:
        raise TooLarge(file=name, limit=limit)
    return body


def _zipped(learner: str, path: Path, name: str) -> list[HandIn]:
    """Return a hand-in for each notebook in an archive, or the one that tells why it has none."""
    try:
        if path.stat(follow_symlinks=False).st_size > MOST_ZIP_MIB << 20:
            raise TooLarge(file=name, limit=MOST_ZIP_MIB)
        if not path.is_file() or path.is_symlink():
            raise Unreadable(file=name)
        with zipfile.ZipFile(path) as archive:
            members = [one for one in archive.namelist() if _is_wanted(one)][: MOST_FILES + 1]
    except Unreadable as error:
        return [HandIn(learner, name, partial(_refuse, error))]
    except FROM_ZIP as error:
        bad = BadZip(file=name, original=cleaning.first_line(str(error)))
        return [HandIn(learner, name, partial(_refuse, bad))]
    inside = [(member, cleaning.line(f"{name}/{member}", 120)) for member in members]
    return [
        HandIn(learner, told, partial(_member, path, member, told)) for member, told in inside
    ] or [HandIn(learner, name, partial(_refuse, NothingHandedIn(file=name)))]


def _is_wanted(member: str) -> bool:
    parts = member.split("/")
    return member.endswith(".ipynb") and not any(part.startswith(LEFT_OUT) for part in parts)


def _member(path: Path, member: str, name: str) -> bytes:
    """Return a notebook's bytes out of an archive; reads no more of it than the limit, whatever
    size the archive claims.
    """
    try:
        with zipfile.ZipFile(path) as archive, archive.open(member) as file:
            body = file.read((MOST_MIB << 20) + 1)
    except (*FROM_ZIP, KeyError) as error:
        raise BadZip(file=name, original=cleaning.first_line(str(error))) from None
    if len(body) > MOST_MIB << 20:
        raise TooLarge(file=name, limit=MOST_MIB)
    return body
