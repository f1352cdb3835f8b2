"""The code in a model's repository: listed, compared with what is known of it, refused where it is
other, until somebody has acknowledged exactly that code.

`--trust-remote-code` lets the engine run these files with all rights of its process. Reads files;
imports none of them, and starts no server.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from helpers import messages, paths, records
from helpers.download import clientfiles, errors, hashing, lockfile, record
from helpers.download.record import Record
from helpers.download.verify import existing
from helpers.tables import Table

STATES = {
    "lock": "download.code.lock",
    "record": "download.code.record",
    "acknowledged": "download.code.acknowledged",
    "differs": "download.code.differs",
    "unknown": "download.code.unknown",
}
"""What a file can be the same as, and the text for it."""

COLUMNS = (
    "download.code.file",
    "download.code.hash",
    "download.code.state",
    "download.code.named",
)


@dataclass(frozen=True)
class Code:
    """The code of one repository.

    Attributes:
        repo: "owner/name", or the directory's name where nobody knows.
        hashes: file → sha256, hexadecimal.
        states: file → a key of STATES.
        named: the files that config.json names in auto_map: what the engine would import.
        allowed: True where the flag may be given: there is no code, or all of it is known and
            TRUST_REMOTE_CODE is set.
    """

    repo: str
    hashes: dict[str, str]
    states: dict[str, str]
    named: tuple[str, ...]
    allowed: bool

    @property
    def digest(self) -> str:
        """Return one short hash of all the code together: what an acknowledgement names."""
        return _digest(self.hashes)

    def table(self) -> Table:
        """Return the files for people."""
        head = [messages.text(code) for code in COLUMNS]
        rows = [
            (
                name,
                self.hashes[name][:16],
                messages.text(STATES[self.states[name]]),
                messages.text("yes" if name in self.named else "no"),
            )
            for name in sorted(self.hashes)
        ]
        return Table(head, rows)

    def __repr__(self) -> str:
        return str(self.table()) if self.hashes else messages.text("download.code.none")

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return self.table()._repr_html_() if self.hashes else f"<p>{self}</p>"


def trust(model_dir: str | Path, acknowledge: bool | str = False) -> Code:
    """Return the code of a checkpoint and whether the engine may run it.

    Args:
        model_dir: the directory of a checkpoint.
        acknowledge: TRUST_REMOTE_CODE. False only lists. True allows code that is the same as in
            the class's lock, as was acknowledged before, or, the first time and without a lock, as
            the verified download has it; that is remembered. The digest that a refusal shows
            allows exactly the code that it was shown for.
    Raises:
        ModelMissing, ModelEmpty: no such directory, or nothing in it.
        CodeDiffers: the code is other than what is known; carries what differs, and its digest.
    """
    directory = existing(model_dir)
    known = record.read(directory)
    repo = known.repo if known else directory.name
    hashes = {
        name: hashing.digest(directory / name, "sha256")
        for name in clientfiles.present(directory)
        if name.endswith(".py")
    }
    states = _states(directory, repo, known, hashes)
    strange = [name for name, state in states.items() if state in ("differs", "unknown")]
    digest = _digest(hashes)
    if isinstance(acknowledge, str):
        if acknowledge != digest:
            raise _differs(directory, hashes, states)
        strange, states = [], dict.fromkeys(hashes, "acknowledged")
    elif acknowledge and strange:
        raise _differs(directory, hashes, states)
    # A stand-in's code is remembered under no real repository's name.
    if hashes and acknowledge and not _is_local(known):
        _remember(repo, hashes)
    allowed = not hashes or bool(acknowledge)
    return Code(repo, hashes, states, _named(directory), allowed)


def _states(
    directory: Path, repo: str, known: Record | None, hashes: dict[str, str]
) -> dict[str, str]:
    """Return what each file is the same as: the lock's word first, then what was acknowledged, then
    the record's.
    """
    locked = None if _is_local(known) else lockfile.listing(repo)
    if locked:
        pinned = {one.path: (one.hash, one.algorithm) for one in locked.files}
        return {name: _same(directory, name, pinned.get(name), "lock") for name in hashes}
    remembered = {} if _is_local(known) else _remembered(repo)
    if remembered:
        return {
            name: "acknowledged" if remembered.get(name) == one else "differs"
            for name, one in hashes.items()
        }
    recorded = {one.path: (one.hash, one.algorithm) for one in known.files} if known else {}
    return {name: _same(directory, name, recorded.get(name), "record") for name in hashes}


def _is_local(known: Record | None) -> bool:
    return known is not None and record.is_loopback(known.hub)


def _same(directory: Path, name: str, expected: Any, source: str) -> str:
    """Return the source where the file is as expected there, else "differs" or "unknown"."""
    if expected is None:
        return "unknown"
    value, algorithm = expected
    return source if hashing.digest(directory / name, algorithm) == value else "differs"


def _differs(directory: Path, hashes: dict[str, str], states: dict[str, str]) -> errors.CodeDiffers:
    lines = [f"{name}  sha256 {hashes[name]}  {states[name]}" for name in sorted(hashes)]
    return errors.CodeDiffers(
        directory=paths.shown(directory), digest=_digest(hashes), evidence="\n".join(lines)
    )


def _digest(hashes: dict[str, str]) -> str:
    listing = "".join(f"{one}  {name}\n" for name, one in sorted(hashes.items()))
    # With its prefix YAML, which reads a notebook's parameters, takes no digest for a number.
    return f"sha256:{sha256(listing.encode()).hexdigest()[:16]}"


def _named(directory: Path) -> tuple[str, ...]:
    """Return the files that config.json's auto_map names: "modeling_x.Class" is modeling_x.py."""
    try:
        found = json.loads((directory / "config.json").read_text(encoding="utf-8"))["auto_map"]
        values = list(found.values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ()
    flat = [item for one in values for item in (one if isinstance(one, list) else [one])]
    modules = {str(item).rpartition("--")[2].rpartition(".")[0] for item in flat if item}
    return tuple(sorted(f"{module.replace('.', '/')}.py" for module in modules if module))


def _store() -> Path:
    return paths.state_dir() / "acknowledged_code.json"


def _remembered(repo: str) -> dict[str, str]:
    """Return the hashes that were acknowledged for a repository, {} where none were."""
    try:
        found = json.loads(_store().read_text(encoding="utf-8"))[repo]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def _remember(repo: str, hashes: dict[str, str]) -> None:
    """Keep the hashes of code that may run."""
    store = _store()
    try:
        found = json.loads(store.read_text(encoding="utf-8"))
        entries = found if isinstance(found, dict) else {}
    except (OSError, ValueError):
        entries = {}
    if entries.get(repo) == hashes:
        return
    store.parent.mkdir(parents=True, exist_ok=True)
    records.write_whole(store, json.dumps({**entries, repo: hashes}, indent=1) + "\n")
