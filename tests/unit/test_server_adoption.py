"""Tests of two notebooks and one device: who starts, who adopts, who is refused, and what differs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from light.light_engine import LightEngine
from light.light_notebooks import START, python

from helpers import messages, server
from helpers.errors import DeviceBusy
from helpers.models import Model
from helpers.server import process, state
from helpers.server.problems import OfflineBusy

pytestmark = pytest.mark.usefixtures("own_state")
Start = Callable[..., server.Server]


@pytest.mark.parametrize("port", [0, None], ids=["any port", "one port"])
def test_two_notebooks_at_once_start_one_server_and_the_other_adopts_it(
    tmp_path: Path, model: Model, port: int | None
) -> None:
    asked = str(process.free_port("127.0.0.1") if port is None else port)
    code = START + "print(one.pid, one.adopted)"
    both = [python(code, asked, "--delay", "0.5", LIGHT_MODEL=str(model.path)) for _ in range(2)]

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
    both = [python(code, "0", *words, LIGHT_MODEL=str(model.path)) for words in flags]

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
