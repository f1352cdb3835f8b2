"""Tests that a server outlives the kernel that started it, whatever ends that, and that the next
kernel adopts it. Real kernels, a light server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager

from helpers import server

TESTS = Path(__file__).parents[1]
SECONDS = 60.0

START = """
import os, sys
sys.path[:0] = [{tests!r}, {root!r}]
from pathlib import Path
from light.light_engine import LightEngine, light_model, light_options
from helpers import server
one = server.start(LightEngine(), light_model(Path({model!r})), light_options(0))
one.wait_ready(30)
print("server", one.pid, one.adopted)
"""


class Kernel:
    """A real kernel and a client to it."""

    def __init__(self) -> None:
        self.manager = KernelManager(kernel_name="python3")
        self.manager.start_kernel()
        self.client = self._connected()

    def _connected(self) -> BlockingKernelClient:
        client = self.manager.blocking_client()
        client.start_channels()
        client.wait_for_ready(SECONDS)
        return client

    def run(self, code: str) -> str:
        """Return what a cell printed."""
        said: list[str] = []

        def hear(message: dict[str, dict[str, object]]) -> None:
            content = message["content"]
            said.append(str(content.get("text", "")) + str(content.get("evalue", "")))

        self.client.execute_interactive(code, timeout=SECONDS, output_hook=hear)
        return "".join(said)

    def suffer(self, event: str) -> None:
        """Interrupt, restart or kill the kernel; afterwards there is one that answers."""
        if event == "interrupt":
            busy = self.client.execute("import time; print('busy'); time.sleep(600)")
            while self.client.get_iopub_msg(SECONDS)["content"].get("text") != "busy\n":
                pass
            self.manager.interrupt_kernel()
            reply = self.client.get_shell_msg(timeout=SECONDS)
            assert reply["parent_header"]["msg_id"] == busy
            return
        self.client.stop_channels()
        if event == "killed":
            self.manager.provisioner.process.kill()  # type: ignore[union-attr]
            self.manager.cleanup_resources()
            self.manager = KernelManager(kernel_name="python3")
            self.manager.start_kernel()
        else:
            self.manager.restart_kernel(now=event == "restart_now")
        self.client = self._connected()

    def close(self) -> None:
        """End the kernel."""
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.fixture
def kernel(own_state: Path) -> Iterator[Kernel]:
    one = Kernel()
    yield one
    one.close()
    server.stop_all()


@pytest.mark.parametrize("event", ["interrupt", "restart", "restart_now", "killed"])
def test_server_outlives_its_kernel_and_the_next_one_adopts_it(
    kernel: Kernel, tmp_path: Path, event: str
) -> None:
    words = {"tests": str(TESTS), "root": str(TESTS.parent), "model": str(tmp_path / "model")}
    first = re.findall(r"server (\d+) (\w+)", kernel.run(START.format(**words)))

    kernel.suffer(event)

    state = [row.state for row in server.status()]
    second = re.findall(r"server (\d+) (\w+)", kernel.run(START.format(**words)))
    assert first[0][1] == "False"
    assert state == ["ready"]
    assert second == [(first[0][0], "True")]
