"""The verdict first: what this machine can run as it is, with which stack, and what is missing for
the real model. Decided from the findings alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from helpers import messages
from helpers.doctor import chips, stacks
from helpers.doctor.findings import Finding
from helpers.doctor.machine import Machine
from helpers.doctor.rules.system import ARCHITECTURES

IN_THE_WAY = (
    *("engine.", "versions.", "npu_smi.", "npu.", "devices.", "feature.", "memory.minicpm5"),
    *("graph.", "env.plugins", "env.atomgit", "debug.", "deep.", "system."),
)
"""Ids of problems that keep the real model from running; others are told, and do not decide."""

MUST_BE_KNOWN = ("npu.generation", "npu.health")
"""Without these nobody can say that the real model runs; other unknowns are named beside a yes."""


@dataclass(frozen=True)
class Verdict:
    """What can run here.

    Attributes:
        engine: ascend (the real model), cpu (the stand-in), or remote (neither).
        stack: id in course/versions.yml, None for remote.
        code, values: of the sentence that says what to do.
        missing: ids of the problems in the way of the real model.
    """

    engine: Literal["ascend", "cpu", "remote"]
    stack: str | None
    code: str
    values: dict[str, Any] = field(default_factory=dict)
    missing: tuple[str, ...] = ()

    @property
    def advice(self) -> str:
        """Return what can run here and what to do next, in one or two sentences."""
        return messages.text(self.code, **self.values)

    def as_json(self) -> dict[str, str | None]:
        """Return the form that `doctor --json` prints."""
        return {"engine": self.engine, "stack": self.stack, "advice": self.advice}


def judge(machine: Machine, findings: Sequence[Finding]) -> Verdict:
    """Return the verdict that the findings lead to."""
    problems = tuple(
        one.id for one in findings if one.status == "problem" and one.id.startswith(IN_THE_WAY)
    )
    unseen = [one.id for one in findings if one.status == "unknown"]
    doubts = tuple(one for one in unseen if one in MUST_BE_KNOWN)
    stack = stacks.of_engine(machine.engine.versions) if machine.engine else None
    if not machine.has_npu:
        return _without_npu(machine, stack, problems)
    usable = stack is not None and stack["engine"] == "ascend"
    if usable and stack and not problems and not doubts and machine.npus.chips:
        values = {"stack": stack["id"], "unseen": ", ".join(unseen)}
        code = "doctor.verdict.ascend_unseen" if unseen else "doctor.verdict.ascend"
        return Verdict("ascend", stack["id"], code, values)
    return _npu_with_problems(machine, problems + doubts or tuple(unseen))


def _without_npu(machine: Machine, stack: Any, problems: tuple[str, ...]) -> Verdict:
    if machine.system != "Linux" or machine.arch not in ARCHITECTURES:
        return Verdict("remote", None, "doctor.verdict.remote")
    if stack and stack["engine"] == "cpu" and not problems:
        return Verdict("cpu", "cpu", "doctor.verdict.cpu", {"vllm": stack["vllm"]["value"]})
    if machine.engine and not problems and machine.engine.versions.get("vllm"):
        values = {"vllm": machine.engine.versions["vllm"]}
        return Verdict("cpu", "cpu", "doctor.verdict.cpu_other", values)
    return Verdict("cpu", "cpu", "doctor.verdict.cpu_setup", missing=problems)


def _npu_with_problems(machine: Machine, missing: tuple[str, ...]) -> Verdict:
    kind = chips.of_machine(machine.npus.chips)
    unsupported = kind is not None and kind not in chips.SUPPORTED
    linux = machine.system == "Linux" and machine.arch in ARCHITECTURES
    engine: Literal["cpu", "remote"] = "cpu" if linux else "remote"
    place = "cpu" if linux else None
    if unsupported:
        values: dict[str, Any] = {"kind": kind}
        return Verdict(engine, place, "doctor.verdict.unsupported", values, missing)
    names = ", ".join(missing) or "npu_smi.answer"
    image = stacks.image(stacks.default(), kind, machine.os)
    values = {"missing": names, "image": image, "stack": stacks.default()["id"]}
    image_wanted = any(one.startswith(("versions.", "engine.")) for one in missing)
    code = "doctor.verdict.image" if image_wanted and image else "doctor.verdict.repair"
    return Verdict(engine, place, code, values, missing)
