"""The class view on disk: one HTML page without anything from outside and without a script, and
class.json beside it.

What they hold is decided by `view`; whatever comes from a hand-in is escaped here.
"""

from __future__ import annotations

import json
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from helpers import messages, records
from helpers.classview.errors import PageNotHtml, PageUnwritable
from helpers.classview.schemas import ClassView, LabRow, Learner

SHOWN = ("vllm", "vllm-ascend", "torch-npu", "cann")
"""Packages whose versions the table has room for; each lab's list has them all."""


def write(view: ClassView, page: Path) -> Path:
    """Return the path of class.json, written beside the page.

    Args:
        page: ends in .html; what is there is replaced.
    Raises:
        PageNotHtml: it has another ending.
        PageUnwritable: one of the two cannot be written.
    """
    if page.suffix.lower() not in (".html", ".htm"):
        raise PageNotHtml(path=page)
    data = page.with_name("class.json")
    body = json.dumps(view.model_dump(by_alias=True), ensure_ascii=False, indent=1, allow_nan=False)
    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        records.write_whole(page, html(view))
        records.write_whole(data, body + "\n")
    except OSError as error:
        raise PageUnwritable(path=page, original=str(error)) from None
    return data


def html(view: ClassView) -> str:
    """Return the page in the view's language."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parents[1] / "templates"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("class.html.j2").render(
        view=view,
        rows=[row for learner in view.learners for row in learner.labs],
        texts=messages.parts("classview.page", view.language),
        cell=lambda number: messages.text("classview.cell", view.language, number=number),
        exercises=sum(len(lab.exercises) for lab in view.labs),
        settings={learner.learner: _settings(learner) for learner in view.learners},
        versions={learner.learner: _versions(learner) for learner in view.learners},
    )


def _settings(learner: Learner) -> list[LabRow]:
    """Return a row for each different engine and model; a lab without an engine has none."""
    rows = {(r.engine, r.model, r.stand_in): r for r in reversed(learner.labs) if r.engine}
    return list(reversed(rows.values()))


def _versions(learner: Learner) -> str:
    found: dict[str, dict[str, None]] = {}
    for row in learner.labs:
        for name in SHOWN:
            found.setdefault(name, {}).update(dict.fromkeys(row.versions.get(name, [])))
    return ", ".join(f"{name} {' / '.join(values)}" for name, values in found.items() if values)
