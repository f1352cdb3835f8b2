"""What this machine is, which findings follow from it, and what can run here: the doctor.

`examine` reads (`probe`), applies the `rules` and forms the `verdict`; `preflight` judges one start
or download; `install` says how to get the engine. Readers of the tools' output stand one a module.
Nothing here starts an engine or writes a file.
"""

from __future__ import annotations

from pathlib import Path

from helpers.doctor import probe, rules, verdict
from helpers.doctor.machine import Machine
from helpers.doctor.report import Report

__all__ = ["Machine", "Report", "examine", "report_on"]


def examine(root: str | Path = "/", *, deep: bool = False, model_dir: str = "") -> Report:
    """Return the report on this machine, in about the time of the slowest outside tool (5 s at
    most each, side by side).

    Args:
        root: where /dev, /etc and /usr/local are; another one only for tests.
        deep: also import torch_npu and vLLM in the engine's interpreter, up to 90 s.
        model_dir: where weights go; "" takes the course's own place.
    """
    return report_on(probe.read(root, deep=deep, model_dir=model_dir))


def report_on(machine: Machine) -> Report:
    """Return the report on a machine that was read."""
    found = tuple(rules.findings(machine))
    return Report(verdict.judge(machine, found), found, machine)
