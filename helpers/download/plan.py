"""What a download will do, worked out and shown before its first byte: what is there already, what
is missing, how much room that takes.

Fetches nothing and changes nothing but to try whether the directory can be written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from helpers import messages, paths
from helpers.download import clientfiles, errors, places, record
from helpers.download.record import Expected, FileRecord, Listing
from helpers.download.verify import compare, extra


@dataclass(frozen=True)
class Plan:
    """A download, before it begins.

    Attributes:
        listing: the repository at its commit.
        directory: where it goes.
        right: its files that are there and verified.
        missing: files that are not there.
        outdated: files that are as an earlier verification left them, and are another revision's;
            they are replaced.
        wrong: files of these names with a content that no hub is known to have sent, perhaps a
            learner's; they are set aside, not overwritten.
        extra: files there that are not the repository's; left alone.
        here: bytes that need not be fetched, partial files included.
    """

    listing: Listing
    directory: Path
    right: tuple[FileRecord, ...]
    missing: tuple[Expected, ...]
    outdated: tuple[Expected, ...]
    wrong: tuple[Expected, ...]
    extra: tuple[str, ...]
    here: int

    @property
    def wanted(self) -> tuple[Expected, ...]:
        """Return the files to fetch."""
        return (*self.missing, *self.outdated, *self.wrong)

    @property
    def bytes(self) -> int:
        """Return the bytes still to be written."""
        return max(0, self.listing.bytes - self.here)

    def lines(self) -> list[str]:
        """Return the plan for people, a line each."""
        total = record.amount(self.listing.bytes)
        shown = paths.shown(self.directory)
        told = [
            messages.text("download.plan.what", repo=self.listing.repo,
                revision=self.listing.revision, commit=self.listing.commit[:12],
                files=len(self.listing.files), total=total),
            messages.text("download.plan.where", directory=shown,
                free=record.amount(places.free(self.directory))),
            messages.text("download.plan.here", right=len(self.right),
                here=record.amount(self.here), bytes=record.amount(self.bytes)),
        ]  # fmt: skip
        kind = places.volatile(self.directory)
        if kind and self.wanted:
            told.append(messages.text("download.plan.volatile", directory=shown, kind=kind))
        if self.outdated:
            told.append(messages.text("download.plan.outdated", count=len(self.outdated)))
        if self.wrong:
            names = ", ".join(one.path for one in self.wrong[:5])
            told.append(messages.text("download.plan.wrong", names=names, aside=clientfiles.ASIDE))
        if self.extra:
            names = ", ".join(self.extra[:5]) + (" …" if len(self.extra) > 5 else "")
            told.append(messages.text("download.plan.extra", count=len(self.extra), names=names))
        return told


def make(
    listing: Listing,
    directory: Path,
    known: Sequence[FileRecord] = (),
    *,
    everything: bool = False,
    show: Callable[[int], None] | None = None,
) -> Plan:
    """Return the plan for a directory. What is there is verified, by the record where it has not
    changed since.

    Args:
        listing: what the hub has.
        directory: where it shall lie.
        known: its files as they were when they were last found right.
        everything: read every byte that is there.
        show: called with the bytes read so far, now and then.
    """
    there = [one for one in listing.files if (directory / one.path).exists()]
    part = Listing(listing.repo, listing.revision, listing.commit, tuple(there), listing.source)
    found = compare(directory, part, known=known, everything=everything, show=show)
    right = {one.path for one in found.files}
    missing = tuple(one for one in listing.files if one not in there)
    partial = sum(
        min(_partial(directory, one), one.size or 0)
        for one in listing.files
        if one.path not in right
    )
    other = [one for one in there if one.path not in right]
    outdated = tuple(one for one in other if _as_left(directory, one, known))
    return Plan(
        listing=listing,
        directory=directory,
        right=tuple(found.files),
        missing=missing,
        outdated=outdated,
        wrong=tuple(one for one in other if one not in outdated),
        extra=tuple(extra(directory, listing)),
        here=sum(one.size for one in found.files) + partial,
    )


def _as_left(directory: Path, one: Expected, known: Sequence[FileRecord]) -> bool:
    """Return whether a file is, by size and time, what a record says of it."""
    state = (directory / one.path).stat()
    return any(
        (r.path, r.size, r.mtime) == (one.path, state.st_size, state.st_mtime) and r.compared
        for r in known
    )


def _partial(directory: Path, one: Expected) -> int:
    if one.hash is None:
        return 0
    return clientfiles.size(clientfiles.partial_path(directory, one.path, one.hash))


def need_room(plan: Plan) -> None:
    """Raise where the disk has too little room, or the directory cannot be written.

    Raises:
        NoRoom, NotWritable.
    """
    shown = paths.shown(plan.directory)
    free = places.free(plan.directory)
    if free < plan.bytes:
        raise errors.NoRoom(
            directory=shown, needed=record.amount(plan.bytes), free=record.amount(free)
        )
    try:
        plan.directory.mkdir(parents=True, exist_ok=True)
        probe = plan.directory / f".writable.{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise errors.NotWritable(directory=shown, original=paths.shown(error)) from error
