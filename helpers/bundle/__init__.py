"""One archive for whoever is asked for help: versions, the doctor's findings, command and
environment, logs, their diagnosis, and an issue's text for the right repository; without secrets.

`subject` says which logs it is about, `contents` makes the files, `issue` the issue's text,
`archive` writes. Not for sending anything: the learner reads the archive first, and posts it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from helpers.bundle import archive, contents
from helpers.bundle.subject import Subject
from helpers.diagnose import Diagnosis
from helpers.diagnose.routing import Route

__all__ = ["Made", "Subject", "make"]


@dataclass(frozen=True)
class Made:
    """A bundle that was written.

    Attributes:
        path: the archive; files: the names in it, in order.
        removed: how often something was taken out of it, by kind (as masking.Mask.removed).
        diagnosis: of the first log. route: where to ask; its first place is the repository.
    """

    path: Path
    files: tuple[str, ...]
    removed: dict[str, int]
    diagnosis: Diagnosis
    route: Route


def make(subject: Subject, out: Path) -> Made:
    """Return what was written about some logs.

    Args:
        out: the archive's path; nothing may be there yet.
    Raises:
        BundleExists, BundleUnwritable: it cannot be written there.
        LogUnreadable: a log cannot be read.
    """
    archive.refuse_existing(out)
    made = contents.make(subject)
    archive.write(out, made.files)
    removed = dict(made.mask.removed)
    return Made(out, tuple(made.files), removed, made.diagnoses[0], made.route)
