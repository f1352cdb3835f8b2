"""Whether `npu-smi` answers, and the error code with which it does not."""

from __future__ import annotations

from collections.abc import Iterator

from helpers.doctor.findings import Finding, ok, problem, unknown
from helpers.doctor.machine import Machine

CAUSES = {
    "device_used": ("doctor.npu_smi.device_used", "doctor.npu_smi.device_used.do"),
    "driver": ("doctor.npu_smi.driver", "doctor.npu_smi.driver.do"),
    "library": ("doctor.npu_smi.library", "doctor.npu_smi.library.do"),
    "missing": ("doctor.npu_smi.missing", "doctor.npu_smi.missing.do"),
    "permission": ("doctor.npu_smi.permission", "doctor.npu_smi.permission.do"),
    "no_such_card": ("doctor.npu_smi.no_such_card", "doctor.npu_smi.no_such_card.do"),
}


def answer(machine: Machine) -> Iterator[Finding]:
    """Yield whether npu-smi has a table, or why not; nothing where nothing speaks of an NPU."""
    if not machine.has_npu:
        return
    tool = machine.npu_smi
    if machine.npus.chips:
        version = machine.npus.npu_smi_version or "?"
        yield ok("doctor.npu_smi.answer", f"npu-smi {version}: {len(machine.npus.chips)}")
    elif tool.state == "missing":
        yield problem("doctor.npu_smi.missing", "npu-smi: -", "doctor.npu_smi.missing.do")
    elif tool.state == "timeout":
        yield unknown("doctor.npu_smi.silent", "npu-smi info: > 5 s", "doctor.npu_smi.silent.do")
    elif machine.npu_failure is None and tool.state == "error":
        evidence = tool.output[:200]
        yield problem("doctor.npu_smi.permission", evidence, "doctor.npu_smi.permission.do")
    elif machine.npu_failure is None:
        evidence = _first_line(tool.output) or f"exit {tool.returncode}"
        yield unknown("doctor.npu_smi.unreadable", evidence, "doctor.npu_smi.unreadable.do")
    else:
        failure = machine.npu_failure
        code, advice = CAUSES[failure.cause]
        values = {"library": failure.library or "-", "number": failure.code or "-"}
        yield problem(code, failure.line[:200], advice, **values)


def _first_line(text: str) -> str:
    return next((line.strip()[:200] for line in text.splitlines() if line.strip()), "")
