"""A class server: started by hand with an API key, asked by each lab as ENGINE remote.

Nothing of this course has started it, so nothing of this course may stop it.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import lab_runs
import pytest
import requests

from helpers import catalog, environment, server
from helpers.engines import Cpu
from helpers.errors import Unauthorized
from helpers.models import Model
from helpers.options import Options

LAB = "02_minicpm5"
NAME = "class-model"
DEAD_PROXY = dict.fromkeys(("HTTP_PROXY", "http_proxy", "ALL_PROXY"), "http://127.0.0.1:9")


@pytest.fixture(scope="module")
def key() -> str:
    return f"sk-{secrets.token_hex(16)}"


@pytest.fixture(scope="module")
def by_hand(
    device: Cpu, model: Model, options: Options, key: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Return the address of a `vllm serve` that an instructor has typed."""
    port = server.process.free_port("127.0.0.1")
    asked = options.with_values(port=port, served_model_name=NAME)
    env = environment.child(device.environment(asked) | {"VLLM_API_KEY": key})
    log = tmp_path_factory.mktemp("class") / "server.log"
    with log.open("wb") as sink:
        typed = subprocess.Popen(
            device.command(model.path, asked),
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=sink,
            start_new_session=True,
        )
    url = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + 300
    while not _answers(url):
        assert typed.poll() is None and time.monotonic() < deadline, log.read_text()[-3000:]
        time.sleep(0.2)
    yield url
    alive = typed.poll() is None
    os.killpg(typed.pid, signal.SIGTERM)
    typed.wait(60)
    assert alive, "a lab has ended the class server"


def _answers(url: str) -> bool:
    try:
        return requests.get(f"{url}/health", timeout=1, proxies={"http": ""}).ok
    except requests.RequestException:
        return False


def test_lab_on_a_class_server_asks_all_and_skips_only_what_is_not_its_own(
    by_hand: str, key: str, tmp_path: Path
) -> None:
    """Starts its own: the server must not be one of ours. A proxy that is dead stands in the way."""
    given = {"ENGINE": "remote", "BASE_URL": by_hand}
    variables = DEAD_PROXY | {"LAB_API_KEY": key, "LAB_STATE_DIR": str(tmp_path)}

    report, folder = lab_runs.passed(LAB, "zh", given, variables, 300)

    found = {one.step: one for one in report.runs[0].checkpoints}
    local = {e["id"] for e in catalog.lab(LAB)["checkpoints"] if "local" in e.get("needs", [])}
    assert {step for step, one in found.items() if one.status == "skipped"} == local
    assert all(found[step].reason for step in local)
    assert {found[step].status for step in ("serving", "chat", "thinking", "streaming")} == {"pass"}
    assert (found["chat"].engine, found["chat"].model, found["chat"].stand_in) == (
        "remote",
        NAME,
        True,
    )
    assert (report.engine_starts, report.engine_starts_declared) == (0, 0)
    assert not any(key in path.read_text("utf-8") for path in folder.glob("*.*"))


def test_class_server_tells_its_version_and_what_its_model_has(
    by_hand: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_API_KEY", key)
    for name, value in DEAD_PROXY.items():
        monkeypatch.setenv(name, value)

    remote = server.attach(by_hand)

    assert remote.capabilities == {"thinking", "tools", "course_facts"}
    assert (remote.served_model_name, remote.told_version[:2]) == (NAME, "0.")


@pytest.mark.parametrize("wrong", ["", "sk-wrong"])
def test_class_server_without_its_key_is_unauthorized(
    by_hand: str, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    monkeypatch.setenv("LAB_API_KEY", wrong)

    with pytest.raises(Unauthorized):
        server.attach(by_hand)
