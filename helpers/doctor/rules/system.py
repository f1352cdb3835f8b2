"""The machine around the engine: platform, disk, memory, user, processes left behind, notebook."""

from __future__ import annotations

from collections.abc import Iterator

from helpers.doctor.findings import Finding, ok, problem, unknown, warning
from helpers.doctor.machine import GIB, Machine

ARCHITECTURES = ("x86_64", "aarch64")
SHM = 1 * GIB
"""What vllm-ascend's docker command asks for (--shm-size=1g, installation.md@v0.23.0)."""

MEMORY = 4 * GIB
"""The CPU engine with a stand-in has 3 GiB resident."""

DISK_SMALL, DISK_2B, DISK_BOTH = 2 * GIB, 8 * GIB, 25 * GIB
"""The engine's environment; with MiniCPM5-2B (5.03 GB); with MiniCPM-V-4_5 too (17-18 GB)."""


def place(machine: Machine) -> Iterator[Finding]:
    """Yield whether weights have room where they go, and whether that outlives the container."""
    where = machine.weights
    if where is None:
        return
    code, advice = "doctor.system.disk", None
    evidence = f"{where.path}: {_size(where.free)}"
    if not where.writable:
        yield problem(code, evidence, "doctor.system.disk.readonly", path=where.path)
    elif where.free is None:
        yield unknown(code, evidence, "doctor.system.disk.unknown", path=where.path)
    elif where.free < (DISK_2B if machine.has_npu else DISK_SMALL):
        advice = "doctor.system.disk.npu" if machine.has_npu else "doctor.system.disk.cpu"
        yield problem(code, evidence, advice, path=where.path)
    elif machine.has_npu and where.free < DISK_BOTH:
        yield warning(code, evidence, "doctor.system.disk.one_model", path=where.path)
    else:
        yield ok(code, evidence)
    if where.kept is False:
        yield warning("doctor.system.kept", where.path, "doctor.system.kept.lost", path=where.path)


def machine(machine: Machine) -> Iterator[Finding]:
    """Yield platform, shared memory, memory, user, and processes that hold a device."""
    yield _platform(machine)
    if machine.shm is not None and machine.system == "Linux":
        evidence = f"/dev/shm: {_size(machine.shm)}"
        if machine.shm < SHM:
            yield warning("doctor.system.shm", evidence, "doctor.system.shm.small")
        else:
            yield ok("doctor.system.shm", evidence)
    if machine.memory is not None and not machine.has_npu:
        evidence = _size(machine.memory)
        if machine.memory < MEMORY:
            yield warning("doctor.system.memory", evidence, "doctor.system.memory.small")
        else:
            yield ok("doctor.system.memory", evidence)
    if machine.user is None and machine.uid is not None:
        evidence = f"uid {machine.uid}"
        yield warning("doctor.system.user", evidence, "doctor.system.user.nameless")
    if machine.vllm_processes:
        evidence = ", ".join(machine.vllm_processes[:8])
        yield warning("doctor.processes.vllm", evidence, "doctor.processes.vllm.left")


def notebook(machine: Machine) -> Iterator[Finding]:
    """Yield whether widgets and our kernel are there, where a notebook server is."""
    one = machine.notebook
    if not one.widgets:
        yield warning("doctor.notebook.widgets", "ipywidgets: -", "doctor.notebook.widgets.absent")
    if one.platform and not one.kernelspec:
        evidence = f"{one.platform}: kernels/minicpm-labs: -"
        yield warning("doctor.notebook.kernel", evidence, "doctor.notebook.kernel.register")


def _platform(machine: Machine) -> Finding:
    code = "doctor.system.platform"
    evidence = f"{machine.system} {machine.arch}, Python {machine.python}"
    if machine.os:
        evidence += f", {machine.os}"
    minor = machine.python.split(".")[:2]
    if minor not in (["3", "10"], ["3", "11"], ["3", "12"], ["3", "13"]):
        return problem(code, evidence, "doctor.system.platform.python")
    if machine.system != "Linux" or machine.arch not in ARCHITECTURES:
        return warning(code, evidence, "doctor.system.platform.remote")
    return ok(code, evidence)


def _size(size: int | None) -> str:
    return "?" if size is None else f"{size / GIB:.1f} GiB"
