"""The chips: which they are, whether vllm-ascend knows them, their health, their device nodes."""

from __future__ import annotations

from collections.abc import Iterator

from helpers.doctor import chips
from helpers.doctor.findings import Finding, ok, problem, unknown, warning
from helpers.doctor.machine import Machine
from helpers.doctor.npu_smi import HEALTHY, KNOWN_HEALTH
from helpers.doctor.places import MANAGERS

SMALLEST_MB = 16_384
"""Below this a chip of a supported generation is a slice of one (a virtual NPU): the smallest whole
one has 21 525 MiB (310P in chips' recordings).
"""


EXPERIMENTAL = {"310P": "doctor.npu.generation.310p", "A5": "doctor.npu.generation.a5"}


def present(machine: Machine) -> Iterator[Finding]:
    """Yield which chips there are, how much memory each has, and that a card may hold two."""
    found = machine.npus.chips
    if not found:
        if not machine.has_npu:
            evidence = "/dev/davinci*: -; npu-smi: -"
            yield ok("doctor.npu.present", evidence, "doctor.npu.present.none")
        return
    kinds = dict.fromkeys(f"{chip.name} {chip.total_mb or '?'} MiB" for chip in found)
    yield ok("doctor.npu.present", f"{len(found)} x {', '.join(kinds)}")
    cards = {chip.id for chip in found}
    if len(cards) < len(found) and all(chip.chip is not None for chip in found):
        evidence = f"{len(cards)} cards, {len(found)} chips"
        last = len(found) - 1
        yield ok("doctor.npu.two_chips", evidence, "doctor.npu.two_chips.count", last=last)
    small = [c for c in found if c.total_mb is not None and c.total_mb < SMALLEST_MB]
    if small and chips.of_machine(found) in chips.SUPPORTED:
        listed = ", ".join(f"{chip.label}: {chip.total_mb} MiB" for chip in small)
        yield warning("doctor.npu.slice", listed, "doctor.npu.slice.do")


def generation(machine: Machine) -> Iterator[Finding]:
    """Yield whether vllm-ascend supports this generation of chips."""
    found, code = machine.npus.chips, "doctor.npu.generation"
    if not found:
        return
    names = ", ".join(dict.fromkeys(chip.name or "?" for chip in found))
    kinds = {chips.generation(chip) for chip in found}
    kind = chips.of_machine(found)
    if len(kinds) > 1:
        yield warning(code, names, "doctor.npu.generation.mixed")
    elif kind is None:
        yield unknown(code, names, "doctor.npu.generation.unknown")
    elif kind not in chips.SUPPORTED:
        yield problem(code, f"{names}: {kind}", "doctor.npu.generation.unsupported", kind=kind)
    elif kind in chips.EXPERIMENTAL:
        yield warning(code, f"{names}: {kind}", EXPERIMENTAL[kind])
    else:
        yield ok(code, f"{names}: {kind}")


def health(machine: Machine) -> Iterator[Finding]:
    """Yield the health of the chips, the worst of it."""
    found, code = machine.npus.chips, "doctor.npu.health"
    if not found:
        return
    ill = [chip for chip in found if chip.health != HEALTHY]
    listed = ", ".join(f"{chip.label}: {chip.health or '?'}" for chip in ill)
    if not ill:
        yield ok(code, f"{len(found)} x {HEALTHY}")
    elif any(chip.health in ("Alarm", "Critical") for chip in ill):
        card = next(c.id for c in ill if c.health in ("Alarm", "Critical"))
        yield problem(code, listed, "doctor.npu.health.alarm", card=card)
    elif any(chip.health == "Warning" for chip in ill):
        card = next(c.id for c in ill if c.health == "Warning")
        yield warning(code, listed, "doctor.npu.health.warning", card=card)
    else:
        advice = "doctor.npu.health.unknown"
        known = all(chip.health in KNOWN_HEALTH for chip in ill)
        yield unknown(code, listed, advice if known else "doctor.npu.health.unreadable")


def nodes(machine: Machine) -> Iterator[Finding]:
    """Yield whether the device nodes are there and this user may use them."""
    if not machine.has_npu:
        return
    names = {node.name for node in machine.nodes}
    cards = machine.ordinals
    lacking = [name for name in MANAGERS if name not in names]
    if not cards:
        places = ("doctor.npu.nodes.host", "doctor.npu.nodes.container")
        advice = places[machine.container]
        yield problem("doctor.npu.nodes", "/dev/davinci[0-9]: -", advice)
    elif lacking:
        listed = ", ".join(f"/dev/{name}" for name in lacking)
        yield problem("doctor.npu.nodes", f"{listed}: -", "doctor.npu.nodes.managers", names=listed)
    else:
        yield ok("doctor.npu.nodes", f"/dev/davinci{cards}, {', '.join(MANAGERS)}")
    closed = [node for node in machine.nodes if not (node.readable and node.writable)]
    if closed:
        group = next((node.group for node in closed if node.group), "HwHiAiUser")
        listed = ", ".join(f"/dev/{node.name} ({node.group or '?'})" for node in closed)
        user = machine.user or str(machine.uid)
        mine = ", ".join(machine.groups) or "-"
        evidence = f"{listed}; {user}: {mine}"
        ways = ("doctor.npu.permission.join", "doctor.npu.permission.member")
        advice = ways[group in machine.groups]
        yield problem("doctor.npu.permission", evidence, advice, group=group, user=user)
