"""Ask the engine's interpreter what it has: versions from metadata without importing them, or, when
asked to, by really importing torch_npu and vLLM.

It never uses this kernel's own packages: vLLM lives elsewhere.
"""

from __future__ import annotations

import json
import os
from typing import Any

from helpers import interpreters
from helpers.doctor import tools
from helpers.doctor.machine import Deep, Engine

DISTRIBUTIONS = (
    *interpreters.DISTRIBUTIONS,
    *("triton-ascend", "triton", "numpy", "torchvision", "huggingface-hub", "atomgit"),
)
DEEP_SECONDS = 90.0
"""An import of torch_npu and vLLM on a busy machine; no measurement of an NPU machine was had."""

_SHALLOW = """
import importlib.metadata as m, json, platform, sys
have = {"python": platform.python_version()}
for name in sys.argv[1:]:
    try:
        have[name] = m.version(name)
    except Exception:
        pass
plugins = m.entry_points()
plugins = plugins.select(group="vllm.platform_plugins") if hasattr(plugins, "select") else \
    plugins.get("vllm.platform_plugins", [])
print(json.dumps({"versions": have, "plugins": sorted({p.name for p in plugins}),
                  "glibc": platform.libc_ver()[1]}))
"""

_DEEP = """
import json
said = {}
try:
    import torch, torch_npu
    said["torch_npu"] = torch_npu.__version__
    said["devices"] = torch_npu.npu.device_count()
except BaseException as error:
    said["error"] = type(error).__name__ + ": " + str(error)
try:
    from vllm.platforms import current_platform
    said["platform"] = type(current_platform).__name__
except BaseException as error:
    said.setdefault("error", type(error).__name__ + ": " + str(error))
print()
print(json.dumps(said))
"""


def ask(found: interpreters.Interpreter) -> Engine:
    """Return what an interpreter has; its `error` says why it did not answer."""
    told = tools.run(
        [str(found.python), "-I", "-B", "-c", _SHALLOW, *DISTRIBUTIONS], timeout=tools.SECONDS
    )
    said = _last_json(told.output) if told.state == "ran" else None
    if not said:
        lines = told.output.strip().splitlines()
        reason = lines[-1] if lines else f"exit {told.returncode}"
        error = reason if told.state in ("ran", "error") else told.state
        return Engine(python=str(found.python), origin=found.origin, error=error)
    return Engine(
        python=str(found.python),
        origin=found.origin,
        versions={str(k): str(v) for k, v in dict(said.get("versions") or {}).items()},
        plugins=tuple(map(str, said.get("plugins") or ())),
        glibc=said.get("glibc") or None,
    )


def ask_deeply(python: str, environ: dict[str, str]) -> Deep:
    """Return what torch_npu and vLLM say when they are imported in the engine's interpreter.

    Args:
        environ: the whole environment of that process: CANN's variables decide what is found.
    """
    quiet = {**environ, "PYTHONDONTWRITEBYTECODE": "1", "VLLM_LOGGING_LEVEL": "ERROR"}
    told = tools.run([python, "-c", _DEEP], timeout=DEEP_SECONDS, environ=quiet)
    said = _last_json(told.output) or {}
    devices = said.get("devices")
    return Deep(
        tool=told,
        torch_npu=said.get("torch_npu"),
        devices=devices if isinstance(devices, int) else None,
        platform=said.get("platform"),
        error=said.get("error") or (None if said else told.output.strip()[-300:] or told.state),
    )


def deep_environment(scripts: list[str]) -> dict[str, str]:
    """Return the environment of the engine: this one's, after CANN's scripts where they work."""
    from helpers import environment
    from helpers.errors import LabError

    try:
        return environment.child(base=environment.sourced(scripts, os.environ))
    except LabError:
        return environment.child()


def _last_json(text: str) -> dict[str, Any] | None:
    """Return the last line that is a JSON object; logs and drivers print before it, and glue their
    text to it.
    """
    for line in reversed(text.splitlines()):
        start = line.find("{")
        if start < 0:
            continue
        try:
            found = json.loads(line[start:])
        except ValueError:
            continue
        if isinstance(found, dict):
            return found
    return None
