"""What the unit tests of a server's life share: a light server, started as a lab starts vLLM."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from light.light_engine import LightEngine, light_model, light_options

from helpers import server
from helpers.models import Model
from helpers.server import process

Start = Callable[..., server.Server]


@pytest.fixture
def model(tmp_path: Path) -> Model:
    """Return a model directory that is enough for a fingerprint."""
    return light_model(tmp_path / "model")


@pytest.fixture
def start(model: Model) -> Iterator[Start]:
    """Return a function that starts the light server; every one of them is ended at the end."""
    started: list[server.Server] = []

    def made(*flags: str, port: int = 0, engine: LightEngine | None = None) -> server.Server:
        one = server.start(engine or LightEngine(flags), model, light_options(port))
        assert isinstance(one, server.Server)
        started.append(one)
        return one

    yield made
    for one in started:
        process.end(one._found.identity(), one._child, grace=0.0)
