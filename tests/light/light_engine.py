"""An engine (protocol of helpers.engines) whose command is the light server: for tests of a
server's life only.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from helpers.engines import Availability
from helpers.models import Model
from helpers.options import Options

SERVER = Path(__file__).with_name("light_server.py")


@dataclass
class LightEngine:
    """An engine without a model; `flags` go to the light server as they are.

    Attributes:
        flags: further arguments, for instance ("--delay", "0.5").
        variables: what its process gets beside this kernel's environment.
        version: what it says its vLLM is.
    """

    flags: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    version: str = "0.0.0"
    name: str = "light"

    def available(self) -> Availability:
        return Availability(True, "a process double")

    def command(self, model: str | Path, options: Options) -> list[str]:
        start = [sys.executable, "-I", "-S", str(SERVER), "--host", options.host]
        return [
            *start,
            "--port",
            str(options.port),
            "--name",
            options.served_model_name,
            *self.flags,
        ]

    def environment(self, options: Options) -> dict[str, str]:
        return dict(self.variables)

    def versions(self) -> dict[str, str]:
        return {"vllm": self.version}


def light_model(folder: Path) -> Model:
    """Return a model whose directory has two files, enough for a fingerprint; files that are there
    stay as they are.
    """
    if not folder.exists():
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}", encoding="utf-8")
        (folder / "model.safetensors").write_bytes(b"light")
    return Model(folder, "Light", stand_in=True)


def light_options(port: int, **changes: object) -> Options:
    """Return options for the light server on a port."""
    return Options(served_model_name="Light", port=port).with_values(**changes)
