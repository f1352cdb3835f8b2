"""Hashes of files: sha256 as git-lfs names large files, git's blob sha1 for the others; several at
a time, or along with a download.

Decides nothing about what a hash should be: `verify` compares.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

Algorithm = Literal["sha256", "git-sha1"]
BLOCK = 4 * 2**20
"""Bytes read at a time; hashlib lets other threads run meanwhile."""


@dataclass(frozen=True)
class Seen:
    """The hash of a file, and the state of the file that it belongs to.

    Attributes:
        hash: hexadecimal.
        algorithm: how it was made.
        size: bytes.
        mtime: seconds since the epoch, as `os.stat` gives it.
    """

    hash: str
    algorithm: Algorithm
    size: int
    mtime: float


def started(algorithm: Algorithm, size: int) -> Any:
    """Return a hashlib object that has taken in what comes before the content: for git, the blob's
    header with its size in bytes.
    """
    if algorithm == "sha256":
        return hashlib.sha256()
    return hashlib.sha1(f"blob {size}\0".encode(), usedforsecurity=False)


def digest(path: Path, algorithm: Algorithm) -> str:
    """Return the hash of a file, hexadecimal."""
    return seen(path, algorithm).hash


class Tally:
    """How far several threads have got with their bytes, and whether they shall give up."""

    def __init__(self) -> None:
        self.done: dict[Path, int] = {}
        self.stopped = False

    def __int__(self) -> int:
        return sum(self.done.values())


def seen(path: Path, algorithm: Algorithm, tally: Tally | None = None) -> Seen:
    """Return the hash of a file with the size and time that it had when it was opened.

    Args:
        path: the file.
        algorithm: "sha256" or "git-sha1".
        tally: told the bytes read so far; can stop the reading.
    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb", buffering=0) as file:
        state = os.fstat(file.fileno())
        sum_ = started(algorithm, state.st_size)
        for total in _blocks(file, sum_):
            if tally:
                tally.done[path] = total
                if tally.stopped:
                    raise InterruptedError
    return Seen(sum_.hexdigest(), algorithm, state.st_size, state.st_mtime)


def all_seen(
    files: Sequence[tuple[Path, Algorithm]], show: Callable[[int], None] | None = None
) -> list[Seen | OSError]:
    """Return the hashes of files in their order, made on all cores of this process; what cannot be
    read gives its OSError.

    Args:
        files: path and algorithm of each.
        show: called in this thread, a few times a second, with the bytes read so far.
    """
    tally = Tally()

    def one(path: Path, algorithm: Algorithm) -> Seen | OSError:
        try:
            return seen(path, algorithm, tally)
        except OSError as error:
            return error

    with ThreadPoolExecutor(cores()) as pool:
        running = [pool.submit(one, path, algorithm) for path, algorithm in files]
        try:
            while wait(running, timeout=0.2).not_done:
                if show:
                    show(int(tally))
        except BaseException:  # Ctrl-C: do not read on to the end of a 5 GB file
            tally.stopped = True
            raise
    return [future.result() for future in running]


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _blocks(file: IO[bytes], sum_: Any) -> Iterator[int]:
    """Yield how many bytes have been hashed, after each block, up to the file's present end."""
    view = memoryview(bytearray(BLOCK))
    total = 0
    while read := file.readinto(view):  # type: ignore[attr-defined]
        sum_.update(view[:read])
        total += read
        yield total


class Growing:
    """The hash of a file that the client is still writing: what has come is taken in at once, so
    that little is left to do at the end.

    The client appends to `partial`, then renames it to `final`; an open file follows that.
    """

    def __init__(self, final: Path, partial: Path, algorithm: Algorithm, size: int) -> None:
        self.final = final
        self.partial = partial
        self._algorithm = algorithm
        self._size = size
        self._file: IO[bytes] | None = None
        self._sum: Any = None
        self._done = 0

    def follow(self, limit: int | None = 16 * BLOCK) -> None:
        """Take in what has been written since the last time.

        Args:
            limit: bytes at most, so that a fast download cannot hold up who is watching it.
        """
        try:
            if self._file is None:
                self._file = self.partial.open("rb", buffering=0)
                self._sum, self._done = started(self._algorithm, self._size), 0
            if not self._is_current() or os.fstat(self._file.fileno()).st_size < self._done:
                return self.forget()
            read = 0
            for read in _blocks(self._file, self._sum):
                if limit is not None and read >= limit:
                    break
            self._done += read
        except OSError:
            self.forget()
        return None

    def _is_current(self) -> bool:
        """Return whether the open file still has one of its two names."""
        assert self._file is not None
        state = os.fstat(self._file.fileno())
        for path in (self.partial, self.final):
            try:
                if os.path.samestat(state, path.stat()):
                    return True
            except OSError:
                continue
        return False

    def forget(self) -> None:
        """Begin again: the file is gone, or another one has its name."""
        if self._file is not None:
            self._file.close()
        self._file = None

    def finish(self) -> Seen | None:
        """Return the hash of the finished file, or None where it is not the file that was followed
        (then it must be read once more).
        """
        if self._file is not None:
            self.follow(limit=None)
        file = self._file
        if file is None:
            return None
        state = os.fstat(file.fileno())
        try:
            same = os.path.samestat(state, self.final.stat())
        except OSError:
            same = False
        self.forget()
        if not same or self._done != self._size or state.st_size != self._size:
            return None
        return Seen(self._sum.hexdigest(), self._algorithm, state.st_size, state.st_mtime)
