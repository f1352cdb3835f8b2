"""The lab as another user: uid 1000, a home of its own, checkout and model that it cannot write, in
a folder whose name is Chinese and has a space.

`unshare --user` maps this user to another number without any privilege: modes then hold (a
directory of mode 555 refuses writes) and files of ours stay readable. Where the kernel refuses
that, the tests are skipped.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from helpers import paths, server
from helpers.engines import Cpu
from helpers.models import Model

LAB = "02_minicpm5"
NOT_CHECKED_OUT = (".git", ".venvs", "build", "__pycache__", ".*_cache", ".hypothesis")
# What a machine needs to reach its package index; everything else of ours stays behind.
KEPT = re.compile(r"PATH|LANG|PIP_.*|TORCH_INDEX_URL|SSL_CERT_FILE|.*_proxy|.*_PROXY")


def _as(uid: int) -> list[str]:
    """Return the words that run a command as another user id; skips where that is refused."""
    program = shutil.which("unshare")
    if program is None:
        pytest.skip("unshare is not installed")
    words = [program, "--user", f"--map-user={uid}", f"--map-group={uid}", "--"]
    tried = subprocess.run(
        [*words, "true"], capture_output=True, text=True, check=False, timeout=30
    )
    if tried.returncode != 0:
        pytest.skip(f"unshare --user is refused here: {tried.stderr.strip()}")
    return words


def _set_writable(root: Path, writable: bool) -> None:
    """Let nobody, or its owner, write to a directory and what is in it."""
    for path in [root, *root.rglob("*")]:
        mode = path.stat().st_mode & 0o777 | 0o444
        path.chmod(mode | 0o200 if writable else mode & ~0o222)


def _listing(root: Path) -> list[tuple[str, int]]:
    return sorted((str(path), path.stat().st_mtime_ns) for path in root.rglob("*"))


@pytest.fixture(scope="module")
def read_only(
    device: Cpu, model: Model, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """Return a folder with checkout/ and model/, copies that nobody can write."""
    if not model.stand_in:
        pytest.skip("the lab's answers are those of the stand-in")
    folder = tmp_path_factory.mktemp("课程 目录")
    ignored = shutil.ignore_patterns(*NOT_CHECKED_OUT)
    shutil.copytree(paths.ROOT, folder / "checkout", ignore=ignored)
    shutil.copytree(model.path, folder / "model")
    _set_writable(folder, False)
    yield folder
    _set_writable(folder, True)


@pytest.fixture
def variables(tmp_path: Path, device: Cpu) -> dict[str, str]:
    """Return the other user's environment: a fresh home, no state directory, no user name, and a
    TMPDIR that is not there.
    """
    kept = {name: value for name, value in os.environ.items() if KEPT.fullmatch(name)}
    engine = str(device.interpreter.python)
    ours = {"HOME": str(tmp_path), "TMPDIR": str(tmp_path / "没有"), "LAB_ENGINE_PYTHON": engine}
    return kept | ours


def _run(
    argv: list[str], variables: dict[str, str], folder: Path, timeout: float
) -> subprocess.CompletedProcess[str]:
    """Run a command in the read-only checkout."""
    checkout = folder / "checkout"
    return subprocess.run(
        argv,
        cwd=checkout,
        env=variables | {"PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def _lab(folder: Path) -> list[str]:
    given = {"ENGINE": "cpu", "MODEL_DIR": str(folder / "model"), "PORT": "0"}
    words = [word for name, value in given.items() for word in ("-p", name, value)]
    return ["-m", "helpers", "run", LAB, "--language", "zh", *words]


def _assert_lab_passed(done: subprocess.CompletedProcess[str], home: Path) -> None:
    assert done.returncode == 0, done.stdout + done.stderr
    latest = home / ".local" / "state" / "minicpm-labs" / "build" / "latest"
    report = json.loads((latest / "report.json").read_text(encoding="utf-8"))
    assert report["ok"]
    assert report["engine_starts"] == report["engine_starts_declared"]
    assert report["teardown"] == {"processes_left": 0, "ports_left": []}
    failed = [one for one in report["runs"][0]["checkpoints"] if not one["ok"]]
    assert failed == []
    assert {one["engine"] for one in report["runs"]} == {"cpu"}


def test_lab_as_another_user_with_a_given_engine_passes(
    read_only: Path, variables: dict[str, str], tmp_path: Path
) -> None:
    """Starts its own: the lab starts its engines itself, as the other user."""
    before = _listing(read_only)

    done = _run([*_as(1000), sys.executable, *_lab(read_only)], variables, read_only, 400)

    _assert_lab_passed(done, tmp_path)
    assert _listing(read_only) == before
    # The home holds nothing but caches, state and Jupyter's own directories.
    assert {path.name for path in tmp_path.iterdir()} <= {".cache", ".config", ".ipython", ".local"}


@pytest.mark.full
def test_setup_and_lab_as_another_user_pass(
    read_only: Path, variables: dict[str, str], tmp_path: Path
) -> None:
    """Starts its own: the engine is the one that setup has just installed into that user's home."""
    del variables["LAB_ENGINE_PYTHON"]
    before = _listing(read_only)
    python = shutil.which(f"python3.{sys.version_info.minor}") or sys.executable
    as_user = [*_as(1000), python]

    installed = _run([*as_user, "-m", "helpers", "setup"], variables, read_only, 1500)
    assert installed.returncode == 0, installed.stdout + installed.stderr
    done = _run([*as_user, *_lab(read_only)], variables, read_only, 400)

    _assert_lab_passed(done, tmp_path)
    assert _listing(read_only) == before
    # Two gigabytes that pytest would keep for its next three sessions.
    shutil.rmtree(tmp_path / ".local" / "state" / "minicpm-labs" / "venvs")


@pytest.mark.full
def test_serve_and_stop_without_a_passwd_entry_work(
    read_only: Path, variables: dict[str, str]
) -> None:
    """Starts its own: the process belongs to a user id without a name (getpass fails)."""
    command = [*_as(12345), sys.executable, "-m", "helpers"]
    where = ["--engine", "cpu", "--model-dir", str(read_only / "model"), "--port", "0"]

    started = _run([*command, "serve", LAB, *where], variables, read_only, 300)
    address = re.search(r"http://127\.0\.0\.1:(\d+)/v1", started.stdout)
    assert address, started.stdout + started.stderr
    listed = requests.get(f"{address.group()}/models", timeout=10, proxies={"http": ""}).json()
    stopped = _run([*command, "stop"], variables, read_only, 60)

    assert listed["data"][0]["id"] == "MiniCPM5-2B"
    assert stopped.returncode == 0, stopped.stdout + stopped.stderr
    assert server.port_is_free("127.0.0.1", int(address.group(1)))
