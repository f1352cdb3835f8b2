"""How to get an engine on this very machine: docker, pip, what to ask a platform for, the CPU
engine. Composes commands as text; runs none of them.

Versions, images and pip's commands are those of course/versions.yml.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from helpers import messages
from helpers.doctor import chips, stacks, verdict
from helpers.doctor.findings import Finding
from helpers.doctor.machine import Machine
from helpers.doctor.places import MANAGERS
from helpers.engines import CANN_SCRIPTS
from helpers.errors import LabError

Way = Literal["ready", "docker", "pip", "platform", "cpu", "remote"]
Notes = tuple[tuple[str, dict[str, Any]], ...]
Exists = Callable[[str], bool]
WAYS = ("docker", "pip", "platform", "cpu")

MOUNTS = (
    "/usr/local/dcmi",
    "/usr/local/bin/npu-smi",
    "/usr/local/Ascend/driver/lib64/",
    "/usr/local/Ascend/driver/version.info",
    "/etc/ascend_install.info",
)
"""What vllm-ascend's docker command mounts from the host (installation.md@v0.23.0); hccn_tool, for
several machines, is left out.
"""

WHOLE_DRIVER = "/usr/local/Ascend/driver"
"""A 950PR wants all of it (vllm-project/recipes#907, EI0014)."""

NEEDED_GIB = 25
SCRIPTS = tuple(f"/{name}" for name in CANN_SCRIPTS)


class NoImage(LabError):
    """vllm-ascend has no image for these chips on this stack; values: chips, stack."""

    code = "doctor.install.no_image"


class BadDevices(LabError):
    """Devices that this machine does not have; values: asked, have."""

    code = "doctor.install.bad_devices"


@dataclass(frozen=True)
class Plan:
    """One way to get an engine.

    Attributes:
        way: which; "ready" where there is nothing to install.
        commands: to be typed in this order, each one line or with continuations.
        codes: of the notes above the commands, with their values.
    """

    way: Way
    commands: tuple[str, ...] = ()
    codes: Notes = ()

    @property
    def notes(self) -> list[str]:
        """Return what to know before typing the commands."""
        return [messages.text(code, **values) for code, values in self.codes]

    def __str__(self) -> str:
        """Return a shell script: the notes as comments, then the commands."""
        return "\n".join([*(f"# {note}" for note in self.notes), *self.commands])

    __repr__ = __str__


def plan(
    machine: Machine,
    findings: Sequence[Finding],
    devices: Sequence[int] = (),
    exists: Exists | None = None,
) -> Plan:
    """Return the way that fits this machine: what runs already, else docker where there is one, pip
    where CANN fits, else what to ask the platform for; without an NPU the CPU engine.

    Args:
        devices, exists: for docker; see there.
    Raises:
        NoImage, BadDevices: as docker.
    """
    judged = verdict.judge(machine, findings)
    if judged.engine == "ascend":
        return Plan("ready", codes=(("doctor.install.ready", {"stack": judged.stack}),))
    kind = chips.of_machine(machine.npus.chips)
    if judged.engine == "remote":
        return Plan("remote", codes=(("doctor.install.remote", {}),))
    if not machine.has_npu or (kind is not None and kind not in chips.SUPPORTED):
        return cpu(ready=judged.code == "doctor.verdict.cpu")
    if machine.docker and not machine.container:
        return docker(machine, devices, exists=exists)
    stack = fitting(machine)
    return pip(stack, machine.arch) if stack else platform(machine)


def by_name(
    way: str,
    machine: Machine,
    devices: Sequence[int] = (),
    stack_id: str | None = None,
    exists: Exists | None = None,
) -> Plan:
    """Return the plan of a way that was asked for.

    Args:
        way: one of WAYS.
        devices: numbers of /dev/davinciN; none takes all that are seen.
        stack_id: id in versions.yml; None takes the recommended one, for pip the one that fits.
    Raises:
        KeyError: no such stack. NoImage, BadDevices: as they say.
    """
    stack = stacks.named(stack_id) if stack_id else None
    if way == "docker":
        return docker(machine, devices, stack, exists)
    if way == "pip":
        return pip(stack or fitting(machine) or stacks.default(), machine.arch)
    return platform(machine, stack) if way == "platform" else cpu()


def docker(
    machine: Machine,
    devices: Sequence[int] = (),
    stack: dict[str, Any] | None = None,
    exists: Exists | None = None,
) -> Plan:
    """Return the `docker run` for this machine's devices and mounts.

    Args:
        devices: numbers of /dev/davinciN; none takes all.
        stack: an Ascend stack; None takes the recommended one.
        exists: whether a path is there to be mounted; None mounts all that the documents name.
    Raises:
        NoImage: vllm-ascend builds none for these chips. BadDevices: not on this machine.
    """
    chosen = stack or stacks.default()
    kind = chips.of_machine(machine.npus.chips)
    image = stacks.image(chosen, kind, machine.os)
    if image is None:
        raise NoImage(chips=kind or "?", stack=chosen["id"])
    have = machine.ordinals or [0]
    strange = sorted(set(devices) - set(have))
    if strange and machine.ordinals:
        raise BadDevices(asked=strange, have=have)
    mounts = [place for place in _mounts(kind) if exists is None or exists(place)]
    words = [
        "docker run --rm -it --name minicpm-labs",
        "--shm-size=1g --net=host",
        *(f"--device /dev/davinci{number}" for number in (devices or have)),
        *(f"--device /dev/{name}" for name in MANAGERS),
        *(f"-v {place}:{place}" for place in mounts),
        "-v ~/.cache:/root/.cache",
        '-v "$PWD":/workspace/labs -w /workspace/labs',
        f"{image} bash",
    ]
    return Plan("docker", (" \\\n    ".join(words),), _docker_notes(kind, chosen["id"], image))


def _docker_notes(kind: str | None, stack: str, image: str) -> Notes:
    found: list[tuple[str, dict[str, Any]]] = [
        ("doctor.install.docker", {"chips": kind or "A2", "stack": stack})
    ]
    if kind is None:
        found.append(("doctor.install.guessed", {}))
    if kind == "A3":
        found.append(("doctor.install.two_chips", {}))
    if kind in chips.EXPERIMENTAL:
        found.append(("doctor.install.experimental", {"chips": kind}))
    found += [("doctor.install.mirror", {"image": image}), ("doctor.install.inside", {})]
    return tuple(found)


def pip(stack: dict[str, Any], arch: str = "aarch64") -> Plan:
    """Return pip's commands in the order that resolves, on a machine that has CANN already."""
    steps = [f"source {script}" for script in SCRIPTS]
    if arch == "x86_64":
        steps.append("export PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu/")
    steps += stack["pip"]["value"]
    steps.append("python -c 'import torch_npu, vllm_ascend; print(torch_npu.npu.device_count())'")
    values = {
        "stack": stack["id"],
        "cann": stack["cann"]["value"],
        "python": stack["python"]["value"],
        "glibc": stack["glibc"]["value"],
    }
    codes: Notes = (("doctor.install.pip", values), ("doctor.install.pip_warning", {}))
    return Plan("pip", tuple(steps), codes)


def platform(machine: Machine, stack: dict[str, Any] | None = None) -> Plan:
    """Return what to ask a platform for, where there is neither docker nor a CANN that fits."""
    chosen = stack or stacks.default()
    kind = chips.of_machine(machine.npus.chips)
    image = stacks.image(chosen, kind, machine.os)
    values = {
        "image": image or "-",
        "cann": chosen["cann"]["value"],
        "python": chosen["python"]["value"],
        "disk": NEEDED_GIB,
    }
    return Plan("platform", codes=(("doctor.install.platform", values),))


def cpu(ready: bool = False) -> Plan:
    """Return the command that installs the CPU engine, or says that it is there."""
    if ready:
        return Plan("ready", codes=(("doctor.install.cpu_ready", {}),))
    return Plan("cpu", ("python -m helpers setup",), (("doctor.install.cpu", {}),))


def fitting(machine: Machine) -> dict[str, Any] | None:
    """Return the newest Ascend stack whose CANN, Python and glibc this machine has, else None."""
    cann = next((one.cann_version for one in machine.files.values() if one.cann_version), None)
    python = machine.engine.versions.get("python") if machine.engine else machine.python
    for stack in stacks.all_stacks():
        if stack["engine"] != "ascend" or not cann or not python:
            continue
        fits = [
            stacks.fits_part(cann, stack, "cann"),
            stacks.fits_part(python, stack, "python"),
            stacks.fits_part(machine.glibc or "0", stack, "glibc"),
        ]
        if all(one in ("exact", "near") for one in fits):
            return stack
    return None


def _mounts(kind: str | None) -> tuple[str, ...]:
    if kind != "A5":
        return MOUNTS
    return (*(place for place in MOUNTS if not place.startswith(WHOLE_DRIVER)), WHOLE_DRIVER)
