"""Which claims a run shows to hold on an NPU, from its checkpoints alone.

Only a checkpoint counts that an NPU with real weights has left: what the CPU engine, a stand-in or
somebody else's server does says nothing here. Changes no register; `merging` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from helpers.evidence.register import Check, Claim
from helpers.evidence.schemas import Judged, Line, Verdict
from helpers.schemas import Checkpoint, Report


def on_npu(report: Report) -> list[Checkpoint]:
    """Return the checkpoints that an NPU with real weights has left, in order."""
    found = [one for run in report.runs for one in run.checkpoints]
    return [one for one in found if one.engine == "ascend" and one.stand_in is False]


def judge(claims: Iterable[Claim], report: Report, lines: Sequence[Line]) -> list[Judged]:
    """Return the verdict on each claim that some checkpoint could show.

    held: every check passed. refuted: a check failed; where a text has to be printed, it passed
    without that text. unseen: the rest, for instance because the lab was not run on an NPU.

    Args:
        claims: the register's entries.
        lines: lines of output in which texts of the register were found.
    """
    found = on_npu(report)
    return [_judged(claim, found, lines) for claim in claims if claim.checks]


def _judged(claim: Claim, found: Sequence[Checkpoint], lines: Sequence[Line]) -> Judged:
    each = [_seen(check, found, lines) for check in claim.checks]
    verdicts = [verdict for verdict, _ in each]
    whole: Verdict = "held"
    if "refuted" in verdicts:
        whole = "refuted"
    elif "unseen" in verdicts:
        whole = "unseen"
    return Judged(id=claim.id, verdict=whole, because="; ".join(why for _, why in each))


def _seen(check: Check, found: Sequence[Checkpoint], lines: Sequence[Line]) -> tuple[Verdict, str]:
    """Return the verdict of one check over all runs of its lab, and why."""
    place = f"{check.lab} {check.step}"
    left = [one for one in found if (one.lab, one.step) == (check.lab, check.step)]
    failed = [one for one in left if one.status == "fail"]
    passed = any(one.status == "pass" for one in left)
    if failed and check.output is None:
        return "refuted", f"{place}: fail ({failed[0].reason})"
    if failed or not passed:
        return "unseen", f"{place}: {left[0].status if left else 'not run on an NPU'}"
    if check.output is None:
        return "held", f"{place}: pass"
    printed = [one.line for one in lines if (one.lab, one.text) == (check.lab, check.output)]
    if any(check.output in line for line in printed):
        return "held", f"{place}: pass, {check.output!r} was printed"
    return "refuted", f"{place}: pass, but {check.output!r} was not printed"
