"""Tests of what lab 00 shows of libraries and recordings: the loader's rule, and a line that a tool printed."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from helpers import environment, paths
from helpers.doctor import npu_failures

LIBRARY = "liblab_loader_trial.so"
LOAD = f"import ctypes; ctypes.CDLL({LIBRARY!r}); print('loaded')"
SHOWN = paths.ROOT / "assets" / "recorded"
RECORDED = paths.ROOT / "tests" / "fixtures" / "ascend" / "recorded" / "npu_smi_errors"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a library that no loader looks into; the variable is put back afterwards."""
    monkeypatch.setenv("LD_LIBRARY_PATH", os.environ.get("LD_LIBRARY_PATH", ""))
    shutil.copy(str(psutil._psutil_linux.__file__), tmp_path / LIBRARY)  # type: ignore[attr-defined]
    return tmp_path


def loaded_by_a_child() -> str:
    """Return the last line that a child says which loads the library."""
    env = environment.child({"LC_ALL": "C"})
    done = subprocess.run([sys.executable, "-c", LOAD], env=env, capture_output=True, text=True)
    return (done.stdout + done.stderr).strip().splitlines()[-1]


def test_library_outside_the_loaders_folders_is_missing_for_a_child(folder: Path) -> None:
    said = loaded_by_a_child()

    assert f"{LIBRARY}: cannot open shared object file" in said
    found = npu_failures.failure(said)
    assert found is not None and found.library == LIBRARY


def test_library_path_set_in_a_running_process_is_seen_by_its_children_only(folder: Path) -> None:
    environment.set(LD_LIBRARY_PATH=folder)

    assert loaded_by_a_child() == "loaded"
    with pytest.raises(OSError, match=LIBRARY):
        ctypes.CDLL(LIBRARY)


def test_library_copied_for_the_trial_is_one_that_loads(folder: Path) -> None:
    assert ctypes.CDLL(str(folder / LIBRARY))


def test_recorded_line_of_the_lab_is_the_fixture_with_its_source() -> None:
    shown = SHOWN / "npu_smi_libc_sec_so.txt"

    assert shown.read_bytes() == (RECORDED / "libc_sec_so_missing.txt").read_bytes()
    assert shown.name in (SHOWN / "README.md").read_text(encoding="utf-8")
