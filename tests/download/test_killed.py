"""A download whose process is killed at any moment: no client stays behind, and the next run ends
with verified files.
"""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from light import light_hub
from light.light_hub import REPO

from helpers import download, paths
from helpers.download import client, clientfiles
from helpers.download.record import Record

Fetch = Callable[..., Record]
RATE = 5e6
"""Bytes a second of the hub: the light checkpoint's 6.3 MB take over a second."""

SECONDS = 3.0
"""A run takes about this long; the moments are spread over it."""

CODE = """
import sys
from helpers import download
download.download(sys.argv[1], sys.argv[2], hub=sys.argv[3])
"""


def start(target: Path, hub: str) -> subprocess.Popen[bytes]:
    """Return a Python that downloads."""
    return subprocess.Popen(
        [sys.executable, "-c", CODE, REPO, str(target), hub],
        cwd=paths.ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def clients() -> list[psutil.Process]:
    """Return the living AtomGit clients that work for a process of this test's state directory."""
    home = str(paths.state_dir())
    found = []
    for process in psutil.process_iter():
        try:
            words = process.cmdline()
            ours = any(word.endswith("download/driver.py") for word in words)
            if ours and process.environ().get("HOME", "").startswith(home):
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue
    return found


def check_killed_and_run_again(source: Path, target: Path, seconds: float) -> None:
    """Kill a download that many seconds after its start; run it again to its end."""
    with download.loopback_hub(source, REPO, handler=light_hub.limited(RATE)) as hub:
        first = start(target, hub.url)
        time.sleep(seconds)
        first.kill()
        first.wait()
        left = [process for process in clients() if process.is_running()]
        gone, alive = psutil.wait_procs(left, timeout=5)
        assert alive == []
        assert not (target / clientfiles.RECORD).exists() or download.verify(
            target, everything=True
        )

        made = download.download(REPO, target, hub=hub.url)

    assert made.complete
    for path in source.iterdir():
        assert (target / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("moment", [0.9, 1.5, 2.2])
def test_killed_download_leaves_no_client_and_is_completed_by_the_next_run(
    source: Path, target: Path, moment: float
) -> None:
    check_killed_and_run_again(source, target, moment)


@pytest.mark.full
@pytest.mark.parametrize("number", range(10))
def test_download_killed_at_a_random_moment_is_completed_by_the_next_run(
    source: Path, target: Path, number: int
) -> None:
    check_killed_and_run_again(source, target, random.Random(number).uniform(0.0, SECONDS))


def test_kill_while_bytes_come_in_leaves_a_part_that_is_resumed(source: Path, target: Path) -> None:
    """The moments above are times; this one is certain to be in the middle of a shard."""
    started = threading.Event()

    with download.loopback_hub(source, REPO, handler=light_hub.limited(RATE, started)) as hub:
        first = start(target, hub.url)
        shards = [one for one in hub.files.values() if one.large]
        partials = [clientfiles.partial_path(target, one.name, one.etag) for one in shards]
        assert started.wait(30)
        while sum(map(clientfiles.size, partials)) < 2**21:
            assert first.poll() is None
            time.sleep(0.01)
        working = clients()
        first.kill()
        first.wait()
        gone, alive = psutil.wait_procs(working, timeout=5)
        asked = len(hub.asked)
        download.download(REPO, target, hub=hub.url)

    assert len(working) == 1 and alive == []
    again = [line for line in hub.asked[asked:] if line.startswith("GET lfs/")]
    assert len(again) == 2
    assert download.verify(target, everything=True).complete


def test_interrupted_download_ends_its_client(
    source: Path, fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = threading.Event()

    def interrupt(*_: object) -> None:
        if started.is_set():
            raise KeyboardInterrupt

    monkeypatch.setattr("helpers.download.step.Live.update", interrupt)
    with download.loopback_hub(source, REPO, handler=light_hub.limited(RATE, started)) as hub:
        with pytest.raises(KeyboardInterrupt):
            fetch(hub=hub.url)

        assert clients() == []
    assert client.log_of(REPO).exists()
