"""pip where the Python has no ensurepip: from the configured index, of the locked content only."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from setup_fakes import BASE, english, quick_venv, serve, wheel

from helpers import interpreters, paths
from helpers.setup import bootstrap, commands
from helpers.setup.problems import SetupError
from helpers.setup.pythons import Python

__all__ = ["english"]


PIP_MAIN = """
import pathlib, sys, sysconfig, zipfile
if sys.argv[1] == "--version":
    print("pip 26.3 from a test")
else:
    zipfile.ZipFile(sys.argv[-1]).extractall(sysconfig.get_path("purelib"))
"""


@pytest.fixture
def fake_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Return the wheel of a pip that unpacks itself; the bootstrap lock of the test names it."""
    content = wheel("pip", "26.3", files={"pip/__init__.py": "", "pip/__main__.py": PIP_MAIN})
    lock = tmp_path / "requirements" / bootstrap.LOCK
    lock.parent.mkdir()
    lock.write_text(f"pip==26.3 \\\n    --hash=sha256:{hashlib.sha256(content).hexdigest()}\n")
    monkeypatch.setattr(paths, "REQUIREMENTS", lock.parent)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    return content


def _without_ensurepip(directory: Path) -> Python:
    """Return a Python that has no ensurepip, as Debian's without python3-venv."""
    quick_venv(directory)
    site = next(directory.glob("lib/python*/site-packages"))
    (site / "tests.pth").write_text("import sys; sys.modules['ensurepip'] = None\n")
    return Python(directory / "bin" / "python", BASE.version)


def test_python_without_ensurepip_gets_pip_from_the_index(
    tmp_path: Path, fake_pip: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = _without_ensurepip(tmp_path / "base")
    with serve() as index:
        index.wheels["pip-26.3-py3-none-any.whl"] = fake_pip
        monkeypatch.setenv("PIP_INDEX_URL", index.address)

        bootstrap.make(python, tmp_path / "venvs" / "new", tmp_path / "log")

    inside = interpreters.inside(tmp_path / "venvs" / "new")
    assert "26.3" in commands.run([inside, "-I", "-m", "pip", "--version"], tmp_path / "log")


def test_pip_of_another_content_than_locked_is_refused(
    tmp_path: Path, fake_pip: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = _without_ensurepip(tmp_path / "base")
    with serve() as index:
        index.wheels["pip-26.3-py3-none-any.whl"] = fake_pip + b"tampered"
        monkeypatch.setenv("PIP_INDEX_URL", index.address)

        with pytest.raises(SetupError, match="SHA-256"):
            bootstrap.make(python, tmp_path / "venvs" / "new", tmp_path / "log")


def test_unreachable_index_without_ensurepip_says_what_next(
    tmp_path: Path, fake_pip: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = _without_ensurepip(tmp_path / "base")
    monkeypatch.setenv("PIP_INDEX_URL", "http://user:secret@127.0.0.1:9/simple")

    with pytest.raises(SetupError) as refused:
        bootstrap.make(python, tmp_path / "venvs" / "new", tmp_path / "log")

    assert "PIP_INDEX_URL" in str(refused.value)
    assert "secret" not in str(refused.value)
