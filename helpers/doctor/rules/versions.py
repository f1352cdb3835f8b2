"""Version alignment: every part against the stack that the engine is, as course/versions.yml has
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from packaging.version import InvalidVersion, Version

from helpers.doctor import chips, stacks
from helpers.doctor.findings import Finding, ok, problem, unknown, warning
from helpers.doctor.machine import Machine

PARTS = (
    # code, part of the stack, distribution, whether another version certainly breaks it
    ("doctor.versions.python", "python", "python", True),
    ("doctor.versions.torch", "torch", "torch", True),
    ("doctor.versions.torch_npu", "torch_npu", "torch-npu", True),
    ("doctor.versions.torchvision", "torchvision", "torchvision", False),
    ("doctor.versions.triton", "triton_ascend", "triton-ascend", False),
    ("doctor.versions.transformers", "transformers", "transformers", False),
    ("doctor.versions.numpy", "numpy", "numpy", False),
)
OPTIONAL = ("torchvision", "triton-ascend", "numpy")


def alignment(machine: Machine) -> Iterator[Finding]:
    """Yield how each part of the engine fits its stack; nothing where the stack is none of ours."""
    engine = machine.engine
    stack = stacks.of_engine(engine.versions) if engine else None
    if engine is None or stack is None:
        return
    for code, part, name, hard in PARTS:
        if stack[part]["value"] is None and "also" not in stack[part]:
            continue
        if name == "triton-ascend" and chips.of_machine(machine.npus.chips) == "310P":
            continue  # must not be there; `features` says so
        have = engine.versions.get(name)
        if have is not None:
            yield _judged(code, name, have, stack, part, hard)
        elif name not in OPTIONAL:
            yield problem(code, f"{name}: -", "doctor.version.absent", **_values(name, stack, part))
    glibc = engine.glibc or machine.glibc
    if glibc and stack["glibc"]["value"]:
        yield _judged("doctor.versions.glibc", "glibc", glibc, stack, "glibc", True)
    torch = engine.versions.get("torch", "")
    if stack["engine"] == "ascend" and "+cu" in torch:
        yield warning("doctor.versions.torch_build", f"torch {torch}", "doctor.versions.torch.cuda")


def cann(machine: Machine) -> Iterator[Finding]:
    """Yield how CANN and NNAL fit the stack, and whether there is more than one CANN."""
    if not machine.has_npu:
        return
    stack = _ascend_stack(machine)
    found = {path: one.cann_version for path, one in machine.files.items() if one.cann_version}
    if not found:
        yield problem(
            "doctor.versions.cann",
            "/usr/local/Ascend: -",
            "doctor.version.absent",
            **_values("CANN", stack, "cann"),
        )
        return
    have = next(iter(found.values()))
    yield _judged("doctor.versions.cann", "CANN", have, stack, "cann", True)
    if len(set(found.values())) > 1:
        listed = ", ".join(f"{path}: {version}" for path, version in found.items())
        yield warning(
            "doctor.versions.cann_several", listed, "doctor.versions.cann.several", have=have
        )
    nnal = next((one.nnal_version for one in machine.files.values() if one.nnal_version), None)
    if nnal:
        yield _judged("doctor.versions.nnal", "NNAL", nnal, stack, "nnal", False)
    elif not any("nnal" in script for script in machine.cann_scripts):
        values = _values("NNAL", stack, "nnal")
        yield warning("doctor.versions.nnal", "NNAL: -", "doctor.versions.nnal.absent", **values)


def driver(machine: Machine) -> Iterator[Finding]:
    """Yield whether driver, its library in this container and the firmware say that they fit."""
    files = machine.files.values()
    installed = next((one for one in files if one.driver_version), None)
    table = machine.npus.driver_version
    if installed and table:
        both = f"driver/version.info {installed.driver_version}, npu-smi {table}"
        if installed.driver_version == table:
            yield ok("doctor.driver.version", both)
        else:
            yield warning("doctor.driver.version", both, "doctor.driver.version.differs")
    firmware = next((one for one in files if one.firmware_version), None)
    if installed and firmware and installed.compatible_firmware:
        low, high = installed.compatible_firmware
        version = str(firmware.firmware_version)
        evidence = f"firmware {version}, driver {installed.driver_version}: [{low}, {high}]"
        within = _within(version, low, high)
        if within is None:
            yield unknown("doctor.driver.firmware", evidence, "doctor.driver.firmware.unreadable")
        elif within:
            yield ok("doctor.driver.firmware", evidence)
        else:
            yield warning("doctor.driver.firmware", evidence, "doctor.driver.firmware.outside")


def _ascend_stack(machine: Machine) -> dict[str, Any]:
    """Return the Ascend stack that the engine is, else the one that the course recommends."""
    stack = stacks.of_engine(machine.engine.versions) if machine.engine else None
    return stack if stack and stack["engine"] == "ascend" else stacks.default()


def _judged(
    code: str, name: str, have: str, stack: dict[str, Any], part: str, hard: bool
) -> Finding:
    fit = stacks.fits_part(have, stack, part)
    evidence = f"{name} {have}; {stack['id']}: {stack[part]['value'] or '*'}"
    if fit == "exact":
        return ok(code, evidence)
    values = _values(name, stack, part) | {"have": have}
    if fit == "near":
        return warning(code, evidence, "doctor.version.near", **values)
    if fit == "unknown":
        return unknown(code, evidence, "doctor.version.unreadable", **values)
    if hard:
        return problem(code, evidence, "doctor.version.other", **values)
    return warning(code, evidence, "doctor.version.odd", **values)


def _values(name: str, stack: dict[str, Any], part: str) -> dict[str, str]:
    return {"part": name, "wanted": str(stack[part]["value"]), "stack": stack["id"]}


def _within(version: str, low: str, high: str) -> bool | None:
    try:
        return Version(low) <= Version(version) <= Version(f"{high}.999")
    except InvalidVersion:
        return None
