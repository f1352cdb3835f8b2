"""Many runs of labs through papermill: the catalogue one after another (`series`), or a matrix of
labs × parameters × languages, several at once (`many`).

`jobs` says what is to run, `matrix` reads it from a file, `single` runs one notebook, `supervised`
does so in a process of its own. `local` and `cluster` are the two ways to run many of these.
"""

from __future__ import annotations

from helpers.batch.jobs import Job, expected_minutes, jobs
from helpers.batch.series import run

__all__ = ["Job", "expected_minutes", "jobs", "run"]
