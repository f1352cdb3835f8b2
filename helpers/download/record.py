"""What is known of a verified copy: the download record, and the files that it should have.

Reads and writes the record; compares nothing (`verify` does). Its form is an interface (DESIGN.md):
fields may be added, never renamed.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path
from typing import Literal
from urllib.parse import urlparse

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from helpers import messages, paths, records
from helpers.download import clientfiles
from helpers.download.hashing import Algorithm
from helpers.tables import Table

BROUGHT = {
    "lock": "download.hub.lock",
    "client": "download.hub.client",
    "nothing": "download.hub.nothing",
}
"""Who says what a copy should hold where no hub was asked, and the text for it."""


@dataclass(frozen=True)
class Expected:
    """One file as it should be.

    Attributes:
        path: its name in the repository, with slashes.
        size: bytes, or None where unknown.
        hash: hexadecimal, or None where the source gives none.
        algorithm: how the hash is made.
    """

    path: str
    size: int | None
    hash: str | None
    algorithm: Algorithm = "sha256"


@dataclass(frozen=True)
class Listing:
    """A repository at one commit.

    Attributes:
        repo: "owner/name".
        revision: the branch, tag or commit that was asked for.
        commit: the commit that it stands for.
        files: what belongs to it.
        source: who says so: the hub's address, "lock", "client" (the client's notes), or "nothing"
            (only the files' own structure is known).
    """

    repo: str
    revision: str
    commit: str
    files: tuple[Expected, ...]
    source: str

    @property
    def bytes(self) -> int:
        """Return the total, as far as known."""
        return sum(one.size or 0 for one in self.files)


class FileRecord(BaseModel):
    """One verified file. `compared` is False where no hash was known to compare with; the hash is
    then merely the one that the file had.
    """

    model_config = ConfigDict(extra="ignore")

    path: str
    size: int
    hash: str
    algorithm: Literal["sha256", "git-sha1"]
    mtime: float
    verified: str
    compared: bool = True


class Record(BaseModel):
    """A verified copy: repository, revision, files.

    Attributes:
        hub: the address that the files came from or were compared with; "lock", "client" or
            "nothing" for a copy that somebody brought.
        extra: files in the directory that are not the repository's; they are left alone.
    """

    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    schema_: Literal[1] = Field(default=1, alias="schema")
    repo: str
    revision: str
    commit: str
    hub: str
    files: list[FileRecord]
    extra: list[str] = []
    verified: str
    directory: Path = Field(Path(), exclude=True)

    @property
    def bytes(self) -> int:
        """Return the size of all files together."""
        return sum(one.size for one in self.files)

    @property
    def complete(self) -> bool:
        """Return whether every file was compared with a hash that its source gives."""
        return all(one.compared for one in self.files)

    def listing(self) -> Listing:
        """Return the files as this record knows them."""
        files = tuple(
            Expected(one.path, one.size, one.hash if one.compared else None, one.algorithm)
            for one in self.files
        )
        return Listing(self.repo, self.revision, self.commit, files, self.hub)

    def table(self) -> Table:
        """Return the record for people: nothing in it depends on the time or the machine."""
        compared = sum(one.compared for one in self.files)
        commit = f" ({self.commit[:12]})" if self.commit else ""
        verified = messages.text("download.verified", count=compared, of=len(self.files))
        rows = [
            ("download.row.repo", self.repo),
            ("download.row.hub", self._hub_shown()),
            ("download.row.revision", f"{self.revision}{commit}"),
            ("download.row.files", str(len(self.files))),
            ("download.row.bytes", f"{self.bytes:,} ({amount(self.bytes)})"),
            ("download.row.verified", verified),
        ]
        if self.extra:
            names = ", ".join(self.extra[:5]) + (" …" if len(self.extra) > 5 else "")
            rows.append(("download.row.extra", f"{len(self.extra)}: {names}"))
        head = [messages.text(code) for code in ("download.column.field", "download.column.value")]
        return Table(head, [(messages.text(code), value) for code, value in rows])

    def _hub_shown(self) -> str:
        if is_loopback(self.hub):
            return messages.text("download.hub.loopback")
        return messages.text(BROUGHT[self.hub]) if self.hub in BROUGHT else self.hub

    def __repr__(self) -> str:
        return str(self.table())

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def is_loopback(address: str) -> bool:
    """Return whether a hub's address is this machine's own, as our loopback hub's is."""
    host = urlparse(address).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def amount(count: float) -> str:
    """Return bytes for people, in decimal units as disks and hubs count."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count:.0f} B"


def read(directory: Path) -> Record | None:
    """Return the record of a directory, or None; the later one where there are two (the directory
    was read-only for a while).
    """
    found = [r for r in map(_read, _places(directory)) if r is not None]
    if not found:
        return None
    best = max(found, key=lambda record: datetime.fromisoformat(record.verified))
    best.directory = directory
    return best


def write(record: Record) -> Path:
    """Return where a record was written, whole or not at all: beside the weights, or in the state
    directory where they are read-only.
    """
    body = record.model_dump_json(indent=1, by_alias=True) + "\n"
    beside, elsewhere = _places(record.directory)
    try:
        return records.write_whole(beside, body)
    except OSError:
        elsewhere.parent.mkdir(parents=True, exist_ok=True)
        return records.write_whole(elsewhere, body)


def _read(path: Path) -> Record | None:
    try:
        record = Record.model_validate_json(path.read_bytes())
        datetime.fromisoformat(record.verified)
    except (OSError, ValidationError, ValueError):
        return None
    return record


def _places(directory: Path) -> Sequence[Path]:
    key = sha256(os.fsencode(directory.absolute())).hexdigest()[:16]
    return directory / clientfiles.RECORD, paths.state_dir() / "verified" / f"{key}.json"
