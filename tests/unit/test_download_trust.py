"""Tests of the lock of weights, and of refusing code that nobody has acknowledged."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from light import light_hub
from light.light_hub import REPO

from helpers import download, messages
from helpers.download import errors, hashing, lockfile, record
from helpers.download.record import Listing, Record
from helpers.download.step import _same_as_lock
from helpers.download.verify import verified

pytestmark = pytest.mark.usefixtures("own_state")
CODE = "modeling_light.py"


@pytest.fixture(autouse=True)
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a lock file of the test's own, not made yet."""
    path = tmp_path / "weights.lock.yml"
    monkeypatch.setattr(lockfile, "PATH", path)
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return light_hub.checkpoint(tmp_path / "model", shard=2000)


@pytest.fixture
def listing(model: Path) -> Listing:
    return light_hub.listed(model)


@pytest.fixture
def made(model: Path, listing: Listing) -> Record:
    return verified(model, listing)


def edit(model: Path, text: str = "import os\n") -> None:
    (model / CODE).write_text(text)


def test_lock_read_back_is_what_was_written(made: Record, lock: Path, listing: Listing) -> None:
    lock.write_text(
        "# The weights of a class.\nschema: 1\nrepositories: {other/repo: {files: {}}}\n"
    )

    lockfile.write(made)

    found = lockfile.listing(REPO)
    assert found is not None
    assert (found.files, found.commit) == (listing.files, listing.commit)
    assert lock.read_text().startswith("# The weights of a class.\nrepositories:")
    assert "other/repo" in yaml.safe_load(lock.read_text())["repositories"]


def test_lock_without_files_pins_nothing(lock: Path) -> None:
    lock.write_text(f"repositories:\n  {REPO}: {{revision: null, commit: null, files: {{}}}}\n")

    assert lockfile.listing(REPO) is None
    assert lockfile.listing("another/one") is None


@pytest.mark.parametrize(
    "body",
    [
        "<<<<<<< HEAD",
        "[1, 2]",
        "repositories: [1]",
        f"repositories: {{{REPO}: {{files: {{a: 1}}}}}}",
    ],
)
def test_spoilt_lock_is_told(lock: Path, body: str) -> None:
    lock.write_text(body)

    with pytest.raises(errors.LockUnreadable):
        lockfile.listing(REPO)


@pytest.mark.parametrize("hub", ["http://127.0.0.1:1", "nothing"])
def test_copy_of_no_real_hub_cannot_be_locked(model: Path, listing: Listing, hub: str) -> None:
    copy = verified(model, Listing(REPO, "main", listing.commit, listing.files, hub))

    with pytest.raises(errors.NotLockable):
        lockfile.write(copy)


def test_hub_with_other_content_than_the_lock_is_refused(made: Record, listing: Listing) -> None:
    lockfile.write(made)
    locked = lockfile.listing(REPO)
    assert locked is not None
    other = tuple(
        record.Expected(one.path, one.size, "0" * 40, one.algorithm) if one.path == CODE else one
        for one in listing.files
    )

    _same_as_lock(listing, locked)
    with pytest.raises(errors.LockDiffers, match=CODE):
        _same_as_lock(Listing(REPO, "main", "c", other, "https://hub.example"), locked)
    with pytest.raises(errors.LockDiffers):
        _same_as_lock(Listing(REPO, "main", "c", listing.files[1:], "https://hub.example"), locked)


def test_courses_lock_is_readable_and_names_the_two_models() -> None:
    path = Path(download.__file__).parents[2] / "course" / "weights.lock.yml"

    for repo in ("OpenBMB/MiniCPM-V-4_5", "OpenBMB/MiniCPM5-2B"):
        assert repo in yaml.safe_load(path.read_text(encoding="utf-8"))["repositories"]
        lockfile.listing(repo, path)


def test_code_is_listed_without_being_allowed(model: Path, made: Record) -> None:
    code = download.trust(model)

    assert list(code.hashes) == [CODE]
    assert (code.states[CODE], code.named, code.allowed) == ("record", (CODE,), False)
    assert CODE in repr(code) and hashing.digest(model / CODE, "sha256")[:16] in repr(code)


def test_code_of_the_verified_download_is_allowed_when_acknowledged(
    model: Path, made: Record
) -> None:
    assert download.trust(model, acknowledge=True).allowed


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_code_that_differs_from_the_record_is_refused_until_its_digest_is_given(
    model: Path, made: Record, language: str
) -> None:
    edit(model)

    with pytest.raises(errors.CodeDiffers) as caught:
        download.trust(model, acknowledge=True)
    digest = caught.value.values["digest"]

    assert digest in caught.value.told(language) and CODE in caught.value.told(language)
    assert download.trust(model, acknowledge=digest).allowed
    assert download.trust(model, acknowledge=True).allowed


def test_acknowledgement_lets_no_other_code_through(model: Path, made: Record) -> None:
    edit(model)
    digest = download.trust(model).digest
    download.trust(model, acknowledge=digest)
    edit(model, "import sys\n")

    for given in (True, digest, "sha256:0"):
        with pytest.raises(errors.CodeDiffers):
            download.trust(model, acknowledge=given)


def test_code_of_a_loopback_copy_is_remembered_for_no_repository(
    model: Path, tmp_path: Path
) -> None:
    verified(model, light_hub.listed(model, "http://127.0.0.1:1"))
    download.trust(model, acknowledge=True)
    real = light_hub.checkpoint(tmp_path / "real", shard=2000)
    edit(real, "import sys\n")

    verified(real, light_hub.listed(real))

    assert download.trust(real, acknowledge=True).allowed


def test_hub_of_a_folder_serves_no_python_cache(model: Path) -> None:
    before = light_hub.listed(model).files
    (model / "__pycache__").mkdir()
    (model / "__pycache__" / "modeling_light.cpython-311.pyc").write_bytes(b"cache")

    assert light_hub.listed(model).files == before


def test_code_that_came_later_is_refused(model: Path, made: Record) -> None:
    (model / "setup.py").write_text("import os\n")

    with pytest.raises(errors.CodeDiffers, match=r"setup\.py"):
        download.trust(model, acknowledge=True)


def test_code_is_compared_with_the_lock_first(model: Path, made: Record) -> None:
    lockfile.write(made)
    same = download.trust(model, acknowledge=True)
    edit(model)

    assert same.states == {CODE: "lock"}
    with pytest.raises(errors.CodeDiffers):
        download.trust(model, acknowledge=True)


def test_code_that_nobody_knows_is_refused(model: Path) -> None:
    with pytest.raises(errors.CodeDiffers):
        download.trust(model, acknowledge=True)


def test_checkpoint_without_code_needs_no_acknowledgement(tmp_path: Path) -> None:
    model = light_hub.checkpoint(tmp_path / "plain", shard=2000, code=False)
    messages.use("en")

    code = download.trust(model)

    assert code.allowed and code.hashes == {}
    assert "no code" in repr(code) and "no code" in code._repr_html_()


@pytest.mark.parametrize(
    ("auto_map", "named"),
    [
        ({"AutoModel": "modeling_x.Model"}, ("modeling_x.py",)),
        ({"AutoTokenizer": ["tok.Slow", None]}, ("tok.py",)),
        ({"AutoModel": "owner/repo--modeling_y.Model"}, ("modeling_y.py",)),
        ([], ()),
    ],
)
def test_files_that_config_names_are_told(
    model: Path, auto_map: object, named: tuple[str, ...]
) -> None:
    light_hub.write_json(model / "config.json", {"auto_map": auto_map})

    assert download.trust(model).named == named
