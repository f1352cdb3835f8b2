"""The command: its language, its imports, a read-only checkout, and what other commands say before it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from setup_fakes import english, until

from helpers import paths
from helpers.setup import commands, texts

__all__ = ["english"]


@pytest.mark.parametrize(
    ("variables", "language"),
    [
        ({}, "zh"),
        ({"LANG": "C.UTF-8"}, "zh"),
        ({"LANG": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LAB_LANGUAGE": "en"}, "en"),
    ],
)
def test_language_follows_the_setting_then_the_locale(
    variables: dict[str, str], language: str
) -> None:
    assert texts.language(variables) == language


@pytest.mark.parametrize("code", sorted(texts.TEXTS))
def test_texts_exist_in_both_languages_with_the_same_values(code: str) -> None:
    import string

    both = texts.TEXTS[code]

    fields = [
        sorted(name for _, name, _, _ in string.Formatter().parse(both[one]) if name)
        for one in ("zh", "en")
    ]
    assert fields[0] == fields[1]
    assert both["zh"] != both["en"] or code == "step-start"


def test_child_environment_drops_what_bends_it_and_keeps_proxies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {
        "PYTHONPATH": "/x",
        "PIP_USER": "1",
        "PIP_TARGET": "/y",
        "HTTPS_PROXY": "http://p:1",
    }.items():
        monkeypatch.setenv(name, value)

    found = commands.environment()

    assert "PYTHONPATH" not in found and "PIP_TARGET" not in found
    assert (found["PIP_USER"], found["HTTPS_PROXY"]) == ("0", "http://p:1")


_HOOK = """
import pkgutil, sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in sys.stdlib_module_names and top != "helpers":
            raise ImportError(name + " is not in the standard library")
sys.meta_path.insert(0, Refuse())
sys.path.insert(0, sys.argv[1])
import helpers.__main__, helpers.setup
for module in pkgutil.iter_modules(helpers.setup.__path__):
    __import__("helpers.setup." + module.name)
sys.argv = ["helpers", "setup", "--check", "--only", "course"]
sys.exit(helpers.__main__.main())
"""


def _checkout(place: Path) -> Path:
    """Return a copy of what setup needs of the checkout."""
    for name in ("helpers", "requirements"):
        shutil.copytree(
            paths.ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(paths.ROOT / "pyproject.toml", place)
    return place


def test_setup_imports_the_standard_library_only(tmp_path: Path) -> None:
    copy = _checkout(tmp_path / "copy")

    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _HOOK, str(copy)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (1, "")
    assert "missing or out of date" in done.stdout


def test_read_only_checkout_puts_the_environments_into_the_state_directory(tmp_path: Path) -> None:
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare (util-linux) to become another user")
    copy, state = _checkout(tmp_path / "copy"), tmp_path / "state"
    state.mkdir()
    for one in (copy, *copy.rglob("*")):
        one.chmod(one.stat().st_mode & ~0o222)
    variables = {**os.environ, "LAB_STATE_DIR": str(state), "PYTHONPATH": ""}
    other = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]

    done = subprocess.run(
        [*other, sys.executable, "-m", "helpers", "setup", "--check", "--only", "course"],
        cwd=copy, env=variables, capture_output=True, text=True, check=False,
    )  # fmt: skip
    copy.chmod(0o755)
    if "unshare" in done.stderr:
        pytest.skip("this kernel allows no user namespaces")

    assert "missing or out of date" in done.stdout, done.stderr
    assert (state / "venvs" / "logs" / "course.log").exists()
    assert not (copy / ".venvs").exists()


def test_other_commands_ask_for_setup_first_in_both_languages(tmp_path: Path) -> None:
    copy = _checkout(tmp_path / "copy")
    variables = {**os.environ, "LAB_STATE_DIR": str(tmp_path / "state")}

    done = subprocess.run(
        [sys.executable, "-S", "-m", "helpers", "status"],
        cwd=copy, env=variables, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 1
    assert "python -m helpers setup" in done.stderr and "请先运行" in done.stderr


@pytest.mark.full
def test_setup_makes_the_course_environment_from_nothing_and_resumes_a_killed_one(
    tmp_path: Path,
) -> None:
    copy = _checkout(tmp_path / "copy")
    command = [sys.executable, "-m", "helpers", "setup", "--only", "course"]
    first = subprocess.Popen(command, cwd=copy, stdout=subprocess.PIPE, text=True)
    until(
        lambda: len(list(copy.glob(".venvs/course/lib/python*/site-packages/*.dist-info"))) > 20,
        120,
    )
    first.kill()
    first.communicate()

    second = subprocess.run(command, cwd=copy, check=False)
    third = subprocess.run([*command, "--check"], cwd=copy, check=False)

    assert (second.returncode, third.returncode) == (0, 0)
