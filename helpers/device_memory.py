"""How much of a device's memory is in use, as the driver's own tool tells; for the proof of a stop.

Not for judging a machine: `doctor` does. What cannot be read is left out, never taken for zero.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

CLOSE = 2**30
"""Bytes: as near as the memory must come to what it was before the start."""

PATIENCE = 60.0
"""Seconds that a driver may take to give back what a killed process held."""

POLL_SECONDS = 1.0


def used(engine: str) -> dict[str, int]:
    """Return bytes in use by chip ("NPU/chip", as npu-smi numbers them); {} where the engine has no
    such device or the tool did not tell.

    In a container the tool shows the memory of a chip truly, its process list not.
    """
    if engine != "ascend":
        return {}
    from helpers.doctor import npu_smi, tools  # only here: the doctor's readers are many

    seen = tools.run(["npu-smi", "info"])
    found = npu_smi.used_memory(seen.output)
    return {f"{npu}/{0 if chip is None else chip}": used for (npu, chip), used in found.items()}


def returned(engine: str, before: Mapping[str, int], patience: float = PATIENCE) -> str:
    """Return "returned" once every chip holds about what it did before, "unknown" where that is not
    seen in time or was not known, "not applicable" for an engine without such a device.

    Args:
        engine: its name.
        before: what `used` said before the start.
        patience: seconds.
    """
    if engine != "ascend":
        return "not applicable"
    deadline = time.monotonic() + patience
    while before:
        now = used(engine)
        if all(chip in now and now[chip] <= held + CLOSE for chip, held in before.items()):
            return "returned"
        if not now or time.monotonic() > deadline:
            break
        time.sleep(POLL_SECONDS)
    return "unknown"
