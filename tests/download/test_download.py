"""The download as a lab does it: what is fetched, what is left alone, what a second run costs."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from light import light_hub
from light.light_hub import REPO

from helpers import download, messages, paths
from helpers.download import client, clientfiles, errors, record
from helpers.download.record import Record
from helpers.errors import LabError

Fetch = Callable[..., Record]
SHARD = "model-00001-of-00002.safetensors"
LIMITED = ("/config.json", "/tokenizer.json")


def test_download_is_verified_recorded_and_asks_little_the_second_time(
    source: Path, target: Path, fetch: Fetch, same: Callable[[], bool]
) -> None:
    with download.loopback_hub(source, REPO) as hub:
        made = fetch(hub=hub.url)
        hub.asked.clear()
        again = fetch(hub=hub.url)

    assert same() and made.complete and again == made
    assert record.read(target) == made
    assert len(hub.asked) == 2


def test_model_dir_that_is_empty_is_the_courses_own_place_for_a_loopback_hub(
    source: Path, own_state: Path
) -> None:
    with download.loopback_hub(source, REPO) as hub:
        made = download.download(REPO, "", hub=hub.url)

    assert made.directory == own_state / "models" / REPO
    assert (made.directory / SHARD).is_file()


def test_learners_files_are_kept(source: Path, target: Path, fetch: Fetch) -> None:
    target.mkdir(parents=True)
    (target / "notes.txt").write_text("mine")
    (target / "config.json").write_text("my edit")

    with download.loopback_hub(source, REPO) as hub:
        made = fetch(hub=hub.url)

    (aside,) = (target / clientfiles.ASIDE).iterdir()
    assert aside.read_text() == "my edit"
    assert (target / "notes.txt").read_text() == "mine" and made.extra == ["notes.txt"]
    assert (target / "config.json").read_text() == (source / "config.json").read_text()


def test_new_revision_fetches_only_what_changed(
    source: Path, target: Path, fetch: Fetch, same: Callable[[], bool]
) -> None:
    with download.loopback_hub(source, REPO) as hub:
        before = fetch(hub=hub.url)
    (source / "README.md").write_text("another revision\n")

    with download.loopback_hub(source, REPO) as hub:
        after = fetch(hub=hub.url)

    assert same() and before.commit != after.commit
    assert not (target / clientfiles.ASIDE).exists()
    content = [line for line in hub.asked if line.startswith("GET") and "models" not in line]
    assert [line.rpartition("/")[2] for line in content] == ["README.md"]


def test_pinned_commit_is_downloaded(source: Path, fetch: Fetch) -> None:
    with download.loopback_hub(source, REPO) as hub:
        made = fetch(hub=hub.url, revision=hub.commit)

    assert (made.revision, made.commit) == (hub.commit, hub.commit)


def test_second_download_into_the_same_directory_is_refused(
    source: Path, target: Path, fetch: Fetch
) -> None:
    started, outcome = threading.Event(), []

    def other() -> None:
        with pytest.raises(errors.AlreadyRunning):
            fetch(hub=hub.url)
        outcome.append("refused")

    def second(_: object) -> None:
        if started.is_set() and not outcome:
            other()

    with (
        download.loopback_hub(source, REPO, handler=light_hub.limited(5e6, started)) as hub,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr("helpers.download.step.Live.update", lambda self, text: second(text))
        made = fetch(hub=hub.url)

    assert outcome == ["refused"] and made.complete


def test_client_runs_apart_and_writes_nowhere_else(
    source: Path, target: Path, own_state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own session; its home is ours; the parent of MODEL_DIR and the learner's home stay."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    sessions: list[bool] = []
    real = client.start

    def watched(*given: object) -> client.Client:
        made = real(*given)  # type: ignore[arg-type]
        sessions.append(psutil.Process(made.process.pid).ppid() == psutil.Process().pid)
        sessions.append(os.getsid(made.process.pid) == made.process.pid)
        return made

    monkeypatch.setattr(client, "start", watched)
    with download.loopback_hub(source, REPO) as hub:
        download.download(REPO, target, hub=hub.url)

    assert sessions == [True, True]
    assert list(home.iterdir()) == [] and list(target.parent.iterdir()) == [target]
    assert (own_state / "atomgit-home" / ".atomgit").is_dir()


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_command_shows_plan_record_and_place(
    source: Path, target: Path, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LAB_RUN")
    command = [sys.executable, "-m", "helpers", "--language", language, "download", REPO]

    with download.loopback_hub(source, REPO) as hub:
        done = subprocess.run(
            [*command, str(target), "--hub", hub.url],
            cwd=paths.ROOT, capture_output=True, text=True, check=True,
        )  # fmt: skip

    told = {
        "zh": ["本机上的回环 hub，不是 AtomGit", "7 个文件", "全部核对完毕", "7/7 个文件的哈希"],
        "en": ["not AtomGit", "7 files", "all verified", "hashes of 7/7 files"],
    }
    assert all(words in done.stdout for words in told[language]), done.stdout
    assert str(target) in done.stdout


def test_bare_client_calls_a_corrupted_download_a_success(source: Path, target: Path) -> None:
    """Why its word is not believed: with this test failing, `verify` could be simpler."""
    handler = light_hub.corrupting(light_hub.Faults(1))

    with download.loopback_hub(source, REPO, handler=handler) as hub:
        started = client.start(REPO, "main", target, hub.url, "", download.Patience())
        outcome = started.outcome()

    assert outcome.ok
    assert any((target / p.name).read_bytes() != p.read_bytes() for p in source.iterdir())


@pytest.mark.parametrize(
    ("repo", "revision", "error"),
    [
        ("OpenBMB/Nothing", None, errors.RepoMissing),
        ("no-owner", None, errors.RepoMissing),
        (REPO, "v9", errors.RevisionMissing),
    ],
)
def test_what_the_hub_has_not_is_named(
    source: Path, target: Path, repo: str, revision: str | None, error: type[LabError]
) -> None:
    with (
        download.loopback_hub(source, REPO) as hub,
        pytest.raises(error),
    ):
        download.download(repo, target, hub=hub.url, revision=revision)

    assert not target.exists()


def test_hub_that_sends_its_files_from_limited_addresses_is_downloaded_from(
    source: Path, fetch: Fetch, same: Callable[[], bool]
) -> None:
    """The client's limiter of /api/v1/file/, unmended, waits for ever at the third request."""

    class Limited(light_hub.Handler):
        def _route(self, *, body: bool) -> None:
            if self.path.startswith(f"/{REPO}/") and self.path.endswith(LIMITED):
                return self.refuse(307, {"Location": f"/api/v1/file{self.path}"})
            self.path = self.path.removeprefix("/api/v1/file")
            return super()._route(body=body)

    with download.loopback_hub(source, REPO, handler=Limited) as hub:
        fetch(hub=hub.url, patience=download.Patience(answer=5, stall=10, tries=1, pause=0.05))

    assert same()
