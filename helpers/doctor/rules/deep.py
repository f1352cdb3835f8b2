"""What torch_npu and vLLM said when they were really imported (only with --deep)."""

from __future__ import annotations

from collections.abc import Iterator

from helpers.doctor.findings import Finding, ok, problem, unknown
from helpers.doctor.machine import Machine


def imported(machine: Machine) -> Iterator[Finding]:
    """Yield whether the imports worked, which platform vLLM took, how many devices torch sees."""
    deep = machine.deep
    if deep is None:
        return
    code, plugin = (
        "doctor.deep.imports",
        bool(machine.engine and "vllm-ascend" in machine.engine.versions),
    )
    if deep.tool.state == "timeout":
        yield unknown(code, "> 90 s", "doctor.deep.imports.slow")
        return
    if deep.error and (plugin or machine.has_npu):
        yield problem(code, deep.error[:300], "doctor.deep.imports.failed")
    else:
        yield ok(code, f"torch-npu {deep.torch_npu or '-'}, {deep.platform or '-'}")
    if not (plugin and deep.platform):
        return
    if deep.platform != "NPUPlatform":
        yield problem("doctor.deep.platform", deep.platform, "doctor.deep.platform.other")
    else:
        yield ok("doctor.deep.platform", deep.platform)
    expected = len(machine.ordinals) or len(machine.npus.chips)
    narrowed = machine.environ.get("ASCEND_RT_VISIBLE_DEVICES")
    if deep.devices is not None and expected and not narrowed:
        evidence = f"torch_npu.npu.device_count() = {deep.devices}; {expected}"
        if deep.devices == expected:
            yield ok("doctor.deep.devices", evidence)
        else:
            yield problem("doctor.deep.devices", evidence, "doctor.deep.devices.differ")
