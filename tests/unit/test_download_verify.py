"""Tests of verifying a directory and of its record: what is read, what is refused, what is kept."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from light import light_hub
from light.light_hub import REPO

from helpers import download, messages
from helpers.download import clientfiles, errors, hashing, record
from helpers.download.record import Expected, Listing, Record
from helpers.download.verify import compare, verified
from helpers.errors import ModelEmpty, ModelMissing

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
