"""Many runs of labs through papermill: the catalogue one after another (`series`), or a matrix of
labs × parameters × languages, several at once (`many`).

`job` says what is to run, `matrix` reads it from a file, `single` runs one notebook, `supervised`
does so in a process of its own. `local` runs many of these at once, `cluster` hands them to Ray.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from helpers.batch.job import Job, Language, expected_minutes, jobs
from helpers.schemas import Report

__all__ = ["Job", "Language", "expected_minutes", "jobs", "run"]


def run(
    todo: Sequence[Job],
    folder: Path | None = None,
    began: float | None = None,
    say: Callable[[str], None] = print,
) -> Report:
    """Return the report of having run all jobs, as `series.run` does; papermill is loaded only now,
    since a matrix's own process needs none.
    """
    from helpers.batch import series

    return series.run(todo, folder, began, say)
