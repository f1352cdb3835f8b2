"""One archive from a run's folder: what ran, on what, and which claims it shows.

Only runs of labs as they stand in this checkout are packed: another notebook's answers are not the
course's to send. Where the run was made does not matter here; `merging` takes an NPU's only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import helpers
from helpers import catalog, doctor, paths, records
from helpers import report as reports
from helpers.doctor import chips
from helpers.evidence import archive, judging, register, sharing
from helpers.evidence.errors import NothingToPack
from helpers.evidence.schemas import Evidence, Lab, Line, Machine
from helpers.schemas import Run

Notebook = dict[str, Any]


def pack(folder: Path, target: Path | None = None, examined: doctor.Report | None = None) -> Path:
    """Return the path of the archive of a run.

    Args:
        folder: build/run-<time> or build/latest, with report.json and the executed notebooks.
        target: the archive; None: evidence-<folder's name>.zip beside the folder.
        examined: the doctor's report; None examines this machine now.
    Raises:
        ReportMissing, ReportUnreadable: the folder has no report. NothingToPack: as it says.
    """
    place = folder.resolve()
    whole = reports.read(place)
    notebooks = {run.notebook: _notebook(place / run.notebook) for run in whole.runs}
    kept = [run for run in whole.runs if _is_the_labs(run, notebooks[run.notebook])]
    left_out = [f"{run.lab} {run.language}" for run in whole.runs if run not in kept]
    if not kept:
        raise NothingToPack(folder=paths.shown(place), left_out=", ".join(left_out) or "-")
    report, seen = sharing.report(whole, kept), examined or doctor.examine()
    claims = register.read()
    lines = [
        line
        for run in kept
        if any(one.engine == "ascend" for one in run.checkpoints)
        for line in _lines(run, notebooks[run.notebook], claims)
    ]
    members = {
        "report.json": archive.dumps(report.model_dump(by_alias=True)),
        "doctor.json": archive.dumps(sharing.cleaned(seen.as_json())),
    }
    head = Evidence(
        schema=1,
        made=records.now(),
        started=report.started,
        course=helpers.__version__,
        machine=machine(seen),
        labs=[
            Lab(lab=run.lab, language=run.language, code=code_hash(notebooks[run.notebook]))
            for run in kept
        ],
        lines=lines,
        claims=judging.judge(claims, report, lines),
        left_out=left_out,
        files={name: archive.digest(data) for name, data in members.items()},
    )
    members[archive.HEAD] = archive.dumps(head.model_dump(by_alias=True))
    return archive.write(target or place.parent / f"evidence-{place.name}.zip", members)


def machine(seen: doctor.Report) -> Machine:
    """Return what a run was made on, from the doctor's reading of it."""
    read = seen.machine
    found = read.npus.chips
    names = sorted({chip.name for chip in found})
    files = list(read.files.values())
    return Machine(
        chip=", ".join(names) or None,
        chips=len(found),
        generation=chips.of_machine(found),
        driver=next((one.driver_version for one in files if one.driver_version), None),
        cann=next((one.cann_version for one in files if one.cann_version), None),
        arch=read.arch,
        os=read.os,
        versions=dict(read.engine.versions) if read.engine else {},
    )


def code_hash(notebook: Notebook) -> str:
    """Return the sha256 of a notebook's code cells, papermill's injected parameters left out."""
    cells = [
        "".join(cell["source"])
        for cell in notebook.get("cells", [])
        if cell["cell_type"] == "code"
        and "injected-parameters" not in cell["metadata"].get("tags", [])
    ]
    return hashlib.sha256("\0".join(cells).encode()).hexdigest()


def labs_hash(lab: str, language: str) -> str | None:
    """Return the hash of a lab's learner edition in this checkout, None where there is no such
    lab.
    """
    path = paths.NOTEBOOKS / language / f"{lab}.ipynb"
    return code_hash(_notebook(path)) if lab in catalog.labs() and path.is_file() else None


def _is_the_labs(run: Run, notebook: Notebook) -> bool:
    return bool(notebook) and code_hash(notebook) == labs_hash(run.lab, run.language)


def _notebook(path: Path) -> Notebook:
    """Return an executed notebook, {} where there is none or it is not JSON."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def _lines(run: Run, notebook: Notebook, claims: Sequence[register.Claim]) -> list[Line]:
    """Return, for each text that a claim wants printed, the first line of output that has it."""
    printed = [line for text in _texts(notebook) for line in text.splitlines()]
    wanted = {
        check.output
        for claim in claims
        for check in claim.checks
        if check.output and check.lab == run.lab
    }
    found = {text: next((one for one in printed if text in one), None) for text in sorted(wanted)}
    return [
        Line(lab=run.lab, text=text, line=sharing.cleaned(line)[:300])
        for text, line in found.items()
        if line is not None
    ]


def _texts(notebook: Notebook) -> list[str]:
    outputs = [out for cell in notebook["cells"] for out in cell.get("outputs", [])]
    shown = [out.get("text", out.get("data", {}).get("text/plain", "")) for out in outputs]
    return [text if isinstance(text, str) else "".join(text) for text in shown]
