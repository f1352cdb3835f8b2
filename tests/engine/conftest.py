"""Engine tests: the real vLLM on the CPU, started through helpers as a lab does.

The device is exclusive and a start takes half a minute, so there is one server at a time for all: a
test that only asks takes `served` (text) or `pictured` (pictures). A test that must start its own
says why in its docstring and takes `device`, which stops the shared one first. The tests are
ordered so, whatever file they stand in: those of `served`, those of `pictured`, those of `device`.

LAB_TEST_MODEL_DIR serves another checkpoint than the course's stand-in; what only the stand-in can
answer is then skipped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pictures_server
import pytest

from helpers import catalog, engines, models, server
from helpers.engines import Cpu
from helpers.models import Model
from helpers.options import Options
from helpers.server import Server, StopProof

HERE = Path(__file__).parent
LAB = "02_minicpm5"
HOLDERS = {"served", "pictured", "device"}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Move the tests that take `pictured`, then those that take `device`, behind all others of this
    directory.
    """
    ours = [item for item in items if HERE in item.path.parents]
    for item in ours:
        if len(HOLDERS & set(item.fixturenames)) > 1:
            raise pytest.UsageError(f"{item.nodeid}: takes more than one of {sorted(HOLDERS)}")
    ordered = iter(sorted(ours, key=_turn))
    places = set(ours)
    items[:] = [next(ordered) if item in places else item for item in items]


def _turn(item: pytest.Item) -> int:
    return 2 * ("device" in item.fixturenames) + ("pictured" in item.fixturenames)


class Shared:
    """The server that the tests share: one at a time, stopped once, its proof kept."""

    def __init__(self) -> None:
        self.server: Server | None = None
        self.proof: StopProof | None = None

    def stop(self) -> None:
        """Stop it if it runs, and assert the proof of its end."""
        if self.server is None or self.proof is not None:
            return
        self.proof = self.server.stop()
        assert self.proof.ok, self.proof
        assert self.server.processes() == []
        assert server.port_is_free("127.0.0.1", self.server.port)


@pytest.fixture(scope="session")
def engine() -> Cpu:
    """Return the CPU engine; skips with its own reason where there is none."""
    answer = Cpu().available()
    if not answer.ok:
        pytest.skip(f"no CPU engine: {answer.reason}")
    chosen = engines.select("cpu")
    assert isinstance(chosen, Cpu)
    return chosen


@pytest.fixture(scope="session")
def model() -> Model:
    """Return the stand-in, or the checkpoint that LAB_TEST_MODEL_DIR names."""
    return models.find(LAB, "cpu", os.environ.get("LAB_TEST_MODEL_DIR", ""))


@pytest.fixture(scope="session")
def options(model: Model) -> Options:
    """Return the lab's own options, on a free port."""
    return catalog.options(LAB, "cpu", served_model_name=model.name, port=0)


@pytest.fixture(scope="session")
def shared() -> Iterator[Shared]:
    """Keep the shared server for the session; at the end it is stopped and the proof asserted."""
    keeper = Shared()
    yield keeper
    keeper.stop()


@pytest.fixture(scope="session")
def served(engine: Cpu, model: Model, options: Options, shared: Shared) -> Server:
    """Return the shared server, ready. Only ask it: other tests ask it too."""
    started = server.start(engine, model, options)
    assert isinstance(started, Server)
    shared.server = started
    started.wait_ready(300)
    return started


@pytest.fixture(scope="session")
def dead_proxy() -> str:
    """Return the address of a proxy that is not there."""
    return "http://127.0.0.1:9"


@pytest.fixture(scope="session")
def pictured(engine: Cpu, shared: Shared, dead_proxy: str) -> Server:
    """Return the shared server of the picture stand-in, ready; only ask it.

    It may fetch pictures from loopback and from a host that does not exist, waits a second for
    them, and was started where http_proxy leads nowhere.
    """
    shared.stop()
    hosts = ("127.0.0.1", "no-such-host.invalid")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("http_proxy", "HTTP_PROXY"):
            patch.setenv(name, dead_proxy)
        started = pictures_server.start(engine, allowed_media_domains=hosts, image_fetch_timeout=1)
    shared.server, shared.proof = started, None
    return started


@pytest.fixture(scope="module")
def device(engine: Cpu, shared: Shared) -> Iterator[Cpu]:
    """Return the engine with nothing running on it; nothing may be left behind."""
    shared.stop()
    yield engine
    left = [row for row in server.status() if row.state in ("starting", "ready")]
    server.stop_all()
    assert left == []
