"""Compares a directory with what it should hold: every file's size and hash, then what the
safetensors files say of themselves. Success of a download is said here and nowhere else.

Changes no file of the model; asks no hub.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from helpers import models, paths, records
from helpers.download import clientfiles, errors, hashing, lockfile, record, safetensors
from helpers.download.hashing import Seen
from helpers.download.record import Expected, FileRecord, Listing, Record
from helpers.errors import LabError, ModelEmpty, ModelMissing


@dataclass(frozen=True)
class Problem:
    """One file that is not as it should be.

    Attributes:
        file: its name in the repository.
        expected, got: hash, size or structure, as text.
        pointer: True for a git-lfs pointer in place of the content.
        content: True where the content itself is wrong, so that fetching it anew may help; False
            for a file that cannot be read, or that is what its source has and does not fit the
            others.
    """

    file: str
    expected: str
    got: str
    pointer: bool = False
    content: bool = True


@dataclass
class Comparison:
    """What came of comparing: the files that are right, and what is wrong."""

    files: list[FileRecord] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def compare(
    directory: Path,
    listing: Listing,
    *,
    known: Sequence[FileRecord] = (),
    fresh: Mapping[str, Seen] | None = None,
    everything: bool = False,
    show: Callable[[int], None] | None = None,
) -> Comparison:
    """Return which files of a directory are right and which are not.

    A file whose size, time and hash a record knows is not read again unless `everything` is asked
    for.

    Args:
        directory: where the files lie.
        listing: what they should be.
        known: files as they were when they were last found right.
        fresh: hashes made along with the download; taken where size and time still fit.
        everything: read every byte.
        show: called with the bytes read so far, now and then.
    """
    result = Comparison()
    earlier = {} if everything else {one.path: one for one in known}
    todo: list[Expected] = []
    for one in listing.files:
        problem = _by_size(directory, one)
        if problem:
            result.problems.append(problem)
        elif (kept := earlier.get(one.path)) and _still(directory, one, kept):
            result.files.append(kept)
        else:
            todo.append(one)
    hashes = _hashes(directory, todo, fresh or {}, show)
    for one in todo:
        _judge(one, hashes[one.path], result)
    result.files.sort(key=lambda one: one.path)
    return result


def _by_size(directory: Path, one: Expected) -> Problem | None:
    """Return what a look at the file alone shows to be wrong."""
    path = directory / one.path
    expected = f"{one.size:,} B" if one.size is not None else "?"
    if not path.is_file():
        return Problem(one.path, expected, "-")
    size = clientfiles.size(path)
    if one.size is None or size == one.size:
        return None
    return Problem(one.path, expected, f"{size:,} B", pointer=models.is_pointer(path))


def _still(directory: Path, one: Expected, kept: FileRecord) -> bool:
    """Return whether a file is what the record says, by size and time, and the record what is
    expected.
    """
    state = (directory / one.path).stat()
    same_hash = one.hash is None or (kept.compared and one.hash == kept.hash)
    return same_hash and (state.st_size, state.st_mtime) == (kept.size, kept.mtime)


def _hashes(
    directory: Path,
    todo: list[Expected],
    fresh: Mapping[str, Seen],
    show: Callable[[int], None] | None,
) -> dict[str, Seen | OSError]:
    """Return the hash of each file, read only where it was not made along with the download."""
    found: dict[str, Seen | OSError] = {}
    for one in todo:
        seen = fresh.get(one.path)
        state = (directory / one.path).stat()
        if (
            seen
            and seen.algorithm == one.algorithm
            and (seen.size, seen.mtime) == (state.st_size, state.st_mtime)
        ):
            found[one.path] = seen
    rest = [one for one in todo if one.path not in found]
    made = hashing.all_seen([(directory / one.path, one.algorithm) for one in rest], show)
    found.update({one.path: seen for one, seen in zip(rest, made, strict=True)})
    return found


def _judge(one: Expected, seen: Seen | OSError, result: Comparison) -> None:
    """Put one hashed file where it belongs."""
    expected = f"{one.algorithm} {one.hash}"
    if isinstance(seen, OSError):
        result.problems.append(Problem(one.path, expected, paths.shown(seen), content=False))
    elif one.hash is not None and seen.hash != one.hash:
        result.problems.append(Problem(one.path, expected, f"{seen.algorithm} {seen.hash}"))
    else:
        result.files.append(
            FileRecord(
                path=one.path, size=seen.size, hash=seen.hash, algorithm=seen.algorithm,
                mtime=seen.mtime, verified=records.now(), compared=one.hash is not None,
            )
        )  # fmt: skip


def _structure(directory: Path, name: str, told: str) -> Problem:
    pointer = models.is_pointer(directory / name)
    return Problem(name, "safetensors", told, pointer=pointer, content=False)


def failure(problems: list[Problem]) -> LabError:
    """Return the error for what is wrong: the first problem in its words, all in the evidence."""
    lines = [f"{one.file}: {one.expected} ≠ {one.got}" for one in problems]
    evidence = "\n".join(lines[:12])
    first = next((one for one in problems if one.pointer), problems[0])
    if first.pointer:
        return errors.PointerFile(file=first.file, evidence=evidence)
    return errors.VerificationFailed(
        file=first.file,
        expected=first.expected,
        got=first.got,
        count=len(problems),
        evidence=evidence,
    )


def verified(
    directory: Path,
    listing: Listing,
    *,
    known: Sequence[FileRecord] = (),
    fresh: Mapping[str, Seen] | None = None,
    everything: bool = False,
    show: Callable[[int], None] | None = None,
) -> Record:
    """Return the record of a directory after every file has been found right, and the safetensors
    files to agree with each other; it is written where it says something new.

    Args: as `compare`.
    Raises:
        VerificationFailed, PointerFile: a file is not as it should be.
    """
    found = compare(directory, listing, known=known, fresh=fresh, everything=everything, show=show)
    problems = found.problems or [
        _structure(directory, name, told)
        for name, told in safetensors.problems(directory, [one.path for one in listing.files])
    ]
    if problems:
        raise failure(problems)
    made = Record(
        repo=listing.repo, revision=listing.revision, commit=listing.commit, hub=listing.source,
        files=found.files, extra=extra(directory, listing), verified=records.now(),
        directory=directory,
    )  # fmt: skip
    before = record.read(directory)
    if before and before.model_dump(exclude={"verified"}) == made.model_dump(exclude={"verified"}):
        return before
    record.write(made)
    return made


def extra(directory: Path, listing: Listing) -> list[str]:
    """Return the files of a directory that are not the repository's."""
    names = {one.path for one in listing.files}
    return [name for name in clientfiles.present(directory) if name not in names]


