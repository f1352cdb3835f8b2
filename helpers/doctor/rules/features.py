"""Combinations that do not go together, and what the chips' memory allows (max_model_len)."""

from __future__ import annotations

from collections.abc import Iterator

from helpers.doctor import chips, known_models, memory, preflight, stacks
from helpers.doctor.findings import Finding, ok, problem, warning
from helpers.doctor.machine import Machine

CODES = {
    "MiniCPM5-2B": ("doctor.memory.minicpm5", "doctor.memory.minicpm5.context"),
    "MiniCPM-V-4_5": ("doctor.memory.minicpm_v", "doctor.memory.minicpm_v.context"),
}
WANTED_TOKENS = {"MiniCPM5-2B": 32_768, "MiniCPM-V-4_5": 8_192}
"""The course's max_model_len: one sequence of it has to fit."""

UTILIZATION = 0.85
"""The course's gpu_memory_utilization on Ascend (course/catalog.yml)."""


def combinations(machine: Machine) -> Iterator[Finding]:
    """Yield features that this stack, or these chips, do not have."""
    if not machine.has_npu or machine.engine is None:
        return
    have = machine.engine.versions
    stack = stacks.of_engine(have)
    if stack and stack["engine"] == "ascend":
        found = f"{stack['id']}: minicpm5"
        if stack["tool_calling"]:
            yield ok("doctor.feature.tool_calling", f"{found} +")
        else:
            yield warning(
                "doctor.feature.tool_calling",
                f"{found} -",
                "doctor.feature.tool_calling.none",
                stack=stacks.default()["id"],
            )
    triton = [f"{n} {have[n]}" for n in ("triton", "triton-ascend") if n in have]
    if triton and chips.of_machine(machine.npus.chips) == "310P":
        listed = ", ".join(triton)
        yield problem("doctor.feature.triton", listed, "doctor.feature.triton.remove")
    elif "triton" in have and "vllm-ascend" in have:
        listed = f"triton {have['triton']}"
        yield warning("doctor.feature.triton", listed, "doctor.feature.triton.upstream")


def memory_of(machine: Machine) -> int | None:
    """Return the bytes of the smallest chip as torch would see it, None where unknown."""
    totals = [chip.total_mb for chip in machine.npus.chips if chip.total_mb]
    return int(min(totals) * 2**20 * memory.USABLE_SHARE) if totals else None


def memory_fits(machine: Machine) -> Iterator[Finding]:
    """Yield for each model of the course whether its weights and one sequence fit on one chip."""
    usable = memory_of(machine)
    if usable is None or chips.of_machine(machine.npus.chips) not in chips.SUPPORTED:
        return
    for known in known_models.all_known():
        code, shorter = CODES[known.name]
        wanted = WANTED_TOKENS[known.name]
        terms = memory.budget(
            known.shape, usable, gpu_memory_utilization=UTILIZATION, max_num_batched_tokens=8192
        )
        evidence = preflight.told(terms)
        if terms.tokens >= wanted:
            yield ok(code, evidence)
        elif terms.tokens > 1024:
            yield warning(code, evidence, shorter, tokens=terms.tokens, wanted=wanted)
        else:
            found = problem if known.name == "MiniCPM5-2B" else warning
            yield found(code, evidence, "doctor.memory.too_small", model=known.name)
