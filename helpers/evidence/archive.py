"""The archive itself: a zip of three JSON members, written whole, read without being unpacked.

A stranger's archive is read in memory, by members' fixed names and within fixed sizes: no path of
it ever becomes a path here. What the members say is judged by `merging`.
"""

from __future__ import annotations

import hashlib
import io
import json
import stat
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from helpers import messages, paths
from helpers.doctor.schemas import DoctorForm
from helpers.evidence.errors import Malformed, NotAnArchive, Unsafe
from helpers.evidence.schemas import Evidence
from helpers.schemas import Report

HEAD = "evidence.json"
MEMBERS = (HEAD, "report.json", "doctor.json")
LARGEST_ARCHIVE = 8 * 2**20
LARGEST_MEMBER = 16 * 2**20
"""Bytes. A run of the whole catalogue in both languages packs into well under a tenth of them."""

_EPOCH = (1980, 1, 1, 0, 0, 0)  # zip's earliest; the archive's own date stands in evidence.json
Form = TypeVar("Form", bound=BaseModel)


@dataclass(frozen=True)
class Contents:
    """What an archive holds, each member by its model."""

    head: Evidence
    report: Report
    doctor: DoctorForm


def dumps(data: Any) -> bytes:
    """Return JSON as a member holds it."""
    return (json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def digest(data: bytes) -> str:
    """Return the sha256 of a member."""
    return hashlib.sha256(data).hexdigest()


def write(path: Path, members: dict[str, bytes]) -> Path:
    """Return the path of an archive with these members.

    Raises:
        OSError: it cannot be written.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name in MEMBERS:
            file.writestr(zipfile.ZipInfo(name, _EPOCH), members[name], zipfile.ZIP_DEFLATED)
    temporary = path.with_name(f"{path.name}.tmp")
    temporary.write_bytes(buffer.getvalue())
    return temporary.replace(path)


def read(path: Path) -> Contents:
    """Return what an archive holds, after its names, sizes, hashes and forms were checked.

    Raises:
        NotAnArchive, Unsafe, Malformed: as they say.
    """
    data = _members(path)
    head = _formed(path, HEAD, data, Evidence)
    for name in MEMBERS[1:]:
        if head.files.get(name) != digest(data[name]):
            raise Malformed(file=paths.shown(path), member=name, original="sha256")
    return Contents(
        head,
        _formed(path, "report.json", data, Report),
        _formed(path, "doctor.json", data, DoctorForm),
    )


def _members(path: Path) -> dict[str, bytes]:
    try:
        if path.stat().st_size > LARGEST_ARCHIVE:
            raise _unsafe(path, "evidence.unsafe.size", name=path.name)
        with zipfile.ZipFile(path) as file:
            _look(path, file.infolist())
            return {name: _bytes(path, file, name) for name in MEMBERS}
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise NotAnArchive(file=paths.shown(path), original=str(error)) from error


def _look(path: Path, infos: list[zipfile.ZipInfo]) -> None:
    """Refuse an archive whose members are not exactly ours, each a small plain file."""
    for info in infos:
        if info.filename not in MEMBERS:
            raise _unsafe(path, "evidence.unsafe.name", name=info.filename)
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG) or info.flag_bits & 0x1:  # a link, or encrypted
            raise _unsafe(path, "evidence.unsafe.kind", name=info.filename)
        if info.file_size > LARGEST_MEMBER:
            raise _unsafe(path, "evidence.unsafe.size", name=info.filename)
    if sorted(info.filename for info in infos) != sorted(MEMBERS):
        raise _unsafe(path, "evidence.unsafe.members", name=", ".join(MEMBERS))


def _bytes(path: Path, file: zipfile.ZipFile, name: str) -> bytes:
    """Return a member's bytes; the size that it announces need not be the one that it has."""
    with file.open(name) as member:
        found = member.read(LARGEST_MEMBER + 1)
    if len(found) > LARGEST_MEMBER:
        raise _unsafe(path, "evidence.unsafe.size", name=name)
    return found


def _unsafe(path: Path, code: str, **values: str) -> Unsafe:
    return Unsafe(file=paths.shown(path), reason=messages.text(code, **values))


def _formed(path: Path, member: str, data: dict[str, bytes], form: type[Form]) -> Form:
    try:
        return form.model_validate_json(data[member])
    except ValidationError as error:
        said = "\n".join(str(error).splitlines()[:4])
        raise Malformed(file=paths.shown(path), member=member, original=said) from error
