"""Lab 04's ten faults on the real engine: each really fails, its log tells it, its repair works."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers import catalog, diagnose, faults, models
from helpers.engines import Cpu
from helpers.faults import logfile
from helpers.faults.known import FAULTS

LAB = "04_broken_deployment"

pytestmark = pytest.mark.full


@pytest.mark.parametrize("name", [one.id for one in FAULTS])
def test_fault_really_fails_is_told_by_its_log_and_is_repaired(
    name: str, device: Cpu, own_state: Path
) -> None:
    """Starts its own: a start that fails, and one that is repaired, are what is tested."""
    model = models.find(LAB, "cpu")
    options = catalog.options(LAB, "cpu", served_model_name=model.name, port=0)
    drawn = {one.fault.id: one for one in faults.draw(0, False, model, options)}
    case = drawn[name]

    case.start(device)

    try:
        assert case.has_failed
        lines = logfile.lines(case.log)
        assert logfile.matching(lines, case.fault.evidence), "\n".join(lines[-40:])
        found = diagnose.read(case.log)
        assert found.entry == name
        assert case.grade(faults.solution(case))
    finally:
        case.close()
