"""Lab 00's cells about the machine, run as they stand on every composed machine: they show it, and their checks hold or fail rightly."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import doctor_machines as machines
import jupytext
import pytest

from helpers import catalog, checkpoint, doctor, engines, environment, messages, paths
from helpers.doctor import install, known_models, memory, preflight
from helpers.doctor.machine import Deep, Machine, Node, Tool
from helpers.errors import CheckFailed
from helpers.options import Options

LAB = "00_check_environment"
NAMES = machines.names()
REPORTS = {name: doctor.report_on(machines.load(name).machine) for name in NAMES}
WITH_NPU = [name for name in NAMES if REPORTS[name].machine.has_npu]
READY = [name for name in NAMES if REPORTS[name].verdict.engine == "ascend"]
CELLS = [
    cell.source
    for cell in jupytext.read(paths.COURSE / "en" / f"{LAB}.md", fmt="md:myst").cells
    if cell.cell_type == "code"
]


def cell(phrase: str) -> str:
    """Return the lab's one cell that has a phrase."""
    (found,) = [source for source in CELLS if phrase in source]
    return str(found)


def names_of(report: doctor.Report, language: str = "en") -> dict[str, Any]:
    """Return the names that the lab's cells know when they come to this report."""
    messages.use(language)
    checkpoint.begin(LAB, versions={})
    known = {one.__name__.rpartition(".")[2]: one for one in (catalog, checkpoint, doctor, engines)}
    known |= {"environment": environment, "install": install, "known_models": known_models}
    known |= {"memory": memory, "preflight": preflight, "json": json, "re": re, "Path": Path}
    known |= {"Machine": Machine, "Node": Node, "Options": Options}
    return known | {"report": report, "LANGUAGE": language}


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the Ascend engine be available, as it is on a machine that the verdict calls ready."""
    yes = engines.Availability(True, "composed")
    monkeypatch.setattr(engines.Ascend, "available", lambda self: yes)


@pytest.mark.parametrize("name", NAMES)
def test_report_of_any_machine_passes_the_labs_check(name: str, plugin: None) -> None:
    exec(cell('checkpoint.check("doctor"'), names_of(REPORTS[name]))


def test_report_that_promises_an_engine_that_is_not_there_fails_the_labs_check(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    no = engines.Availability(False, "composed")
    monkeypatch.setattr(engines.Ascend, "available", lambda self: no)

    with pytest.raises(CheckFailed):
        exec(cell('checkpoint.check("doctor"'), names_of(REPORTS[READY[0]]))


@pytest.mark.parametrize("name", NAMES)
def test_advice_and_install_command_are_shown_for_any_machine(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    known = names_of(REPORTS[name])

    for phrase in ("MODELS = {", "place = report.machine.weights", "plan = install.plan("):
        exec(cell(phrase), known)
    exec(cell('checkpoint.check("install_command"'), known)

    shown = capsys.readouterr().out
    assert shown.count("== MiniCPM") == 2
    assert "install_command: pass" in shown


def deep(report: doctor.Report, **said: Any) -> doctor.Report:
    """Return the report after an import that said this."""
    found = Deep(tool=Tool(state="ran"), **said)
    return doctor.report_on(report.machine.model_copy(update={"deep": found}))


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"platform": "NPUPlatform", "torch_npu": "2.10.0.post4"}, "pass"),
        ({"platform": "UnspecifiedPlatform", "torch_npu": "2.10.0.post4"}, "fail"),
        ({"error": "libhccl.so: cannot open shared object file"}, "fail"),
    ],
)
def test_toolchain_on_a_ready_machine_is_what_the_import_said(
    said: dict[str, str],
    status: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = REPORTS[READY[0]]
    imported = deep(report, **said)
    monkeypatch.setattr(doctor, "examine", lambda deep: imported)

    try:
        exec(cell('checkpoint.check("toolchain"'), names_of(report))
    except CheckFailed as error:
        assert "deep." in str(error.told("en"))

    assert f"toolchain: {status}" in capsys.readouterr().out


@pytest.mark.parametrize("name", [name for name in WITH_NPU if name not in READY])
def test_toolchain_on_a_machine_that_is_not_ready_is_skipped(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    exec(cell('checkpoint.check("toolchain"'), names_of(REPORTS[name]))

    assert "toolchain: skipped" in capsys.readouterr().out
