"""The download against every fault that a hub, a network or a disk was seen to have: it ends in a
verified copy or in the right typed error, never in a false success.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from light import light_hub
from light.light_hub import REPO, Faults

from helpers import download, messages
from helpers.download import clientfiles, errors, hashing
from helpers.download.record import Record

Fetch = Callable[..., Record]
SHARD = "model-00001-of-00002.safetensors"


def test_cut_connection_is_resumed_where_it_was_cut(
    source: Path, fetch: Fetch, same: Callable[[], bool]
) -> None:
    faults = Faults(2)

    with download.loopback_hub(source, REPO, handler=light_hub.cutting(faults)) as hub:
        made = fetch(hub=hub.url)

    assert faults.happened == 2
    assert same() and made.complete
    resumed = [int(line.split()[-1]) for line in hub.asked if line.startswith(f"sent {SHARD}")]
    assert resumed[0] == 0 and resumed[-1] > 0


def test_hub_without_range_ends_verified_after_a_fresh_start(
    source: Path, fetch: Fetch, same: Callable[[], bool], target: Path
) -> None:
    faults = Faults(2)
    handler = light_hub.cutting(faults, honours_range=False)

    with download.loopback_hub(source, REPO, handler=handler) as hub:
        fetch(hub=hub.url)

    assert faults.happened == 2
    assert same()
    assert not (target / clientfiles.ASIDE).exists()


def test_same_size_corruption_is_fetched_again(
    source: Path, fetch: Fetch, same: Callable[[], bool]
) -> None:
    faults = Faults(1)

    with download.loopback_hub(source, REPO, handler=light_hub.corrupting(faults)) as hub:
        fetch(hub=hub.url)

    assert faults.happened == 1
    assert same()


def test_same_size_corruption_that_stays_is_told_in_both_languages(
    source: Path, fetch: Fetch, target: Path
) -> None:
    with (
        download.loopback_hub(source, REPO, handler=light_hub.corrupting(Faults(99))) as hub,
        pytest.raises(errors.VerificationFailed) as caught,
    ):
        fetch(hub=hub.url)

    for language in messages.LANGUAGES:
        told = caught.value.told(language)
        assert hashing.digest(source / SHARD, "sha256") in told and SHARD in told
    assert not (target / clientfiles.RECORD).exists()
    assert not (target / SHARD).exists()


def test_file_truncated_afterwards_is_noticed_and_fetched_again(
    source: Path, fetch: Fetch, target: Path, same: Callable[[], bool]
) -> None:
    with download.loopback_hub(source, REPO) as hub:
        fetch(hub=hub.url)
        os.truncate(target / SHARD, 1000)
        with pytest.raises(errors.VerificationFailed, match=SHARD):
            download.verify(target)
        fetch(hub=hub.url)

    assert same()
    (aside,) = (target / clientfiles.ASIDE).iterdir()
    assert aside.name.startswith(SHARD) and aside.stat().st_size == 1000


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_tampered_partial_file_is_noticed_and_fetched_again(
    source: Path, fetch: Fetch, target: Path, same: Callable[[], bool], share: float
) -> None:
    content = (source / SHARD).read_bytes()
    partial = clientfiles.partial_path(target, SHARD, hashing.digest(source / SHARD, "sha256"))
    partial.parent.mkdir(parents=True)
    partial.write_bytes(b"tampered" + content[8 : int(len(content) * share)])

    with download.loopback_hub(source, REPO) as hub:
        fetch(hub=hub.url)

    assert same()
    assert hub.asked.count(f"GET lfs/{hub.files[SHARD].etag}") >= 1


@pytest.mark.parametrize("commands", [("HEAD", "GET"), ("GET",)])
@pytest.mark.parametrize("name", [SHARD, "tokenizer.json"])
def test_listed_file_that_answers_404_is_named(
    source: Path, fetch: Fetch, name: str, commands: tuple[str, ...]
) -> None:
    handler = light_hub.missing(name, commands)

    with (
        download.loopback_hub(source, REPO, handler=handler) as hub,
        pytest.raises(errors.FileMissing) as caught,
    ):
        fetch(hub=hub.url)

    assert caught.value.values["file"] == name
    assert "404" in str(caught.value.original)


def test_private_repository_without_token_is_no_access(source: Path, fetch: Fetch) -> None:
    with (
        download.loopback_hub(source, REPO, token="right") as hub,
        pytest.raises(errors.NoAccess) as caught,
    ):
        fetch(hub=hub.url)

    assert "401" in caught.value.what


def test_wrong_token_is_a_bad_token(
    source: Path, fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_ATOMGIT_TOKEN", "wrong-one")

    with (
        download.loopback_hub(source, REPO, token="right") as hub,
        pytest.raises(errors.BadToken) as caught,
    ):
        fetch(hub=hub.url)

    assert "wrong-one" not in str(caught.value)


def test_right_token_downloads_a_private_repository(
    source: Path, fetch: Fetch, same: Callable[[], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_ATOMGIT_TOKEN", "right")

    with download.loopback_hub(source, REPO, token="right") as hub:
        fetch(hub=hub.url)

    assert same()


@pytest.mark.parametrize("content", [False, True], ids=["at all", "content"])
def test_silent_hub_is_told_as_silent(source: Path, fetch: Fetch, content: bool) -> None:
    over = threading.Event()
    patience = download.Patience(connect=2, answer=1, stall=1.5, tries=2, pause=0.05)

    with download.loopback_hub(
        source, REPO, handler=light_hub.silent(over, content=content)
    ) as hub:
        with pytest.raises(errors.HubSilent) as caught:
            fetch(hub=hub.url, patience=patience)
        over.set()

    assert caught.value.values["hub"] == hub.url


@pytest.mark.parametrize("handler", [None, light_hub.failing(500)], ids=["gone", "HTTP 500"])
def test_unreachable_hub_and_a_directory_that_is_not_empty_is_no_success(
    source: Path, fetch: Fetch, target: Path, handler: type | None
) -> None:
    target.mkdir(parents=True)
    (target / "config.json").write_text("{}")

    with download.loopback_hub(source, REPO, handler=handler or light_hub.Handler) as hub:
        if handler:
            with pytest.raises(errors.HubUnreachable):
                fetch(hub=hub.url)
    with pytest.raises(errors.HubUnreachable):
        fetch(hub=hub.url)

    assert (target / "config.json").read_text() == "{}"


def test_unreachable_hub_and_a_verified_copy_is_a_success_after_verifying(
    source: Path, fetch: Fetch, target: Path
) -> None:
    with download.loopback_hub(source, REPO) as hub:
        fetch(hub=hub.url)

    made = fetch(hub=hub.url)
    (target / SHARD).write_bytes(b"\0" * (target / SHARD).stat().st_size)

    assert made.complete
    with pytest.raises(errors.VerificationFailed, match=SHARD):
        fetch(hub=hub.url)


def test_client_that_fetched_nothing_and_says_success_is_not_believed(
    source: Path, fetch: Fetch, target: Path
) -> None:
    """The hub answers our questions and refuses the client's: it then returns the directory as it
    is, which huggingface_hub calls a success.
    """
    target.mkdir(parents=True)
    (target / "notes.txt").write_text("mine")

    class ForUs(light_hub.Handler):
        def _route(self, *, body: bool) -> None:
            if self.headers.get("User-Agent") == "minicpm-labs":
                return super()._route(body=body)
            return self.refuse(500)

    with (
        download.loopback_hub(source, REPO, handler=ForUs) as hub,
        pytest.raises(errors.ClientFailed, match="Returning existing local_dir"),
    ):
        fetch(hub=hub.url)

    assert (target / "notes.txt").read_text() == "mine"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a directory on a disk of 10 MiB; skip where nobody may mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=10m", "tmpfs", str(place)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True, check=False)
    except OSError as error:
        pytest.skip(f"no mount here: {error}")
    if done.returncode:
        pytest.skip(f"mounting a tmpfs is refused here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_disk_that_fills_up_in_the_middle_is_told_and_resumed_when_there_is_room(
    source: Path, fetch: Fetch, small_disk: Path
) -> None:
    filler, target = small_disk / "filler", small_disk / "Light"
    filled = threading.Event()

    def fill() -> None:
        if not filled.is_set():
            filled.set()
            filler.write_bytes(b"\0" * (6 * 2**20))

    with download.loopback_hub(source, REPO, handler=light_hub.calling(fill)) as hub:
        with pytest.raises(errors.DiskFull) as caught:
            download.download(REPO, target, hub=hub.url)
        filler.unlink()
        made = download.download(REPO, target, hub=hub.url)

    assert "28" in str(caught.value.original)
    assert made.complete


def test_disk_that_is_too_small_is_told_before_the_first_byte(
    source: Path, fetch: Fetch, small_disk: Path
) -> None:
    (small_disk / "filler").write_bytes(b"\0" * (6 * 2**20))

    with (
        download.loopback_hub(source, REPO) as hub,
        pytest.raises(errors.NoRoom),
    ):
        download.download(REPO, small_disk / "Light", hub=hub.url)

    assert not [line for line in hub.asked if line.startswith("GET lfs/")]
