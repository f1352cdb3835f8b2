"""Tests of a server among floods of log lines, full disks, clocks set back, closed pipes and odd
paths.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from light.light_notebooks import START, python

from helpers import messages, server
from helpers.errors import StateUnwritable
from helpers.models import Model
from helpers.server import lifecycle, log, state

pytestmark = pytest.mark.usefixtures("own_state")
Start = Callable[..., server.Server]


def test_flood_of_log_lines_leaves_waiting_and_reading_as_they_are(start: Start) -> None:
    one = start("--flood", "10000", "--delay", "1.5")
    tracemalloc.start()
    try:
        one.wait_ready(30)
        lines = one.tail(20).splitlines()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert len(lines) == 20
    assert Path(one._log).stat().st_size > 8 * log.TAIL_BYTES
    assert peak < 16 * 2**20


def test_clock_set_back_changes_no_duration_and_no_log(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Frozen(datetime):
        @classmethod
        def now(cls, tz: object = None) -> Frozen:  # type: ignore[override]
            return cls(2020, 1, 1)

    backwards = iter(range(10**9, 0, -3600))
    monkeypatch.setattr(time, "time", lambda: float(next(backwards)))
    monkeypatch.setattr(lifecycle, "datetime", Frozen)
    one = start("--delay", "0.2")
    seconds = one.wait_ready(10)
    one.stop()

    other = start("--delay", "0.2")

    assert 0.2 <= seconds < 10
    assert all(0 <= reached <= seconds for reached in one.stages.reached.values())
    assert other.log != one.log
    assert 0 <= server.status()[0].seconds < 10


def test_stages_of_a_start_are_kept_with_their_seconds_in_order(start: Start) -> None:
    one = start("--delay", "0.3")

    one.wait_ready(10)

    assert list(one.stages.reached) == ["plugin", "config", "weights", "serving"]
    assert list(one.stages.reached.values()) == sorted(one.stages.reached.values())


def test_stages_on_a_terminal_are_one_line_each(
    start: Start, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LAB_RUN")
    messages.use("en")
    one = start("--delay", "0.3")

    one.wait_ready(10)

    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert [line.split(" s  ")[1] for line in lines[:-1]] == [
        "loading the platform plugin",
        "reading the configuration",
        "loading weights",
        "serving",
    ]


def test_reader_of_a_log_that_goes_away_leaves_the_server_alive(start: Start) -> None:
    one = start("--flood", "1000")
    one.wait_ready(10)
    argv = [sys.executable, "-m", "helpers", "logs", "--follow"]
    reader = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert reader.stdout is not None
    assert reader.stdout.readline()

    reader.stdout.close()

    assert reader.wait(30) != 0
    assert b"Traceback" not in (reader.stderr.read() if reader.stderr else b"")
    assert one.is_ready


def test_log_directory_that_cannot_be_written_is_refused_before_the_start(
    start: Start, own_state: Path
) -> None:
    own_state.mkdir()
    (own_state / "logs").write_text("in the way")

    with pytest.raises(StateUnwritable, match="logs"):
        start()

    assert state.read_all() == []


def test_chinese_names_spaces_and_a_missing_tmpdir_are_no_obstacle(tmp_path: Path) -> None:
    code = START + "print(one.stop().ok)"
    variables = {
        "LAB_STATE_DIR": str(tmp_path / "状态 目录"),
        "LIGHT_MODEL": str(tmp_path / "模型 目录"),
        "TMPDIR": str(tmp_path / "没有"),
    }

    out, err = python(code, "0", **variables).communicate(timeout=60)

    assert out.splitlines()[-1] == "True", err


FULL = """
import json, subprocess, sys
from pathlib import Path
place = Path(sys.argv[-1])
def fill():
    with (place / "filler").open("wb", buffering=0) as file:
        try:
            while True: file.write(b"x" * 4096)
        except OSError: pass
"""


def _on_a_small_disk(tmp_path: Path, model: Model, code: str) -> str:
    """Return what code printed that runs with its state on a disk of 1 MiB; skips where mounting is
    refused.
    """
    place = tmp_path / "small"
    place.mkdir()
    shell = 'mount -t tmpfs -o size=1m tmpfs "$0" || exit 77; exec "$@"'
    argv = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-Urm"]
    done = subprocess.run(
        [*argv, "bash", "-c", shell, str(place), sys.executable, "-c", code, "0", str(place)],
        env=os.environ | {"LAB_STATE_DIR": str(place), "LIGHT_MODEL": str(model.path)},
        capture_output=True,
        text=True,
        timeout=90,
    )
    if done.returncode == 77 or "unshare failed" in done.stderr:
        pytest.skip(f"mounting is refused here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return done.stdout


STARTED = START.replace("sys.argv[2:]", "('--flood', '50')")


def test_state_directory_that_is_full_is_refused_before_the_start(
    tmp_path: Path, model: Model
) -> None:
    refused = "fill()\ntry:\n" + "\n".join(f"    {line}" for line in START.splitlines())
    code = (
        FULL + refused + "\nexcept Exception as error: print(type(error).__name__, error.original)"
    )

    said = _on_a_small_disk(tmp_path, model, code.replace("sys.argv[2:]", "()"))

    assert said.startswith("StateUnwritable")
    assert "No space left" in said


def test_server_whose_log_disk_fills_up_is_still_found_and_stopped(
    tmp_path: Path, model: Model
) -> None:
    code = (
        FULL
        + STARTED
        + "fill()\nimport time; time.sleep(0.3)\n"
        + "found = [row.state for row in server.status()]\n"
        + "proof = one.stop()\n"
        + "print(json.dumps([found, proof.ok, [r.state for r in server.status()]]))"
    )

    said = _on_a_small_disk(tmp_path, model, code)

    assert json.loads(said.splitlines()[-1]) == [["ready"], True, []]
