"""nbval's part: compare a checkpoint by its text form, under a run id, and stop whatever a notebook left.

Loaded by pytest for tests/notebooks, and by name (`-p tests.notebooks.conftest`) where nbval itself runs the notebooks:
a conftest speaks for its own directory only, and the notebooks lie elsewhere.
"""

from __future__ import annotations

import importlib.util
import os
import secrets
import sys
from types import ModuleType
from typing import Any

import pytest

CHECKPOINT = "application/vnd.labs.checkpoint+json"


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Leave the checkpoint's JSON out of nbval's comparison: it holds seconds and versions."""
    skipped: Any = getattr(collector, "skip_compare", None)
    if isinstance(skipped, tuple) and CHECKPOINT not in skipped:
        collector.skip_compare = (*skipped, CHECKPOINT)  # type: ignore[attr-defined]


def pytest_sessionstart(session: pytest.Session) -> None:
    """Give the kernels that nbval starts a run id, so that what they leave can be found."""
    if _by_nbval(session) and not os.environ.get("LAB_RUN"):
        os.environ["LAB_RUN"] = f"nbval-{os.getpid()}-{secrets.token_hex(4)}"


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Stop what the notebooks have started: nbval kills their kernels hard, so no cell of theirs can."""
    run = os.environ.get("LAB_RUN")
    if _by_nbval(session) and run:
        from helpers import server

        server.stop_run(run)


def _by_nbval(session: pytest.Session) -> bool:
    """Return True where nbval runs notebooks in this session, strictly or by tag."""
    return any(session.config.getoption(name, False) for name in ("nbval", "nbval_lax"))


@pytest.fixture(scope="session")
def build() -> ModuleType:
    """Return course/build.py as a module; it is an author's tool, not part of the package."""
    from helpers import paths

    sys.path.insert(0, str(paths.COURSE))
    spec = importlib.util.spec_from_file_location("course_build", paths.COURSE / "build.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
