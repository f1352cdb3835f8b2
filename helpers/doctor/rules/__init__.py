"""What follows from a machine: rules, each a function of a Machine that yields findings.

Their order is that of the quick diagnostic of the troubleshooting skill that the course grew from:
version alignment, graph mode, error code, hardware, feature combination, max_model_len, synchronous
errors; then what surrounds them. No rule reads the machine by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from helpers.doctor.findings import Finding
from helpers.doctor.machine import Machine
from helpers.doctor.rules import (
    deep,
    devices,
    engine,
    environment,
    features,
    hardware,
    system,
    tool,
    versions,
)

Rule = Callable[[Machine], Iterator[Finding]]

ORDER: tuple[Rule, ...] = (
    engine.interpreter,
    versions.alignment,
    versions.cann,
    versions.driver,
    environment.graph,
    tool.answer,
    hardware.present,
    hardware.generation,
    hardware.health,
    hardware.nodes,
    devices.visible,
    devices.numbers,
    devices.busy,
    features.combinations,
    features.memory_fits,
    environment.synchronous,
    environment.leftovers,
    environment.hub,
    environment.network,
    system.place,
    system.machine,
    system.notebook,
    deep.imported,
)


def findings(machine: Machine) -> list[Finding]:
    """Return all findings on a machine, in the rules' order."""
    return [finding for rule in ORDER for finding in rule(machine)]
