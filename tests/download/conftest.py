"""Download tests: the real AtomGit client, in its own environment, against hubs on the loopback."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import pytest
from light.light_hub import REPO, checkpoint

from helpers import download
from helpers.download import client
from helpers.download.patience import Patience
from helpers.download.record import Record

QUICK = Patience(connect=2, answer=2, stall=4, tries=3, pause=0.05)
"""What a learner waits minutes for, a test waits seconds for."""

Fetch = Callable[..., Record]


@pytest.fixture(scope="session", autouse=True)
def atomgit(session_run: str) -> None:
    """Make the client's environment, once."""
    client.prepare(print, print)


@pytest.fixture(autouse=True)
def no_token(own_state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no token of this machine's user take part, and every test have its own state."""
    monkeypatch.delenv("LAB_ATOMGIT_TOKEN", raising=False)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return the checkpoint that a hub serves."""
    return checkpoint(tmp_path / "source")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Return MODEL_DIR, not made yet."""
    return tmp_path / "models" / "Light"


@pytest.fixture
def fetch(target: Path) -> Fetch:
    """Return `download(hub=…)` into `target`, impatient."""
    return functools.partial(download.download, REPO, target, patience=QUICK)


@pytest.fixture
def same(source: Path, target: Path) -> Callable[[], bool]:
    """Return a question: has `target` byte by byte what `source` has?"""

    def question() -> bool:
        names = [path.name for path in source.iterdir()]
        return all((target / n).read_bytes() == (source / n).read_bytes() for n in names)

    return question
