"""Tests of verifying a directory and of its record: what is read, what is refused, what is kept."""

from __future__ import annotations

import json
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
from helpers.download.record import Expected, Listing, Record
from helpers.download.verify import compare, verified
from helpers.errors import LabError, ModelEmpty, ModelMissing

pytestmark = pytest.mark.usefixtures("own_state")
SHARD = "model-00001-of-00002.safetensors"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return light_hub.checkpoint(tmp_path / "model", shard=2000)


@pytest.fixture
def listing(model: Path) -> Listing:
    """Return what the hub would say of the model."""
    with download.loopback_hub(model, REPO) as hub:
        files = tuple(
            Expected(one.name, one.size, one.etag, "sha256" if one.large else "git-sha1")
            for _, one in sorted(hub.files.items())
        )
        return Listing(REPO, "main", hub.commit, files, "https://hub.example")


@pytest.fixture
def made(model: Path, listing: Listing) -> Record:
    return verified(model, listing)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the files that are read for their hash from now on."""
    names: list[str] = []
    real = hashing.seen

    def noting(path: Path, *rest: object) -> hashing.Seen:
        names.append(path.name)
        return real(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(hashing, "seen", noting)
    return names


def test_record_has_the_fields_that_others_rely_on(model: Path, made: Record) -> None:
    body = json.loads((model / ".verified.json").read_text())

    assert (body["schema"], body["repo"], body["revision"]) == (1, REPO, "main")
    assert {"path", "size", "hash", "algorithm", "mtime", "verified"} <= body["files"][0].keys()
    assert record.read(model) == made


def test_unchanged_directory_is_not_read_again(model: Path, made: Record, read: list[str]) -> None:
    again = download.verify(model)

    assert read == []
    assert again == made


def test_only_a_changed_file_is_read_again(model: Path, made: Record, read: list[str]) -> None:
    os.utime(model / "config.json", (1, 1))

    again = download.verify(model)

    assert read == ["config.json"]
    assert record.read(model) == again != made


def test_everything_reads_every_file(model: Path, made: Record, read: list[str]) -> None:
    download.verify(model, everything=True)

    assert sorted(read) == sorted(one.path for one in made.files)


def test_change_of_same_size_and_time_is_found_by_everything_only(
    model: Path, made: Record
) -> None:
    path = model / SHARD
    state, content = path.stat(), bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))

    download.verify(model)

    with pytest.raises(errors.VerificationFailed, match=SHARD):
        download.verify(model, everything=True)


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_changed_file_is_refused_with_expected_and_got(
    model: Path, made: Record, language: str
) -> None:
    before = hashing.digest(model / "tokenizer.json", "git-sha1")
    content = (model / "tokenizer.json").read_bytes()
    (model / "tokenizer.json").write_bytes(content[::-1])

    with pytest.raises(errors.VerificationFailed) as caught:
        download.verify(model)

    told = caught.value.told(language)
    assert before in told and hashing.digest(model / "tokenizer.json", "git-sha1") in told


def test_missing_file_is_refused(model: Path, made: Record) -> None:
    (model / "config.json").unlink()

    with pytest.raises(errors.VerificationFailed, match=r"config\.json"):
        download.verify(model)


def test_pointer_in_place_of_weights_is_recognised(model: Path, made: Record) -> None:
    (model / SHARD).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")

    with pytest.raises(errors.PointerFile, match=SHARD):
        download.verify(model)


def test_repository_that_was_wrong_when_uploaded_is_refused(model: Path) -> None:
    """Every hash fits, and the index promises a tensor that no shard has."""
    index = model / "model.safetensors.index.json"
    content = json.loads(index.read_text())
    content["weight_map"]["lm_head"] = SHARD
    light_hub.write_json(index, content)
    names = clientfiles.present(model)
    files = [Expected(n, None, hashing.digest(model / n, "sha256")) for n in names]

    with pytest.raises(errors.VerificationFailed, match="lm_head"):
        verified(model, Listing(REPO, "main", "c", tuple(files), "https://hub.example"))

    assert not (model / ".verified.json").exists()


def test_files_that_are_not_the_repositorys_are_reported_and_kept(
    model: Path, listing: Listing
) -> None:
    (model / "notes.txt").write_text("mine")
    (model / ".cache").mkdir()
    (model / ".cache" / "x").touch()

    made = verified(model, listing)

    assert made.extra == ["notes.txt"]
    assert "notes.txt" in repr(made)
    assert (model / "notes.txt").read_text() == "mine"


def test_hashes_made_along_with_the_download_are_taken_only_while_they_fit(
    model: Path, listing: Listing, read: list[str]
) -> None:
    fresh = {SHARD: hashing.seen(model / SHARD, "sha256")}
    read.clear()

    compare(model, listing, fresh=fresh)
    fitting = list(read)
    read.clear()
    os.utime(model / SHARD, (1, 1))
    compare(model, listing, fresh=fresh)

    assert SHARD not in fitting
    assert SHARD in read


def test_missing_directory_and_empty_directory_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    with pytest.raises(ModelMissing):
        download.verify(tmp_path / "gone")
    with pytest.raises(ModelEmpty):
        download.verify(tmp_path / "empty")


def test_directory_that_nobody_knows_is_refused(model: Path) -> None:
    with pytest.raises(errors.NothingToCompare):
        download.verify(model)


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


def test_record_of_a_loopback_copy_says_that_it_is_not_atomgit(model: Path, listing: Listing) -> None:
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
