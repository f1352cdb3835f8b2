"""What of a log goes into a bundle: which lines, under their numbers, and no half of a secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.bundle import excerpt
from helpers.masking import MARK, Mask


def test_long_log_keeps_head_end_and_evidence_under_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "long.log"
    path.write_text("".join(f"line {n}\n" for n in range(1, 5001)))

    found = excerpt.masked("x", excerpt.read(path, [2500]), [2500], Mask())

    head, around, end = range(1, 401), range(2480, 2521), range(4201, 5001)
    assert found.lines == {n: f"line {n}" for part in (head, around, end) for n in part}
    assert "… lines 401-2479 of 5000 left out …" in found.text()


def test_secret_that_the_end_of_a_part_cuts_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "long.log"
    lines = [f"line {n}" for n in range(1, 5001)]
    lines[399], lines[400] = "ends in pl4nted-", "value begins"
    lines[4199], lines[4200] = "ends in pl4nted-", "value begins"
    path.write_text("\n".join(lines))

    found = excerpt.masked("x", excerpt.read(path, []), [], Mask(["pl4nted-value"]))

    assert (found.lines[400], found.lines[4201]) == (f"ends in {MARK}", f"{MARK} begins")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le"])
def test_log_in_another_encoding_is_masked_too(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.log"
    path.write_bytes(
        ("start of it all, long enough\n" * 9 + "key pl4nted-value\n").encode(encoding)
    )

    found = excerpt.masked("x", excerpt.read(path, []), [], Mask(["pl4nted-value"]))

    assert found.lines[10] == f"key {MARK}"


def test_line_without_an_end_is_cut_at_a_blank(tmp_path: Path) -> None:
    path = tmp_path / "wide.log"
    path.write_text("word " * 13_105 + "pl4nted-" + "x" * 200_000 + "\nnext\n")

    found = excerpt.read(path, [])

    assert [number for number, _ in found] == [1, 2]
    assert found[0][1].endswith("word ")
    assert "pl4nted" not in found[0][1]
