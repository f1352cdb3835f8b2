"""What every test shares: a state directory of the session, one run id, nothing left at the end.

LAB_RUN marks each process that a test starts, as `python -m helpers run` would; the session's end
stops them all and fails where anything outlived that. Importing this file loads no part of the
course.
"""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SCRUBBED = ("LAB_LANGUAGE", "LAB_API_KEY", "OPENAI_API_KEY", "LAB_BEGAN")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="also run the tests marked full")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--full") or "full" in (config.getoption("-m") or ""):
        return
    for item in items:
        if "full" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="marked full: needs --full"))


@pytest.fixture(scope="session", autouse=True)
def session_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the id that every process started by this session carries; at the end, prove that none
    is left.
    """
    folder = tmp_path_factory.mktemp("state")
    run = f"pytest-{os.getpid()}-{secrets.token_hex(4)}"
    with pytest.MonkeyPatch.context() as patch:
        for name in SCRUBBED:
            patch.delenv(name, raising=False)
        patch.setenv("LAB_STATE_DIR", str(folder))
        patch.setenv("LAB_RUN", run)
        yield run
        if "helpers.server" in sys.modules:
            _prove_nothing_left(run)


def _prove_nothing_left(run: str) -> None:
    """Stop what a test forgot, then fail if it had forgotten something that cannot be stopped."""
    from helpers import server
    from helpers.server import ledger, state

    server.stop_run(run)

    assert ledger.leftovers(run) == []
    assert [found.pid for _, found in state.read_all() if found.is_alive()] == []


@pytest.fixture(autouse=True)
def fresh_course(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no unit test inherit the language, the server or the variables that another one chose.

    The engine tests share one server on purpose and are left alone.
    """
    if request.path.parent.name != "unit":
        return
    # Set and removed: what a command line sets in between is gone when the test ends.
    monkeypatch.setenv("LAB_LANGUAGE", "")
    monkeypatch.delenv("LAB_LANGUAGE")
    messages = sys.modules.get("helpers.messages")
    if messages is not None:
        monkeypatch.setattr(messages, "_chosen", None)
    lifecycle = sys.modules.get("helpers.server.lifecycle")
    if lifecycle is not None:
        monkeypatch.setattr(lifecycle, "_current", None)
    environment = sys.modules.get("helpers.environment")
    if environment is not None:
        monkeypatch.setattr(environment, "_set_by", {})


@pytest.fixture
def kept_environ() -> Iterator[None]:
    """Put os.environ back as it was, for tests of code that changes it on purpose."""
    before = dict(os.environ)
    yield
    for name in os.environ.keys() - before.keys():
        del os.environ[name]
    os.environ.update(before)


@pytest.fixture
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a state directory that only this test uses: no other test's server is in its way."""
    folder = tmp_path / "state"
    monkeypatch.setenv("LAB_STATE_DIR", str(folder))
    return folder
