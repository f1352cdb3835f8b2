"""A run's report as JUnit XML, for a CI system's own view: a suite a run, a case a checkpoint.

Source: junit-10.xsd of Jenkins' xUnit plugin, the schema that most readers follow.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from helpers.schemas import Checkpoint, Report, Run

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
Counts = dict[str, int]


def xml(summary: Report) -> str:
    """Return the report as an XML text.

    A checkpoint that was skipped, or an exercise that is not solved yet, is `skipped`; a failed one
    `failure`; a run that ended otherwise has a case `run` with `error`.
    """
    root = ET.Element("testsuites", name=_clean(summary.matrix or "minicpm-labs"))
    totals: Counts = dict.fromkeys(("tests", "failures", "errors"), 0)
    for run in summary.runs:
        suite = _suite(run, summary.started)
        for name in totals:
            totals[name] += int(suite.get(name, "0"))
        root.append(suite)
    for name, value in totals.items():
        root.set(name, str(value))
    root.set("time", f"{sum(run.seconds for run in summary.runs):.1f}")
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(run: Run, started: str) -> ET.Element:
    told = " ".join(f"{name}={value}" for name, value in run.parameters.items())
    name = f"{run.lab}.{run.language}"
    suite = ET.Element("testsuite", name=_clean(f"{name} {told}".strip()), timestamp=started[:19])
    for one in run.checkpoints:
        suite.append(_case(name, one))
    failed = any(one.status == "fail" for one in run.checkpoints)
    if run.skipped is not None or (run.error is not None and not failed) or not run.checkpoints:
        suite.append(_whole(name, run))
    counts = {
        "tests": len(suite.findall("testcase")),
        "failures": len(suite.findall("testcase/failure")),
        "errors": len(suite.findall("testcase/error")),
        "skipped": len(suite.findall("testcase/skipped")),
    }
    for key, value in counts.items():
        suite.set(key, str(value))
    suite.set("time", f"{run.seconds:.1f}")
    return suite


def _case(suite: str, one: Checkpoint) -> ET.Element:
    case = ET.Element("testcase", name=one.step, classname=suite, time=f"{one.seconds:.2f}")
    said = _clean(one.reason or one.status)
    if one.status == "fail":
        failure = ET.SubElement(case, "failure", type="checkpoint.failed", message=said)
        failure.text = _clean("\n".join(f"{k}: {v}" for k, v in one.detail.items()))
    elif one.status in ("skipped", "todo"):
        ET.SubElement(case, "skipped", type=one.status, message=said)
    return case


def _whole(suite: str, run: Run) -> ET.Element:
    """Return the case of a run as a whole: what ended it, or why it was not begun."""
    case = ET.Element("testcase", name="run", classname=suite, time=f"{run.seconds:.2f}")
    if run.skipped is not None:
        ET.SubElement(case, "skipped", type="run", message=_clean(run.skipped))
    elif run.error is not None:
        first = run.error.message.splitlines()[:1]
        error = ET.SubElement(
            case, "error", type=_clean(run.error.code), message=_clean("".join(first))
        )
        error.text = _clean(run.error.message)
    elif not run.ok:
        ET.SubElement(case, "error", type="run.failed", message="no checkpoint")
    return case


def _clean(text: str) -> str:
    """Return a text without the characters that XML 1.0 cannot hold (colours of a log, say)."""
    return _FORBIDDEN.sub("\ufffd", text)
