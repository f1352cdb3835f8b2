"""A planted token, looked for everywhere: outputs, files, logs, command lines, environments."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from light import light_hub
from light.light_hub import REPO

from helpers import download, paths

TOKEN = "planted-8f2c1d-token"


def shown_by_processes() -> list[str]:
    """Return the command lines of /proc that hold the token."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            content = path.read_bytes()
        except OSError:
            continue
        if TOKEN.encode() in content:
            found.append(content.decode(errors="replace"))
    return found


def held_by_clients() -> tuple[int, list[str]]:
    """Return how many clients run, and the environments among theirs that hold the token."""
    count, found = 0, []
    for process in psutil.process_iter():
        try:
            if any(word.endswith("download/driver.py") for word in process.cmdline()):
                count += 1
                found += [value for value in process.environ().values() if TOKEN in value]
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue
    return count, found


def files_with_token(*folders: Path) -> list[Path]:
    """Return the files below some directories that hold the token."""
    return [
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and TOKEN.encode() in path.read_bytes()
    ]


@pytest.mark.parametrize("wanted", [TOKEN, "another"], ids=["accepted", "refused"])
def test_token_is_in_no_output_file_log_or_process_list(
    source: Path, target: Path, own_state: Path, tmp_path: Path, wanted: str
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    variables = {**os.environ, "LAB_ATOMGIT_TOKEN": TOKEN, "HOME": str(home)}
    command = [sys.executable, "-m", "helpers", "download", REPO, str(target), "--hub"]
    cmdlines, environments, clients = [], [], 0

    with download.loopback_hub(
        source, REPO, token=wanted, handler=light_hub.limited(6e6)
    ) as hub, subprocess.Popen(
        [*command, hub.url], cwd=paths.ROOT, env=variables,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as running:  # fmt: skip
        while running.poll() is None:
            cmdlines += shown_by_processes()
            count, held = held_by_clients()
            clients, environments = max(clients, count), environments + held
            time.sleep(0.02)
        output = running.stdout.read() if running.stdout else ""

    assert running.returncode == (0 if wanted == TOKEN else 1)
    assert (clients > 0) == (wanted == TOKEN)
    assert (cmdlines, environments) == ([], [])
    assert TOKEN not in output and output.strip()
    assert files_with_token(own_state, target.parent, home) == []
    assert list(home.iterdir()) == []


def test_scan_would_find_a_token(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(f"Bearer {TOKEN}")
    command = [sys.executable, "-c", "input()", TOKEN]

    with subprocess.Popen(command, stdin=subprocess.PIPE) as running:
        deadline = time.monotonic() + 10
        # For a moment after its start a process has no command line to read.
        while not (found := shown_by_processes()) and time.monotonic() < deadline:
            time.sleep(0.01)
        running.kill()

    assert found
    assert files_with_token(tmp_path) == [tmp_path / "log"]


def test_foreign_token_is_not_sent(
    source: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HF_TOKEN belongs to another hub: huggingface_hub would send it by itself."""
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    seen: list[str] = []

    class Listening(light_hub.Handler):
        def _route(self, *, body: bool) -> None:
            seen.append(self.headers.get("Authorization", ""))
            super()._route(body=body)

    with download.loopback_hub(source, REPO, handler=Listening) as hub:
        download.download(REPO, target, hub=hub.url)

    assert len(seen) > 10
    assert set(seen) == {""}
