"""Tests of what a class does to a server: a hundred starts, two notebooks at once, floods, full
disks, clocks, closed pipes and odd paths. On a process double that forks a child, as vLLM does.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from light.light_engine import LightEngine

from helpers import chat, messages, server
from helpers.errors import DeviceBusy, ServerGone, StateUnwritable
from helpers.models import Model
from helpers.server import lifecycle, log, process, state
from helpers.server.problems import ApiServerDied, OfflineBusy

pytestmark = pytest.mark.usefixtures("own_state")
Start = Callable[..., server.Server]
TESTS = Path(__file__).parents[1]

START = f"""
import os, sys
sys.path[:0] = [{str(TESTS)!r}, {str(TESTS.parent)!r}]
from pathlib import Path
from light.light_engine import LightEngine, light_model, light_options
from helpers import server
model = light_model(Path(os.environ["LIGHT_MODEL"]))
one = server.start(LightEngine(tuple(sys.argv[2:])), model, light_options(int(sys.argv[1])))
one.wait_ready(30)
"""


def _python(code: str, *words: str, **variables: str) -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", code, *words]
    return subprocess.Popen(argv, stdout=-1, stderr=-1, text=True, env=os.environ | variables)


def test_hundred_starts_and_stops_leave_no_process_no_port_and_no_file(
    start: Start, own_state: Path
) -> None:
    members: list[int] = []
    ports: list[int] = []
    for _ in range(100):
        one = start()
        members += process.members(one._found.identity())
        ports.append(one.port)
        assert one.stop(grace=2.0).ok

    assert not any(process.is_running(pid) for pid in members)
    assert all(process.port_is_free("127.0.0.1", port) for port in ports)
    assert [path.name for path in (own_state / "servers").iterdir()] == ["device.lock"]


@pytest.mark.parametrize("port", [0, None], ids=["any port", "one port"])
def test_two_notebooks_at_once_start_one_server_and_the_other_adopts_it(
    tmp_path: Path, model: Model, port: int | None
) -> None:
    asked = str(process.free_port("127.0.0.1") if port is None else port)
    code = START + "print(one.pid, one.adopted)"
    both = [_python(code, asked, "--delay", "0.5", LIGHT_MODEL=str(model.path)) for _ in range(2)]

    said = [notebook.communicate(timeout=60) for notebook in both]

    last = [out.split()[-2:] for out, _ in said]
    assert len({pid for pid, _ in last}) == 1, said
    assert sorted(adopted for _, adopted in last) == ["False", "True"]
    assert len(server.stop_all()) == 1


def test_two_different_notebooks_at_once_start_one_and_refuse_the_other(model: Model) -> None:
    code = (
        START.replace("one = ", "try:\n  one = ").replace("one.wait_ready(30)", "")
        + "except Exception as error: print(type(error).__name__)\nelse: print('started')"
    )
    flags = [("--delay", "0.5"), ("--delay", "0.6")]
    both = [_python(code, "0", *words, LIGHT_MODEL=str(model.path)) for words in flags]

    said = sorted(notebook.communicate(timeout=60)[0].split()[-1] for notebook in both)

    assert said == ["DeviceBusy", "started"]
    server.stop_all()


def test_start_of_the_same_on_port_zero_adopts_whatever_its_port(start: Start) -> None:
    one = start(port=process.free_port("127.0.0.1"))

    other = start(port=0)

    assert (other.pid, other.port, other.adopted) == (one.pid, one.port, True)


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_refusal_tells_what_differs(start: Start, model: Model, language: str) -> None:
    messages.use(language)
    one = start("--delay", "60")
    (model.path / "model.safetensors").write_bytes(b"rewritten")  # type: ignore[operator]
    wanted = LightEngine(("--delay", "61"), variables={"VLLM_X": "1"}, version="9.9.9")

    with pytest.raises(DeviceBusy) as caught:
        start(engine=wanted, port=one.port + 1)

    told = caught.value.told(language)
    for word in ("--delay", "61", "VLLM_X", "model.safetensors", "9.9.9", f"{one.port + 1}"):
        assert word in told


def test_server_whose_leader_has_died_is_not_adopted_and_the_refusal_says_so(start: Start) -> None:
    one = start("--orphan", "--die-after", "0.1", "--delay", "60")
    one._child.wait(10)  # type: ignore[union-attr]

    with pytest.raises(DeviceBusy, match=str(one.pid)) as caught:
        start("--orphan", "--die-after", "0.1", "--delay", "60")

    assert str(one.pid) in str(caught.value.evidence)
    assert one.stop().ok


def test_server_of_another_container_is_not_adopted_and_is_told(
    start: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    one = start("--delay", "60")
    foreign = state.write(replace(one._found, pid_namespace="another"))
    one.stop()
    state.write(replace(one._found, pid_namespace="another"))

    other = start("--delay", "60", port=one.port)

    assert not other.adopted
    assert f"{one.port}" in capsys.readouterr().out
    assert foreign.exists()
    assert other._path != foreign


def test_server_is_refused_while_offline_inference_runs(start: Start) -> None:
    one = start("--delay", "60")
    state.write(replace(one._found, kind="offline", port=0))
    state.forget(one._path)

    with pytest.raises(OfflineBusy, match=str(one.pid)):
        start()


@pytest.mark.parametrize(
    "changed",
    [{"boot_id": "another"}, {"pid_namespace": "another"}, {"hostname": "another"}, {"started": 1}],
    ids=lambda value: next(iter(value)),
)
def test_stop_of_what_is_not_ours_signals_nothing(
    start: Start, monkeypatch: pytest.MonkeyPatch, changed: dict[str, object]
) -> None:
    one = start("--delay", "60")
    state.forget(one._path)
    state.write(replace(one._found, **changed))  # type: ignore[arg-type]
    sent: list[object] = []
    with monkeypatch.context() as patch:
        patch.setattr(os, "kill", lambda *words: sent.append(words))
        patch.setattr(os, "killpg", lambda *words: sent.append(words))

        server.stop_all()

    assert sent == []
    assert process.is_running(one.pid)


def test_stop_signals_the_group_of_the_server_and_nothing_else(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = start()
    one.wait_ready(10)
    sent: list[tuple[int, int]] = []
    killpg = os.killpg
    with monkeypatch.context() as patch:
        patch.setattr(os, "kill", lambda *words: sent.append(words))
        patch.setattr(os, "killpg", lambda *words: (sent.append(words), killpg(*words)))

        one.stop()

    assert sent == [(one.pid, signal.SIGTERM)]


def test_answer_of_a_server_that_dies_meanwhile_is_a_typed_error(start: Start) -> None:
    one = start("--answer-after", "60")
    one.wait_ready(10)
    threading.Timer(0.3, os.killpg, (one.pid, signal.SIGKILL)).start()

    with pytest.raises(ServerGone) as caught:
        chat.ask("?", server=one)

    assert caught.value.values["ended"] == "signal SIGKILL"
    assert "Application startup complete" in str(caught.value.evidence)


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_answer_of_a_server_whose_leader_alone_dies_names_what_is_left(
    start: Start, language: str
) -> None:
    one = start("--answer-after", "60")
    one.wait_ready(10)
    child = next(pid for pid in process.members(one._found.identity()) if pid != one.pid)
    threading.Timer(0.3, os.kill, (one.pid, signal.SIGKILL)).start()

    with pytest.raises(ApiServerDied) as caught:
        chat.ask("?", server=one)

    assert str(child) in caught.value.told(language)
    assert one.stop().ok


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


def test_interrupt_between_the_start_and_its_state_file_leaves_nothing(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def interrupted(found: state.State) -> Path:
        seen.append(found.pid)
        raise KeyboardInterrupt

    monkeypatch.setattr(state, "write", interrupted)

    with pytest.raises(KeyboardInterrupt):
        start()

    assert not process.is_running(seen[0])


def test_chinese_names_spaces_and_a_missing_tmpdir_are_no_obstacle(tmp_path: Path) -> None:
    code = START + "print(one.stop().ok)"
    variables = {
        "LAB_STATE_DIR": str(tmp_path / "状态 目录"),
        "LIGHT_MODEL": str(tmp_path / "模型 目录"),
        "TMPDIR": str(tmp_path / "没有"),
    }

    out, err = _python(code, "0", **variables).communicate(timeout=60)

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
