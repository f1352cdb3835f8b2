"""A class at a glance, from the notebooks that learners hand in: `classview.view(folder)`.

Hand-ins are read, never run, and nothing in the folder is changed. `page` and `terminal` show what
this finds.
"""

from __future__ import annotations

from pathlib import Path

from helpers import catalog, messages, records
from helpers.classview import cleaning, collecting, grouping, judging, reading, reference, remarks
from helpers.classview.collecting import HandIn
from helpers.classview.errors import OtherNotebook, Unreadable
from helpers.classview.schemas import ClassView, LabHead, LabRow, Learner, Remark, UnreadFile

__all__ = ["ClassView", "view"]


def view(folder: Path) -> ClassView:
    """Return what a class has handed in, told in the language in force.

    Args:
        folder: DIR/learner/*.ipynb, DIR/learner_lab.ipynb or DIR/learner.zip, mixed as they come.
    Raises:
        ClassFolderMissing: it cannot be listed.
        NoHandIns: nothing in it looks like a hand-in.
    """
    handed_in = collecting.collect(folder, list(catalog.labs()))
    learners = [_learner(name, files) for name, files in handed_in.items()]
    grouping.mark_alike(learners)
    for learner in learners:
        learner.marks = sum(len(row.marks) for row in learner.labs)
    language = messages.language()
    return ClassView(
        schema=1,
        folder=cleaning.line(folder.resolve().name, 80),
        made=records.now(),
        language="zh" if language == "zh" else "en",
        labs=_heads(language),
        learners=learners,
        groups=grouping.by_cause(learners),
    )


def _heads(language: str) -> list[LabHead]:
    titles = {lab: entry["title"] for lab, entry in catalog.labs().items()}
    built = {lab.lab: lab for lab in reference.labs()}
    return [
        LabHead(
            lab=name,
            title=titles[name][language],
            steps=lab.declared,
            exercises=list(lab.exercises),
        )
        for name, lab in built.items()
    ]


def _learner(name: str, files: list[HandIn]) -> Learner:
    rows: list[LabRow] = []
    unread: list[UnreadFile] = []
    for file in files:
        try:
            rows.append(_row(file))
        except Unreadable as refusal:
            unread.append(
                UnreadFile(
                    file=file.name,
                    code=refusal.code,
                    what=refusal.what,
                    next=refusal.next,
                    original=refusal.original,
                )
            )
    rows.sort(key=lambda row: (row.lab, -row.counts["pass"], row.file))
    best = list({row.lab: row for row in reversed(rows)}.values())
    return Learner(
        learner=name,
        labs=rows,
        unread=unread,
        passed=sum(row.counts["pass"] for row in best),
        exercises_solved=sum(row.exercises_solved for row in best),
        marks=0,
        notes=[*_twice(rows), *_versions_between(rows)],
    )


def _row(file: HandIn) -> LabRow:
    notebook = reading.notebook(file.read(), file.name)
    lab = reference.identify(notebook, reference.labs())
    if lab is None:
        raise OtherNotebook(file=file.name)
    return judging.judge(notebook, lab, file.name)


def _twice(rows: list[LabRow]) -> list[Remark]:
    """Return a note where a lab was handed in more than once; the one that passes most counts."""
    labs = [row.lab for row in rows]
    places = [row.file for row in rows if labs.count(row.lab) > 1]
    return [remarks.remark("classview.note.twice", places)] if places else []


def _versions_between(rows: list[LabRow]) -> list[Remark]:
    """Return a note where a package's version differs between a learner's labs."""
    values: dict[str, dict[str, str]] = {}
    for row in rows:
        for package, versions in row.versions.items():
            for version in versions:
                values.setdefault(package, {}).setdefault(version, row.lab)
    places = [
        f"{package}: {', '.join(f'{version} ({lab})' for version, lab in found.items())}"
        for package, found in values.items()
        if len(found) > 1 and len(set(found.values())) > 1
    ]
    return [remarks.remark("classview.note.versions_between", places)] if places else []
