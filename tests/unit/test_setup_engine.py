"""The engine of setup: a given one is left alone, repairs, and which Python may be used."""

from __future__ import annotations

from pathlib import Path

import pytest
from setup_fakes import english, quick_venv

from helpers import interpreters, setup
from helpers.setup import engine, pythons
from helpers.setup.problems import SetupError

__all__ = ["english"]


def _given_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, with_vllm: bool) -> Path:
    python = quick_venv(tmp_path / "given")
    if with_vllm:
        metadata = (
            next((tmp_path / "given").glob("lib/python*/site-packages")) / "vllm-0.23.0.dist-info"
        )
        metadata.mkdir()
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: vllm\nVersion: 0.23.0\n")
    monkeypatch.setenv("LAB_ENGINE_PYTHON", str(python))
    return python


def _listing(directory: Path) -> list[tuple[str, int]]:
    return sorted((str(one), one.lstat().st_mtime_ns) for one in directory.rglob("*"))


def test_given_engine_is_used_and_not_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _given_engine(tmp_path, monkeypatch, with_vllm=True)
    before = _listing(tmp_path / "given")

    status = setup.main(["--only", "engine"])

    assert status == 0
    assert "vLLM 0.23.0. It is left as it is" in capsys.readouterr().out
    assert _listing(tmp_path / "given") == before
    assert not (tmp_path / "venvs" / "engine").exists()


def test_given_engine_without_vllm_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _given_engine(tmp_path, monkeypatch, with_vllm=False)

    status = setup.main(["--only", "engine"])

    assert status == 1
    assert "it has no vllm" in capsys.readouterr().err


def test_other_platform_skips_the_engine_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(interpreters, "find_engine", lambda: None)
    monkeypatch.setattr(engine.platform, "system", lambda: "Darwin")

    status = setup.main(["--only", "engine"])

    assert status == 0
    assert "BASE_URL" in capsys.readouterr().out


def test_broken_python_on_path_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shim = tmp_path / "python3.12"
    shim.write_text("#!/bin/sh\necho 'pyenv: python3.12: command not found' >&2\nexit 127\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert pythons.ask(shim) is None


def test_unsupported_python_is_refused_with_what_was_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SetupError, match="No usable Python 9.9"):
        pythons.candidates(["9.9"])