def verify(model_dir: str | Path, everything: bool = False, repo: str = "") -> Record:
    """Return the record of a directory whose files are all right.

    Compared with the class's lock where it pins this repository, else with the record of the
    download, else with the client's notes. Only what changed since the last time is read.

    Args:
        model_dir: the directory of a checkpoint.
        everything: read every byte.
        repo: "owner/name" for a directory without a record.
    Raises:
        ModelMissing, ModelEmpty: no such directory, or nothing in it.
        NothingToCompare: no hash is known for it.
        VerificationFailed, PointerFile: a file is not as it should be.
    """
    directory = existing(model_dir)
    known = record.read(directory)
    listing = expected_of(directory, repo or (known.repo if known else ""), known)
    if listing is None:
        raise errors.NothingToCompare(directory=paths.shown(directory))
    return verified(directory, listing, known=known.files if known else (), everything=everything)


def existing(model_dir: str | Path) -> Path:
    """Return a directory that is there and holds something.

    Raises:
        ModelMissing, ModelEmpty.
    """
    directory = Path(model_dir).expanduser().absolute()
    try:
        entries = list(directory.iterdir())
    except OSError as error:
        raise ModelMissing(path=paths.shown(directory), original=paths.shown(error)) from error
    if not entries:
        raise ModelEmpty(path=paths.shown(directory))
    return directory


def expected_of(directory: Path, repo: str, known: Record | None) -> Listing | None:
    """Return what a directory should hold, asked of no hub: the lock's word (not for a loopback
    hub's copy), the record's, the client's notes; None where nobody knows.
    """
    locked = lockfile.listing(repo) if repo else None
    if locked and not (known and record.is_loopback(known.hub)):
        return locked
    if known:
        return known.listing()
    notes = clientfiles.noted(directory)
    if not notes:
        return None
    files = tuple(
        Expected(name, None, tag, "sha256" if len(tag) == 64 else "git-sha1")
        for name, tag in sorted(notes.items())
        if len(tag) in (40, 64)
    )
    return Listing(repo or directory.name, "", "", files, "client")
