"""Tests of the kernel that setup registers for a platform's Jupyter, written into a directory of the
test's own.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from guide_pages import GUIDE, text_of

from helpers import messages
from helpers.setup import kernelspec


def registered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the kernel's description after it was registered below a folder."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(folder / "data"))
    kernelspec.register(Path(sys.executable), folder / "kernel.log")
    path = folder / "data" / "kernels" / kernelspec.NAME / "kernel.json"
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def test_kernel_runs_the_python_that_registered_it_and_carries_the_places_of_our_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("LAB_ENGINE_PYTHON", "/opt/engine/bin/python")

    found = registered(tmp_path, monkeypatch)

    assert found["argv"][0] == sys.executable
    assert found["env"] == {
        "LAB_STATE_DIR": str(tmp_path / "state"),
        "LAB_ENGINE_PYTHON": "/opt/engine/bin/python",
    }


def test_kernel_carries_nothing_that_was_not_set_and_has_the_name_that_the_guide_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LAB_STATE_DIR", raising=False)
    monkeypatch.delenv("LAB_ENGINE_PYTHON", raising=False)
    monkeypatch.setenv("LAB_API_KEY", "sk-of-nobody")

    found = registered(tmp_path, monkeypatch)

    assert not found.get("env")
    for page in ("modelarts", "atomgit_notebook", "instructor"):
        for language in messages.LANGUAGES:
            assert found["display_name"] in text_of(GUIDE / f"{page}.{language}.md")
