"""The class of 30: two of each kind of failure, each alteration that does not add up, one edited by
hand, two alike.

How a hand-in is made stands in `light_class`.
"""

from __future__ import annotations

import copy

from helpers import messages
from helpers.checkpoint import MIME
from helpers.errors import CheckFailed
from light.light_class import (
    Cell,
    Change,
    Learner,
    Notebook,
    code,
    error,
    failures,
    outputs,
    own_cell,
    recorded,
    records,
    run,
    speaking,
)


def _forms(notebook: Notebook) -> None:
    cell, output = outputs(notebook, "pass")[1]
    record = output["data"][MIME]
    output["data"][MIME] = recorded(record, "skipped", "not here")["data"][MIME]


def _html(notebook: Notebook) -> None:
    _, output = outputs(notebook, "todo")[0]
    output["data"]["text/html"] = recorded(output["data"][MIME], "pass")["data"]["text/html"]


def edit_by_hand(notebook: Notebook) -> None:
    for _, output in outputs(notebook, "todo"):
        output["data"][MIME] |= {"status": "pass", "reason": None}


def _count_missing(notebook: Notebook) -> None:
    code(notebook)[3]["execution_count"] = None


def _count_order(notebook: Notebook) -> None:
    one, other = code(notebook)[4:6]
    counts = other["execution_count"], one["execution_count"]
    one["execution_count"], other["execution_count"] = counts


def _code(notebook: Notebook) -> None:
    cell, _ = outputs(notebook, "pass")[-1]
    cell["source"] = ["condition = True\n", *cell["source"]]


def _code_missing(notebook: Notebook) -> None:
    silent = [
        cell for cell in code(notebook) if not cell["outputs"] and "tags" not in cell["metadata"]
    ]
    silent += [
        cell for cell in code(notebook) if not _checks(cell) and not cell["metadata"].get("tags")
    ]
    notebook["cells"].remove(silent[0])


def _checks(cell: Cell) -> bool:
    return any(MIME in output.get("data", {}) for output in cell["outputs"])


def _own_checkpoint(notebook: Notebook) -> None:
    added = own_cell("checkpoint.check = lambda *words, **values: None")
    notebook["cells"].insert(2, added)


def _versions(notebook: Notebook) -> None:
    for record in records(notebook)[2:]:
        name = sorted(record["versions"])[0]
        record["versions"] = record["versions"] | {name: "0.0.1"}


def _settings(notebook: Notebook) -> None:
    found = [record for record in records(notebook) if record["engine"]]
    if not found:
        raise LookupError("no engine")
    found[-1]["engine"] = "ascend"


def _other_lab(notebook: Notebook) -> None:
    cell, output = outputs(notebook, "pass")[2]
    stranger = copy.deepcopy(output)
    stranger["data"][MIME]["lab"] = "99_another"
    cell["outputs"].append(stranger)


def _record(notebook: Notebook) -> None:
    cell, output = outputs(notebook, "pass")[0]
    broken = copy.deepcopy(output)
    broken["data"][MIME]["ok"] = False
    cell["outputs"].append(broken)


def _misplaced(notebook: Notebook) -> None:
    (cell, _), (_, other) = outputs(notebook, "pass")[:2]
    cell["outputs"].append(copy.deepcopy(other))


def _record_missing(notebook: Notebook) -> None:
    cell, output = outputs(notebook, "pass")[1]
    cell["outputs"].remove(output)


def _error(notebook: Notebook) -> None:
    cell, output = outputs(notebook, "pass")[-2]
    told = CheckFailed(step=output["data"][MIME]["step"], reason="0 != 1")
    cell["outputs"].append(error(told))


def _stub(notebook: Notebook) -> None:
    for cell, output in outputs(notebook, "todo"):
        at = cell["outputs"].index(output)
        cell["outputs"][at] = recorded(output["data"][MIME], "pass")


ALTERED: dict[str, tuple[str, Change]] = {
    "forms": ("forms", _forms),
    "forms_html": ("forms", _html),
    "count_missing": ("count_missing", _count_missing),
    "count_order": ("count_order", _count_order),
    "code": ("code", _code),
    "code_missing": ("code_missing", _code_missing),
    "own_checkpoint": ("own_checkpoint", _own_checkpoint),
    "versions": ("versions", _versions),
    "settings": ("settings", _settings),
    "other_lab": ("other_lab", _other_lab),
    "record": ("record", _record),
    "misplaced": ("misplaced", _misplaced),
    "record_missing": ("record_missing", _record_missing),
    "error": ("error", _error),
    "stub": ("stub", _stub),
}
"""Name → the kind of mark that a change of a notebook should get, and the change; it raises LookupError
where a lab has nothing of the kind.
"""


def learners() -> list[Learner]:
    """Return the class of 30."""
    found = []
    for language in messages.LANGUAGES:
        with speaking(language):
            for number, (kind, change) in enumerate(failures().items()):
                notebook = run("02_minicpm5", language, number)
                change(notebook)
                name = f"{language}-{kind}"
                found.append(Learner(name, {"02_minicpm5.ipynb": notebook}, failure=kind))
    for number, (name, (mark, change)) in enumerate(ALTERED.items()):
        lab, language = "03_tool_calling", messages.LANGUAGES[number % 2]
        with speaking(language):
            notebook = run(lab, language, number)
            change(notebook)
        found.append(Learner(f"altered-{name}", {f"{lab}.ipynb": notebook}, marks={mark}))
    edited, same = run("02_minicpm5", "zh", 77), run("01_minicpm_v", "zh", 78)
    edit_by_hand(edited)
    found.append(Learner("edited", {"02_minicpm5.ipynb": edited}, marks={"forms", "stub"}))
    for name in ("alike-1", "alike-2"):
        found.append(Learner(name, {"01_minicpm_v.ipynb": same}, marks={"alike"}))
    return found
