"""Hand-ins made from the committed notebooks and their stored outputs: somebody's own run, six kinds of
failure, exercises solved.

Records and errors are those that the course itself writes; only seconds are made up, by a seed. The
class that is made of them stands in `class_of_30`.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from helpers import catalog, checkpoint, messages, paths
from helpers.checkpoint import MIME
from helpers.errors import (
    CheckFailed,
    LabError,
    ModelMissing,
    PortTaken,
    ServerDied,
    WrongModelName,
)

Notebook = dict[str, Any]
Cell = dict[str, Any]
Change = Callable[[Notebook], None]

BUILT = [
    (lab, language)
    for lab in catalog.labs()
    for language in messages.LANGUAGES
    if (paths.NOTEBOOKS / language / f"{lab}.ipynb").is_file()
]


@dataclass
class Learner:
    """What one learner hands in, and what a class view should say of it.

    Attributes:
        notebooks: file name → notebook.
        failure: code of the error that stopped the first notebook, or None.
        marks: kinds of what does not add up.
    """

    name: str
    notebooks: dict[str, Notebook]
    failure: str | None = None
    marks: set[str] = field(default_factory=set)


def committed(lab: str, language: str) -> Notebook:
    """Return a lab as the course hands it out."""
    path = paths.NOTEBOOKS / language / f"{lab}.ipynb"
    found: Notebook = json.loads(path.read_text(encoding="utf-8"))
    return found


def run(lab: str, language: str, seed: int) -> Notebook:
    """Return a lab as somebody else's run leaves it: every checkpoint took other seconds."""
    notebook, chance = committed(lab, language), random.Random(f"{lab} {language} {seed}")
    for record in records(notebook):
        record["seconds"] = round(record["seconds"] + 0.01 + chance.random(), 2)
    return notebook


def speaking(language: str) -> Any:
    """Return a context in which the course speaks a language."""
    return mock.patch.object(messages, "_chosen", language)


def code(notebook: Notebook) -> list[Cell]:
    """Return the code cells."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def outputs(notebook: Notebook, status: str | None = None) -> list[tuple[Cell, dict[str, Any]]]:
    """Return cell and output of each checkpoint, of all or those with a status.

    Raises:
        LookupError: there is none.
    """
    found = [
        (cell, output)
        for cell in code(notebook)
        for output in cell["outputs"]
        if MIME in output.get("data", {}) and status in (None, output["data"][MIME]["status"])
    ]
    if not found:
        raise LookupError(status)
    return found


def records(notebook: Notebook) -> list[dict[str, Any]]:
    """Return the checkpoints' records."""
    return [output["data"][MIME] for _, output in outputs(notebook)]


def recorded(record: dict[str, Any], status: str, reason: str | None = None) -> dict[str, Any]:
    """Return the output of a checkpoint as the course writes it: another status, the same run."""
    shown: list[dict[str, Any]] = []
    with mock.patch.object(checkpoint, "_show", shown.append):
        checkpoint.begin(record["lab"])
        checkpoint._record(record["step"], status, reason, {})
    changed = record | {"status": status, "reason": reason, "ok": status != "fail"}
    bundle = shown[0] | {MIME: changed}
    return {"output_type": "display_data", "metadata": {}, "data": bundle}


def error(failure: Exception) -> dict[str, Any]:
    """Return the output of a cell that raised."""
    name, said = type(failure).__name__, str(failure)
    return {"output_type": "error", "ename": name, "evalue": said, "traceback": said.splitlines()}


def stop_at(notebook: Notebook, cell: Cell, *shown: dict[str, Any]) -> None:
    """Let a notebook end at a cell: it shows outputs, those after it have not run."""
    after = code(notebook)
    after = after[after.index(cell) + 1 :]
    cell["outputs"] = list(shown)
    for one in after:
        one["outputs"], one["execution_count"] = [], None


def fail(notebook: Notebook, failure: Exception) -> None:
    """Let a notebook end in the middle, at a checkpoint's cell, with an error."""
    passed = outputs(notebook, "pass")
    stop_at(notebook, passed[len(passed) // 2][0], error(failure))


def fail_check(notebook: Notebook) -> None:
    """Let a notebook's first checkpoint of the second half fail."""
    passed = outputs(notebook, "pass")
    cell, output = passed[len(passed) // 2]
    record = output["data"][MIME]
    told = CheckFailed(step=record["step"], reason="0 != 1")
    stop_at(notebook, cell, recorded(record, "fail", "0 != 1"), error(told))


def solve(notebook: Notebook) -> None:
    """Answer every exercise, rightly."""
    for cell, output in outputs(notebook, "todo"):
        at = cell["outputs"].index(output)
        cell["outputs"][at] = recorded(output["data"][MIME], "pass")
    for cell in code(notebook):
        if "exercise" in cell["metadata"].get("tags", []):
            cell["source"] = ["ANSWER = 42\n"]


def own_cell(source: str, tags: list[str] | None = None) -> Cell:
    """Return a code cell that a learner, or papermill, adds."""
    return {
        "cell_type": "code",
        "id": f"own{len(source):08d}",
        "metadata": {"tags": tags} if tags else {},
        "source": source,
        "execution_count": 1,
        "outputs": [],
    }


def failures() -> dict[str, Change]:
    """Return the six kinds of failure: code → what it does to a notebook, in the language in
    force.
    """
    spoken: list[LabError] = [
        ServerDied(ended="exit 1", seconds="3", log="logs/serve.log", evidence="HBM out of memory"),
        PortTaken(port=8000, owner="python (pid 7)"),
        ModelMissing(path="models/MiniCPM5-2B"),
        WrongModelName(status=404, asked="minicpm", served="MiniCPM5-2B"),
    ]
    found: dict[str, Change] = {
        one.code: lambda notebook, one=one: fail(notebook, one)  # type: ignore[misc]
        for one in spoken
    }
    missing = NameError("name 'messages_of' is not defined")
    found["NameError"] = lambda notebook: fail(notebook, missing)
    found["checkpoint.failed"] = fail_check
    return found


def write(folder: Path, class_: list[Learner]) -> Path:
    """Return a folder that holds the hand-ins, half of them in learners' folders, half as files."""
    for number, learner in enumerate(class_):
        for name, notebook in learner.notebooks.items():
            path = folder / learner.name / name if number % 2 else folder / f"{learner.name}_{name}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(notebook), encoding="utf-8")
    return folder
