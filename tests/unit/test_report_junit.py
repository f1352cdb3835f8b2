"""Tests of junit.xml: every element and attribute is one that the common schema knows, the counts
are those of the cases, and what XML cannot hold is replaced.
"""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from helpers import junit
from helpers.schemas import Checkpoint, Report, Run, RunError, Teardown

# What junit-10.xsd of Jenkins' xUnit plugin allows: element → (required, other attributes, children).
SCHEMA: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors"},
        {
            "time",
            "skipped",
            "timestamp",
            "hostname",
            "id",
            "package",
            "file",
            "log",
            "url",
            "group",
        },
        {"testcase", "properties", "system-out", "system-err"},
    ),
    "testcase": (
        {"name"},
        {"time", "classname", "group"},
        {"skipped", "error", "failure", "system-out", "system-err"},
    ),
    "failure": (set(), {"type", "message"}, set()),
    "error": (set(), {"type", "message"}, set()),
    "skipped": (set(), {"type", "message"}, set()),
}
TIME = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?")


def _checkpoint(step: str, status: str, reason: str | None = None) -> Checkpoint:
    return Checkpoint(
        schema=1,
        lab="light",
        step=step,
        status=status,
        reason=reason,
        ok=status != "fail",
        seconds=1234.5,
        engine=None,
        model=None,
        stand_in=None,
        versions={},
        detail={"got": "\x1b[31mred\x1b[0m < &"},
    )


def _run(**changes: Any) -> Run:
    values: dict[str, Any] = {
        "lab": "light",
        "language": "en",
        "edition": "learner",
        "engine": None,
        "parameters": {"SEED": 1},
        "ok": True,
        "seconds": 61.25,
        "notebook": "x.ipynb",
        "checkpoints": [
            _checkpoint(status, status, "why")
            for status in ("pass", "skipped", "todo", "kept")
        ],
        "error": None,
    }  # fmt: skip
    return Run(**(values | changes))


RUNS = {
    "passed": _run(),
    "failed": _run(
        ok=False,
        checkpoints=[_checkpoint("a", "pass"), _checkpoint("b", "fail", "no \x00 <b>")],
        error=RunError(code="checkpoint.failed", message="[checkpoint.failed] b"),
    ),
    "killed": _run(ok=False, checkpoints=[], error=RunError(code="run.killed", message="")),
    "not begun": _run(ok=False, checkpoints=[], skipped="interrupted"),
    "nothing": _run(ok=False, checkpoints=[]),
}
COUNTS = {  # tests, failures, errors, skipped
    "passed": (4, 0, 0, 2),
    "failed": (2, 1, 0, 0),
    "killed": (1, 0, 1, 0),
    "not begun": (1, 0, 0, 1),
    "nothing": (1, 0, 1, 0),
}


def _suites(*runs: Run) -> ET.Element:
    summary = Report(
        schema=1,
        started="2026-11-30T12:00:00+00:00",
        ok=False,
        engine_starts=0,
        engine_starts_declared=0,
        runs=list(runs),
        teardown=Teardown(processes_left=0, ports_left=[]),
    )
    return ET.fromstring(junit.xml(summary))


@pytest.mark.parametrize("name", RUNS)
def test_suite_of_a_run_counts_its_cases(name: str) -> None:
    suite = _suites(RUNS[name])[0]

    counted = tuple(int(suite.get(one, "")) for one in ("tests", "failures", "errors", "skipped"))
    assert counted == COUNTS[name]
    assert len(suite.findall("testcase")) == counted[0]


def test_every_element_and_attribute_is_one_of_the_schema() -> None:
    for element in _suites(*RUNS.values()).iter():
        required, allowed, children = SCHEMA[element.tag]
        assert required <= set(element.attrib) <= required | allowed
        assert {child.tag for child in element} <= children
        assert "time" not in element.attrib or TIME.fullmatch(element.attrib["time"])


def test_totals_are_those_of_all_suites() -> None:
    root = _suites(*RUNS.values())

    assert [root.get(name) for name in ("tests", "failures", "errors")] == ["9", "1", "2"]


def test_failure_tells_its_reason_and_detail_and_nothing_that_xml_cannot_hold() -> None:
    failure = _suites(RUNS["failed"]).find(".//failure")

    assert failure is not None
    assert failure.get("message") == "no \ufffd <b>"
    assert failure.text == "got: \ufffd[31mred\ufffd[0m < &"


def test_runs_of_one_lab_with_other_parameters_are_suites_of_other_names() -> None:
    root = _suites(RUNS["passed"], _run(parameters={"SEED": 2}))

    assert [suite.get("name") for suite in root] == ["light.en SEED=1", "light.en SEED=2"]
