"""Tests of the command line: what a learner types, and that a failure is a message, never a
traceback.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from light.light_engine import LightEngine, light_model, light_options

from helpers import __version__, engines, server
from helpers.cli import main

pytestmark = pytest.mark.usefixtures("own_state")
HEAVY = [
    *("torch", "vllm", "pandas", "matplotlib", "papermill", "nbformat", "openai", "IPython", "ray"),
    "jinja2",
]
Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def labs(tmp_path: Path) -> Command:
    """Return a function that runs `python -m helpers …` in an empty directory."""

    def made(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "helpers", *words],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=60,
        )

    return made


@pytest.fixture
def inside(kept_environ: None) -> CliRunner:
    """Return click's runner: the same commands without the second that a new process takes."""
    return CliRunner()


@pytest.fixture
def running(tmp_path: Path) -> server.Server:
    """Return a light server that serves; the command line finds it by its state file."""
    one = server.start(LightEngine(), light_model(tmp_path / "model"), light_options(0))
    assert isinstance(one, server.Server)
    one.wait_ready(10)
    return one


def test_help_lists_the_commands(labs: Command) -> None:
    done = labs("--help")

    assert done.returncode == 0
    assert {"run", "status", "stop", "serve", "setup"} <= set(done.stdout.split())


def test_version_is_the_packages(labs: Command) -> None:
    assert __version__ in labs("--version").stdout


def test_unknown_command_is_a_usage_error(labs: Command) -> None:
    done = labs("nonsense")

    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "No server of the course is running.\n"), ("zh", "没有课程启动的服务器在运行。\n")],
)
def test_status_of_nothing_says_so_in_the_language_asked(
    inside: CliRunner, language: str, said: str
) -> None:
    assert inside.invoke(main, ["--language", language, "status"]).output == said


def test_status_as_json_of_nothing_is_an_empty_list(inside: CliRunner) -> None:
    assert json.loads(inside.invoke(main, ["status", "--json"]).output) == []


def test_status_shows_a_running_server_as_table_and_as_json(
    labs: Command, running: server.Server
) -> None:
    table, rows = labs("--language", "en", "status"), json.loads(labs("status", "--json").stdout)

    assert [rows[0][name] for name in ("port", "state", "pid")] == [
        running.port,
        "ready",
        running.pid,
    ]
    assert str(running.port) in table.stdout
    assert "ready" in table.stdout
    assert running.stop().ok


def test_stop_ends_a_server_that_another_process_started(
    labs: Command, running: server.Server
) -> None:
    done = labs("--language", "en", "stop")

    assert done.returncode == 0
    assert "processes left: 0; port free: yes" in done.stdout
    assert running.status == "dead"


def test_stop_of_nothing_says_so(inside: CliRunner) -> None:
    done = inside.invoke(main, ["--language", "en", "stop", "--port", "1"])

    assert (done.exit_code, done.output) == (0, "No server of the course is running.\n")


def test_serve_with_an_unknown_lab_is_a_message(
    inside: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "select", lambda wanted: LightEngine())

    done = inside.invoke(main, ["--language", "en", "serve", "99_nothing"])

    assert done.exit_code == 1
    assert done.stderr.startswith("[run.unknown_lab]")


def test_run_with_an_unknown_lab_is_a_message_that_lists_the_catalogue(labs: Command) -> None:
    done = labs("--language", "en", "run", "99_nothing")

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("[run.unknown_lab] There is no lab 99_nothing.")
    assert "02_minicpm5" in done.stderr


def test_run_with_a_secret_is_refused_and_does_not_repeat_it(inside: CliRunner) -> None:
    done = inside.invoke(main, ["--language", "en", "run", "-p", "API_KEY", "s3cr3t"])

    assert done.exit_code == 1
    assert done.stderr.startswith("[run.secret_parameter]")
    assert "s3cr3t" not in done.output


def test_run_with_a_value_that_is_no_yaml_is_a_usage_error(inside: CliRunner) -> None:
    assert inside.invoke(main, ["run", "-p", "PORT", "{"]).exit_code == 2


def test_serve_with_an_engine_that_cannot_run_says_why(
    inside: CliRunner, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LAB_ENGINE_PYTHON", str(tmp_path / "nothing"))

    done = inside.invoke(main, ["--language", "en", "serve", "--engine", "cpu"])

    assert done.exit_code == 1
    assert done.stderr.startswith("[engine.unavailable]")


def test_language_from_the_variable_is_used(
    inside: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_LANGUAGE", "en")

    assert inside.invoke(main, ["status"]).output == "No server of the course is running.\n"


def test_import_of_the_package_loads_nothing_heavy() -> None:
    code = (
        "import sys; before = set(sys.modules); import helpers; "
        "new = set(sys.modules) - before; "
        "print(sorted(name for name in new if not name.startswith('helpers')))"
    )
    env = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True
    )

    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    "module", ["server", "chat", "checkpoint", "engines", "models", "environment"]
)
def test_import_of_a_lessons_module_loads_no_heavy_library(module: str) -> None:
    code = (
        f"import sys; from helpers import {module}; "
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"
