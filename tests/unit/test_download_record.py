"""Tests of the record of a verified copy: read, written, shown; and of copies that somebody brought."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from light import light_hub
from light.light_hub import REPO

from helpers import download, messages, paths
from helpers.download import clientfiles, errors, hashing, lockfile, record
from helpers.download.record import Listing, Record
from helpers.download.verify import verified
from helpers.errors import LabError

pytestmark = pytest.mark.usefixtures("own_state")
SHARD = "model-00001-of-00002.safetensors"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return light_hub.checkpoint(tmp_path / "model", shard=2000)


@pytest.fixture
def listing(model: Path) -> Listing:
    return light_hub.listed(model)


@pytest.fixture
def made(model: Path, listing: Listing) -> Record:
    return verified(model, listing)


@pytest.mark.parametrize("body", ["", "{}", "[1]", '{"schema": 1, "repo": 3}'])
def test_record_that_is_none_counts_as_none(model: Path, made: Record, body: str) -> None:
    (model / ".verified.json").write_text(body)

    assert record.read(model) is None


def test_clients_notes_are_compared_with_where_there_is_no_record(
    model: Path, listing: Listing
) -> None:
    for one in listing.files:
        note = clientfiles.metadata_path(model, one.path)
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(f"commit\n{one.hash}\n1.0\n")

    made = download.verify(model)
    (model / SHARD).write_bytes(b"\0" * (model / SHARD).stat().st_size)

    assert made.hub == "client" and len(made.files) == len(listing.files)
    with pytest.raises(errors.VerificationFailed, match=SHARD):
        download.verify(model)


def test_lock_is_stronger_than_the_record(
    model: Path, made: Record, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(lockfile, "PATH", tmp_path / "weights.lock.yml")
    lockfile.write(made)
    (model / "modeling_light.py").write_text("import os\n")
    forged = record.read(model)
    assert forged is not None
    for one in forged.files:
        if one.path == "modeling_light.py":
            state = (model / one.path).stat()
            one.hash = hashing.digest(model / one.path, "git-sha1")
            one.size, one.mtime = state.st_size, state.st_mtime
    record.write(forged)

    with pytest.raises(errors.VerificationFailed, match=r"modeling_light\.py"):
        download.verify(model)


def test_record_of_a_read_only_directory_goes_into_the_state_directory(
    model: Path, listing: Listing, own_state: Path
) -> None:
    code = (
        "import json, sys; from pathlib import Path; from helpers import download;"
        "print(len(download.download('OpenBMB/Light', sys.argv[1], source='local').files))"
    )
    verified(model, listing)
    (model / ".verified.json").rename(model / "notes.json")
    own_state.mkdir(exist_ok=True)
    model.chmod(0o555)
    other = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare (util-linux) to become another user")

    done = subprocess.run(
        [*other, sys.executable, "-c", code, str(model)],
        cwd=paths.ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    model.chmod(0o755)
    if "unshare" in done.stderr:
        pytest.skip("this kernel allows no user namespaces")

    assert done.stdout.strip().endswith(str(len(listing.files) + 1)), done.stderr
    assert not (model / ".verified.json").exists()
    assert list((own_state / "verified").glob("*.json"))


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_record_shown_says_what_was_compared_and_no_path_or_time(
    made: Record, model: Path, language: str
) -> None:
    messages.use(language)

    shown = repr(made)

    assert REPO in shown and f"{len(made.files)}/{len(made.files)}" in shown
    assert str(model) not in shown and made.verified not in shown
    assert "<table" in made._repr_html_()


def test_record_of_a_loopback_copy_says_that_it_is_not_atomgit(
    model: Path, listing: Listing
) -> None:
    local = Listing(REPO, "main", listing.commit, listing.files, "http://127.0.0.1:40000")
    messages.use("en")

    assert "not AtomGit" in repr(verified(model, local))


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("http://127.0.0.1:80", True), ("http://localhost:8", True), ("http://[::1]:9", True),
        ("https://hub.atomgit.com", False), ("http://10.0.0.5", False), ("lock", False),
    ],
)  # fmt: skip
def test_loopback_addresses_are_told_from_others(address: str, expected: bool) -> None:
    assert record.is_loopback(address) is expected


def test_local_copy_without_any_hash_is_looked_at_by_its_structure(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = download.download(REPO, model, source="local")

    assert not made.complete and made.hub == "nothing"
    os.truncate(model / SHARD, 100)
    with pytest.raises(errors.VerificationFailed, match=SHARD):
        download.download(REPO, model, source="local")


def test_local_copy_with_a_lock_is_compared_with_it(
    model: Path, made: Record, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(lockfile, "PATH", tmp_path / "weights.lock.yml")
    lockfile.write(made)
    copy = shutil.copytree(model, tmp_path / "copy", ignore=shutil.ignore_patterns(".*"))

    found = download.download(REPO, copy, source="local")
    (copy / "modeling_light.py").write_text("import os\n")

    assert found.complete and found.hub == "lock"
    with pytest.raises(errors.VerificationFailed, match=r"modeling_light\.py"):
        download.download(REPO, copy, source="local")


def test_unknown_source_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(LabError, match="atomgit | local"):
        download.download(REPO, source="huggingface")
