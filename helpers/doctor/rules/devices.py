"""Which devices a program in this container gets: ordinals against npu-smi's ids, inherited
variables, who uses them already.
"""

from __future__ import annotations

from collections.abc import Iterator

from helpers.doctor import chips
from helpers.doctor.findings import Finding, ok, problem, warning
from helpers.doctor.machine import Machine
from helpers.doctor.npu_smi import Chip

VARIABLE = "ASCEND_RT_VISIBLE_DEVICES"


def visible(machine: Machine) -> Iterator[Finding]:
    """Yield whether an inherited ASCEND_RT_VISIBLE_DEVICES names devices that exist here.

    Its values are ordinals as this container counts them, 0 to the number of devices less one.
    """
    text = machine.environ.get(VARIABLE)
    count = _count(machine)
    if text is None or not machine.has_npu or count is None:
        return
    code, evidence = "doctor.devices.visible", f"{VARIABLE}={text}; /dev/davinci{machine.ordinals}"
    words = [word.strip() for word in text.split(",") if word.strip()]
    numbers = [int(word) for word in words if word.isdecimal() and len(word) < 4]
    last = count - 1
    if not words:
        yield problem(code, evidence, "doctor.devices.visible.empty", last=last)
    elif len(numbers) < len(words) or len(set(numbers)) < len(numbers):
        yield problem(code, evidence, "doctor.devices.visible.unreadable", last=last)
    elif max(numbers) <= last:
        yield ok(code, evidence)
    else:
        physical = set(numbers) <= {*machine.ordinals, *(c.id for c in machine.npus.chips)}
        advice = "physical" if physical else "range"
        right = ",".join(map(str, range(count)))
        codes = {
            "physical": "doctor.devices.visible.physical",
            "range": "doctor.devices.visible.range",
        }
        yield problem(code, evidence, codes[advice], right=right, last=last)


def numbers(machine: Machine) -> Iterator[Finding]:
    """Yield that device numbers here begin at 0 although the mounted cards do not."""
    cards = machine.ordinals
    if not cards or cards == list(range(len(cards))):
        return
    pairs = ", ".join(f"{ordinal} = /dev/davinci{card}" for ordinal, card in enumerate(cards))
    yield warning(
        "doctor.devices.numbers",
        pairs,
        "doctor.devices.numbers.renumbered",
        last=len(cards) - 1,
        first=cards[0],
    )


def busy(machine: Machine) -> Iterator[Finding]:
    """Yield which chips are in use: by processes that npu-smi lists, or by nobody it can see."""
    table = machine.npus
    if not table.chips:
        return
    listed = {(one.npu_id, one.chip) for one in table.processes}
    taken = [chip for chip in table.chips if (chip.id, chip.chip) in listed]
    hidden = [chip for chip in table.chips if chip not in taken and _is_used(chip)]
    free = len(table.chips) - len(taken) - len(hidden)
    if taken:
        told = ", ".join(
            f"NPU {one.npu_id}: {one.pid} {one.name} {one.memory_mb or '?'} MiB"
            for one in table.processes[:8]
        )
        advice = "doctor.devices.busy.some" if free else "doctor.devices.busy.all"
        found = warning if free else problem
        yield found("doctor.devices.busy", told, advice, free=free)
    if hidden:
        told = ", ".join(f"{c.label}: {c.used_mb} / {c.total_mb} MiB" for c in hidden[:8])
        advice = "doctor.devices.hidden.some" if free else "doctor.devices.hidden.all"
        found = warning if free else problem
        yield found("doctor.devices.hidden", told, advice, free=free)
    if not taken and not hidden and any(chip.used_mb is not None for chip in table.chips):
        yield ok("doctor.devices.busy", f"{free} x idle")


def _is_used(chip: Chip) -> bool:
    return chip.used_mb is not None and chip.used_mb > chips.idle_limit_mb(chip)


def _count(machine: Machine) -> int | None:
    """Return how many devices a program here can have; None where nothing tells."""
    return len(machine.ordinals) or len(machine.npus.chips) or None
