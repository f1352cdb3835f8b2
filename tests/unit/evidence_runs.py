"""Runs for the tests of evidence: the committed notebooks, which a real run on the CPU engine has executed, and the
same with the marks of an NPU.

What an NPU would have left is composed, not measured: engine, versions and one line of its log.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from doctor_machines import load

from helpers import doctor, execution, paths
from helpers.checkpoint import MIME
from helpers.schemas import Report, Run, Teardown

LABS = ("01_minicpm_v", "02_minicpm5")
PLUGIN = "INFO Platform plugin ascend is activated"
VERSIONS = {"vllm": "0.23.0", "vllm-ascend": "0.23.0"}
Change = Callable[[dict[str, Any]], None]


@cache
def npu_machine() -> doctor.Report:
    """Return the doctor's report on a composed machine: 910B2, in the image of 0.23."""
    return changed_machine()


def changed_machine(**changes: Any) -> doctor.Report:
    """Return the doctor's report on the same machine with some of what was read changed."""
    return doctor.report_on(load("ok_a2_image_023").machine.model_copy(update=changes))


@cache
def cpu_machine() -> doctor.Report:
    """Return the doctor's report on a machine without an NPU."""
    return doctor.report_on(doctor.Machine())


def notebook(lab: str, language: str = "en") -> dict[str, Any]:
    """Return a committed notebook, with the outputs of the CPU engine."""
    path = paths.NOTEBOOKS / language / f"{lab}.ipynb"
    return dict(json.loads(path.read_text(encoding="utf-8")))


def checkpoints(cells: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the records of a notebook's checkpoints, to be changed in place."""
    outputs = [out for cell in cells["cells"] for out in cell.get("outputs", [])]
    return [out["data"][MIME] for out in outputs if MIME in out.get("data", {})]


def as_on_npu(cells: dict[str, Any]) -> None:
    """Give a notebook the marks of a run on an NPU with real weights."""
    for record in checkpoints(cells):
        record.update(engine="ascend", stand_in=False, versions=dict(VERSIONS))
    code = [cell for cell in cells["cells"] if cell["cell_type"] == "code"]
    code[0]["outputs"].append({"output_type": "stream", "name": "stdout", "text": PLUGIN + "\n"})


def step(cells: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the record of one checkpoint."""
    return next(one for one in checkpoints(cells) if one["step"] == name)


def folder(
    place: Path,
    change: Change = lambda cells: None,
    labs: tuple[str, ...] = LABS,
    parameters: dict[str, Any] | None = None,
) -> Path:
    """Return the folder of a run as `python -m helpers run` leaves it: notebooks and report.json.

    Args:
        change: what is done to each notebook before it is written.
    """
    place.mkdir(parents=True, exist_ok=True)
    runs = []
    for lab in labs:
        cells = copy.deepcopy(notebook(lab))
        change(cells)
        (place / f"{lab}.en.ipynb").write_text(json.dumps(cells), encoding="utf-8")
        found = execution.records(cells["cells"])
        runs.append(
            Run(
                lab=lab,
                language="en",
                edition="learner",
                engine=next((one.engine for one in found if one.engine), None),
                parameters=parameters or {},
                ok=True,
                seconds=60.0,
                notebook=f"{lab}.en.ipynb",
                checkpoints=found,
                error=None,
            )
        )
    report = Report(
        schema=1,
        started="2026-11-30T12:00:00+00:00",
        ok=True,
        engine_starts=2,
        engine_starts_declared=2,
        runs=runs,
        teardown=Teardown(processes_left=0, ports_left=[]),
    )
    (place / "report.json").write_text(report.model_dump_json(by_alias=True), encoding="utf-8")
    return place
