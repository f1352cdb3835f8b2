"""Tests of hashing: what git and hashlib say, several files at a time, a file that still grows."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.download import hashing
from helpers.download.hashing import Growing


@pytest.mark.parametrize("content", [b"", b"hello\n", b"\0" * 5_000_000], ids=len)
def test_git_sha1_is_what_git_itself_says(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    said = subprocess.run(
        ["git", "hash-object", "--no-filters", str(path)],
        capture_output=True,
        text=True,
        check=True,
    )

    assert hashing.digest(path, "git-sha1") == said.stdout.strip()


def test_all_seen_keeps_the_order_and_gives_the_error_of_a_missing_file(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / str(number)).write_bytes(bytes([number]) * 1000)
    files = [(tmp_path / name, "sha256") for name in ("3", "gone", "1")]

    third, gone, first = hashing.all_seen(files)  # type: ignore[arg-type]

    assert isinstance(gone, FileNotFoundError)
    assert isinstance(third, hashing.Seen) and isinstance(first, hashing.Seen)
    assert third.hash == hashlib.sha256(b"\3" * 1000).hexdigest()
    assert first.hash == hashlib.sha256(b"\1" * 1000).hexdigest()
    assert (first.size, first.mtime) == (1000, (tmp_path / "1").stat().st_mtime)


def test_all_seen_stops_reading_when_interrupted(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.touch()
    os.truncate(path, 8 * 2**30)

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hashing.all_seen([(path, "sha256")], interrupt)


@settings(max_examples=30, deadline=None)
@given(pieces=st.lists(st.binary(max_size=3000), min_size=1, max_size=6), renamed=st.booleans())
def test_growing_file_gets_the_hash_of_the_whole(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], renamed: bool
) -> None:
    folder = tmp_path_factory.mktemp("growing")
    whole = b"".join(pieces)
    growing = Growing(folder / "final", folder / "partial", "git-sha1", len(whole))
    with (folder / "partial").open("ab", buffering=0) as file:
        for piece in pieces:
            file.write(piece)
            growing.follow()
    (folder / "partial").rename(folder / "final")
    if renamed:
        growing.follow()

    seen = growing.finish()

    assert seen is not None
    assert seen.hash == hashing.digest(folder / "final", "git-sha1")


def test_growing_file_that_another_replaced_is_followed_anew(tmp_path: Path) -> None:
    partial, final = tmp_path / "partial", tmp_path / "final"
    growing = Growing(final, partial, "sha256", 4)
    partial.write_bytes(b"wrong")
    growing.follow()
    partial.rename(tmp_path / "aside")
    partial.write_bytes(b"rig")
    growing.follow()
    growing.follow()
    with partial.open("ab") as file:
        file.write(b"h")
    partial.rename(final)

    seen = growing.finish()

    assert seen is not None and seen.hash == hashlib.sha256(b"righ").hexdigest()


def test_growing_file_that_was_cut_back_is_followed_anew(tmp_path: Path) -> None:
    partial, final = tmp_path / "partial", tmp_path / "final"
    growing = Growing(final, partial, "sha256", 6)
    partial.write_bytes(b"longer")
    growing.follow()
    os.truncate(partial, 0)
    growing.follow()
    partial.write_bytes(b"others")
    partial.rename(final)

    assert growing.finish() in (None, hashing.seen(final, "sha256"))


@pytest.mark.parametrize("content", [b"short", b"too long by far"])
def test_growing_file_of_another_size_gives_no_hash(tmp_path: Path, content: bytes) -> None:
    growing = Growing(tmp_path / "final", tmp_path / "partial", "sha256", 8)
    (tmp_path / "partial").write_bytes(content)
    growing.follow()
    (tmp_path / "partial").rename(tmp_path / "final")

    assert growing.finish() is None


def test_growing_file_that_came_whole_between_two_looks_gives_no_hash(tmp_path: Path) -> None:
    growing = Growing(tmp_path / "final", tmp_path / "partial", "sha256", 5)
    growing.follow()
    (tmp_path / "final").write_bytes(b"whole")

    assert growing.finish() is None
