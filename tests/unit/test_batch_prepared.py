"""Tests of the process that forks the runs: what a run finds, how its end is told, and that nothing
goes on after whoever asked for it is gone.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from light.light_notebook import light_notebook
from light.waiting import until

from helpers import paths
from helpers.batch import Job, folders, prepared
from helpers.batch.prepared import Prepared

pytestmark = [
    pytest.mark.usefixtures("own_state", "kept_environ"),
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks its runs"),
]
CHECK = """
import os
from helpers import checkpoint
checkpoint.begin("light")
checkpoint.check("a", True, environment=dict(os.environ))
"""
WAITS = "import pathlib, time\npathlib.Path({mark!r}).touch()\ntime.sleep(600)\n"


@pytest.fixture
def ready() -> Iterator[Prepared]:
    made = Prepared()
    yield made
    made.close()


def _place(tmp_path: Path, *cells: str, name: str = "run") -> Path:
    book = light_notebook(tmp_path / f"{name}.ipynb", cells)
    place = tmp_path / name
    place.mkdir()
    folders.describe(place, Job("light", "en", book), f"run-{name}", "key")
    return place


def _begun(ready: Prepared, place: Path, **more: str) -> prepared.Forked:
    return ready.begin(place, {**os.environ, **more}, place / folders.LOG)[0]


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_runs_one_after_another_have_the_environment_and_the_log_that_they_were_given(
    tmp_path: Path, ready: Prepared
) -> None:
    seen = []
    for name in ("one", "two"):
        place = _place(tmp_path, CHECK, name=name)
        assert _begun(ready, place, LAB_WORD=name).wait(60) == 0
        record = folders.read(place)
        assert record is not None
        seen.append(record.run.checkpoints[0].detail["environment"])
        assert "light en" in (place / folders.LOG).read_text("utf-8")

    assert [one["LAB_WORD"] for one in seen] == ["one", "two"]
    assert [one["LAB_RUN"] for one in seen] == ["run-one", "run-two"]


def test_run_leads_a_session_of_its_own_and_its_death_is_told_as_a_signal(
    tmp_path: Path, ready: Prepared
) -> None:
    mark = tmp_path / "mark"
    one = _begun(ready, _place(tmp_path, WAITS.format(mark=str(mark))))
    until(mark.exists)

    session = os.getsid(one.pid)
    os.kill(one.pid, signal.SIGKILL)

    assert session == one.pid
    assert one.wait(60) == -signal.SIGKILL
    assert one.poll() == -signal.SIGKILL


def test_run_that_still_goes_on_is_no_status(tmp_path: Path, ready: Prepared) -> None:
    mark = tmp_path / "mark"
    one = _begun(ready, _place(tmp_path, WAITS.format(mark=str(mark))))

    with pytest.raises(subprocess.TimeoutExpired):
        one.wait(0.2)
    until(mark.exists)
    one.send_signal(signal.SIGTERM)

    assert one.wait(120) == 130


def test_run_ends_when_the_process_that_forked_it_is_killed(
    tmp_path: Path, ready: Prepared
) -> None:
    mark = tmp_path / "mark"
    place = _place(tmp_path, WAITS.format(mark=str(mark)))
    one = _begun(ready, place)
    until(mark.exists)
    parent = psutil.Process(one.pid).ppid()

    os.kill(parent, signal.SIGKILL)

    assert one.wait(60) == -signal.SIGKILL
    until(lambda: not _runs(one.pid))
    record = folders.read(place)
    assert record is not None and record.run.error is not None
    assert record.run.error.code == "run.interrupted"
    assert _begun(ready, _place(tmp_path, CHECK, name="next")).wait(60) == 0


def test_run_ends_when_the_batch_itself_is_killed(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    light_notebook(tmp_path / "light.ipynb", [WAITS.format(mark=str(mark))])
    source = tmp_path / "matrix.yml"
    source.write_text("labs: [light.ipynb]\nlanguages: [en]\n", encoding="utf-8")
    words = [sys.executable, "-m", "helpers", "run", str(source), "--out", str(tmp_path / "out")]
    batch = subprocess.Popen(words, cwd=paths.ROOT, stdout=subprocess.DEVNULL)
    until(mark.exists)
    below = psutil.Process(batch.pid).children(recursive=True)

    batch.kill()
    batch.wait()

    assert len(below) >= 3
    until(lambda: not any(_runs(one.pid) for one in below))
