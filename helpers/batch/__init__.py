"""Many runs of labs through papermill: the catalogue one after another (`series`), or a matrix of
labs × parameters × languages, several at once (`many`).

`job` says what is to run, `matrix` reads it from a file, `single` runs one notebook, `supervised`
does so in a process of its own. `local` runs many of these at once.
"""

from __future__ import annotations

# First, and at this depth of imports: reached from further in, the grammar that jsonschema builds
# while it is imported takes a second longer in each run (CPython 3.11: 2.4 s in place of 1.3 s).
import papermill.execute  # noqa: F401

from helpers.batch.job import Job, Language, expected_minutes, jobs
from helpers.batch.series import run

__all__ = ["Job", "Language", "expected_minutes", "jobs", "run"]
