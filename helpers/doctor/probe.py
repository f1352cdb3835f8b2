"""Read this machine: run the two outside tools side by side, read files and the system meanwhile.

Nothing is written, nothing is imported that the engine needs, nothing raises: what cannot be read
is None. What follows from it is the rules' business.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from helpers import environment, interpreters, masking, paths
from helpers.doctor import ascend_files, engine_probe, places, processes, tools
from helpers.doctor.machine import Engine, Machine, Notebook, Place, Tool

T = TypeVar("T")
E = TypeVar("E")
PORT = 8000
NPU_SMI = ("usr/local/bin/npu-smi", "usr/local/sbin/npu-smi", "usr/bin/npu-smi")
STRANGERS = ("atomgit_hub", "atomgit", "torch", "vllm")
"""Modules that change variables, or hold a device, when this kernel imports them."""


def read(root: str | Path = "/", *, deep: bool = False, model_dir: str = "") -> Machine:
    """Return what can be read of this machine, in at most the time of the slowest outside tool.

    Args:
        root: where /dev, /etc, /proc and /usr/local are; another one only for tests.
        deep: also import torch_npu and vLLM in the engine's interpreter; takes up to 90 s.
        model_dir: where weights go; "" takes the course's own place.
    """
    base, environ = Path(root), dict(os.environ)
    with ThreadPoolExecutor(max_workers=2) as pool:
        smi = pool.submit(_npu_smi, base)
        asked = pool.submit(_engine)
        mounts = _text(base / "proc/mounts")
        contained = in_container(base, environ)
        user, groups = _user()
        scripts = _safely(lambda: ascend_files.scripts(base), None) or ()
        rest: dict[str, Any] = {
            "system": platform.system(),
            "arch": platform.machine(),
            "os": _os_name(base),
            "python": platform.python_version(),
            "glibc": _glibc(),
            "uid": os.getuid() if hasattr(os, "getuid") else None,
            "user": user,
            "groups": groups,
            "container": contained,
            "docker": shutil.which("docker") is not None,
            "environ": public(environ),
            "nodes": _safely(lambda: places.nodes(base), None) or (),
            "version_texts": _safely(lambda: ascend_files.texts(base, environ), None) or {},
            "cann_scripts": scripts,
            "weights": _place(Path(model_dir) if model_dir else weights_dir(), mounts, contained),
            "state": _place(paths.state_dir(), mounts, contained),
            "shm": _safely(lambda: shutil.disk_usage(base / "dev/shm").total, None),
            "memory": _safely(processes.memory_available, None),
            "port_owner": _safely(lambda: processes.listener(PORT), None),
            "vllm_processes": _safely(processes.left_over, None) or (),
            "kernel_modules": tuple(name for name in STRANGERS if name in sys.modules),
            "notebook": _safely(lambda: _notebook(base, environ), Notebook()),
        }
        engine = asked.result()
        rest["npu_smi"] = smi.result()
    if deep and engine is not None and engine.error is None:
        variables = engine_probe.deep_environment(list(scripts))
        rest["deep"] = engine_probe.ask_deeply(engine.python, variables)
    return Machine(engine=engine, **rest)


def weights_dir() -> Path:
    """Return the directory that downloaded weights go to unless MODEL_DIR says otherwise: the first
    persistent place of a platform that exists and can be written, else the course's cache.
    """
    given = os.environ.get("LAB_MODEL_DIR")
    if given:
        return Path(given)
    for place in ("/opt/atomgit", "/home/ma-user/work", "~/work"):
        path = Path(place).expanduser()
        if path.is_dir() and os.access(path, os.W_OK):
            return path
    return Path("~/.cache/minicpm-labs/models").expanduser()


def in_container(root: Path, environ: Mapping[str, str]) -> bool:
    """Return True inside a container, as far as its usual marks tell."""
    if (root / ".dockerenv").exists() or (root / "run/.containerenv").exists():
        return True
    if "KUBERNETES_SERVICE_HOST" in environ:
        return True
    return bool(re.search(r"docker|kubepods|containerd|lxc", _text(root / "proc/1/cgroup")))


def public(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables without the values of secrets: names stay, values become "****"."""
    return {name: environment.masked(name, masking.masked(text)) for name, text in environ.items()}


def _npu_smi(root: Path) -> Tool:
    """Return the run of `npu-smi info`, found on PATH or where the driver puts it."""
    on_path = shutil.which("npu-smi") if root == Path("/") else None
    found = on_path or next((str(root / p) for p in NPU_SMI if (root / p).is_file()), None)
    if found is None:
        return Tool(state="missing")
    return tools.run([found, "info"], environ={**os.environ, "LC_ALL": "C.UTF-8"})


def _engine() -> Engine | None:
    found = _safely(interpreters.find_engine, None)
    return engine_probe.ask(found) if found else None


def _place(path: Path, mounts: str, container: bool) -> Place | None:
    return _safely(lambda: places.place(path, mounts, container), None)


def _user() -> tuple[str | None, tuple[str, ...]]:
    """Return the user's name, None for a uid without passwd entry, and the names of its groups."""
    try:
        import grp
        import pwd
    except ImportError:  # no such thing on Windows
        return os.environ.get("USERNAME"), ()
    try:
        name: str | None = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        name = None
    groups = []
    for number in os.getgroups():
        try:
            groups.append(grp.getgrgid(number).gr_name)
        except KeyError:
            groups.append(str(number))
    return name, tuple(groups)


def _notebook(root: Path, environ: Mapping[str, str]) -> Notebook:
    data = environ.get("JUPYTER_DATA_DIR") or Path.home() / ".local/share/jupyter"
    marks = {"modelarts": "MA_", "atomgit": "ATOMGIT_NOTEBOOK"}
    known = next((p for p, mark in marks.items() if any(n.startswith(mark) for n in environ)), None)
    if known is None and (root / "home/ma-user").is_dir():
        known = "modelarts"
    return Notebook(
        inside="JPY_PARENT_PID" in environ or "ipykernel" in sys.modules,
        widgets=importlib.util.find_spec("ipywidgets") is not None,
        kernelspec=(Path(data) / "kernels/minicpm-labs/kernel.json").is_file(),
        platform=known,
    )


def _os_name(root: Path) -> str | None:
    found = re.search(r'^PRETTY_NAME="?(.*?)"?$', _text(root / "etc/os-release"), re.MULTILINE)
    return found[1] if found else None


def _glibc() -> str | None:
    name, version = _safely(platform.libc_ver, ("", ""))
    return version if name == "glibc" and version else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")[: ascend_files.LARGEST]
    except OSError:
        return ""


def _safely(function: Callable[[], T], otherwise: E) -> T | E:
    """Return what a function returns, or `otherwise` where the machine does not let it."""
    try:
        return function()
    except (OSError, ValueError, KeyError, RuntimeError, AttributeError, ImportError):
        return otherwise
