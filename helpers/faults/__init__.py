"""Faults that are planted on purpose: a deployment that really fails, its log, and a check of what
the learner makes of it.

`known` holds the faults as data, `deployment` what is started, `trial` how it goes, `case` a drawn
fault, `gallery` recorded logs of NPUs, `investigator` a model's tools. Not for reading a log's
meaning: `diagnose` does that.
"""

from __future__ import annotations

from helpers.faults.case import Case, draw, solution, stories
from helpers.faults.deployment import Deployment
from helpers.faults.known import CAUSES, FAULTS, Fault
from helpers.faults.texts import causes

__all__ = [
    "CAUSES",
    "FAULTS",
    "Case",
    "Deployment",
    "Fault",
    "causes",
    "draw",
    "solution",
    "stories",
]
