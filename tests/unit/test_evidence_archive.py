"""Reading a stranger's archive: what is not ours is refused, nothing is unpacked, no name becomes a path."""

from __future__ import annotations

import json
import stat
import zipfile
from pathlib import Path

import pytest
from evidence_runs import cpu_machine, folder

from helpers.errors import LabError
from helpers.evidence import archive, packing
from helpers.evidence.errors import Malformed, NotAnArchive, Unsafe


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the members of an archive that is right."""
    place = folder(tmp_path_factory.mktemp("good") / "run", labs=("02_minicpm5",))
    with zipfile.ZipFile(packing.pack(place, examined=cpu_machine())) as file:
        return {name: file.read(name) for name in file.namelist()}


def zipped(path: Path, members: list[tuple[str | zipfile.ZipInfo, bytes]]) -> Path:
    """Return the path of a zip with these members, in order, whatever they are called."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members:
            file.writestr(name, data)
    return path


def link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def refused(path: Path) -> LabError:
    """Return the error of reading an archive; nothing may lie beside it afterwards."""
    before = sorted(path.parent.rglob("*"))
    with pytest.raises(LabError) as caught:
        archive.read(path)
    assert sorted(path.parent.rglob("*")) == before
    return caught.value


def test_archive_that_is_right_is_read(tmp_path: Path, members: dict[str, bytes]) -> None:
    path = zipped(tmp_path / "a.zip", list(members.items()))

    assert archive.read(path).report.runs[0].lab == "02_minicpm5"


@pytest.mark.parametrize("name", ["../evil.json", "/etc/passwd", "a/b.json", "..\\x", "notes.txt"])
def test_member_of_another_name_is_refused(
    name: str, tmp_path: Path, members: dict[str, bytes]
) -> None:
    path = zipped(tmp_path / "a.zip", [*members.items(), (name, b"x")])

    assert isinstance(refused(path), Unsafe)


def test_link_in_place_of_a_member_is_refused(tmp_path: Path, members: dict[str, bytes]) -> None:
    rest = [(name, data) for name, data in members.items() if name != "doctor.json"]

    path = zipped(tmp_path / "a.zip", [*rest, (link("doctor.json"), b"/etc/passwd")])

    assert "doctor.json" in refused(path).told("en")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_member_that_is_there_twice_is_refused(tmp_path: Path, members: dict[str, bytes]) -> None:
    path = zipped(tmp_path / "a.zip", [*members.items(), ("report.json", b"{}")])

    assert isinstance(refused(path), Unsafe)


def test_member_that_is_missing_is_told(tmp_path: Path, members: dict[str, bytes]) -> None:
    rest = [(name, data) for name, data in members.items() if name != "doctor.json"]

    assert isinstance(refused(zipped(tmp_path / "a.zip", rest)), Unsafe)


def test_member_that_unpacks_to_more_than_a_run_can_have_is_refused(
    tmp_path: Path, members: dict[str, bytes]
) -> None:
    bomb = b" " * (archive.LARGEST_MEMBER + 1)

    path = zipped(tmp_path / "a.zip", list((members | {"report.json": bomb}).items()))

    assert isinstance(refused(path), Unsafe)
    assert path.stat().st_size < archive.LARGEST_ARCHIVE


def test_member_that_is_larger_than_it_announces_is_refused(
    tmp_path: Path, members: dict[str, bytes]
) -> None:
    bomb = b" " * (archive.LARGEST_MEMBER + 1)
    path = zipped(tmp_path / "a.zip", list((members | {"report.json": bomb}).items()))
    size = (archive.LARGEST_MEMBER + 1).to_bytes(4, "little")

    path.write_bytes(path.read_bytes().replace(size, (100).to_bytes(4, "little")))

    assert isinstance(refused(path), Unsafe | NotAnArchive | Malformed)


def test_archive_that_is_too_large_is_not_even_opened(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with path.open("wb") as file:
        file.truncate(archive.LARGEST_ARCHIVE + 1)

    assert isinstance(refused(path), Unsafe)


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"no zip at all"])
def test_file_that_is_no_archive_is_told(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(data)

    assert isinstance(refused(path), NotAnArchive)


def test_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert isinstance(refused(tmp_path / "none.zip"), NotAnArchive)


def test_archive_that_was_cut_off_is_told(tmp_path: Path, members: dict[str, bytes]) -> None:
    path = zipped(tmp_path / "a.zip", list(members.items()))

    path.write_bytes(path.read_bytes()[:-200])

    assert isinstance(refused(path), NotAnArchive)


@pytest.mark.parametrize(
    ("member", "old", "new"),
    [
        ("report.json", b'"status": "pass"', b'"status": "todo"'),
        ("doctor.json", b'"ok": ', b'"ok":  '),
    ],
)
def test_member_that_was_changed_is_told(
    member: str, old: bytes, new: bytes, tmp_path: Path, members: dict[str, bytes]
) -> None:
    changed = members[member].replace(old, new)
    assert changed != members[member]

    error = refused(zipped(tmp_path / "a.zip", list((members | {member: changed}).items())))

    assert isinstance(error, Malformed)
    assert member in error.told("en")


@pytest.mark.parametrize(
    "change",
    [
        {"schema": 2},
        {"surprise": 1},
        {"machine": None},
        {"labs": [{"lab": "02_minicpm5", "language": "en", "code": "0"}]},
        {"claims": [{"id": "A2", "verdict": "true", "because": ""}]},
    ],
)
def test_head_that_is_not_of_the_form_is_told(
    change: dict[str, object], tmp_path: Path, members: dict[str, bytes]
) -> None:
    head = json.loads(members[archive.HEAD]) | change
    data = members | {archive.HEAD: json.dumps(head).encode()}

    assert isinstance(refused(zipped(tmp_path / "a.zip", list(data.items()))), Malformed)
