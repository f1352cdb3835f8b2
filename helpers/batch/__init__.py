"""Many runs of labs through papermill: the catalogue one after another (`series`), or a matrix of
labs × parameters × languages, several at once (`many`).

`job` says what is to run, `matrix` reads it from a file, `single` runs one notebook, `supervised`
does so in a process of its own. `local` runs many of these at once.
"""

from __future__ import annotations

from helpers.batch.job import Job, Language, expected_minutes, jobs
from helpers.batch.series import run

__all__ = ["Job", "Language", "expected_minutes", "jobs", "run"]
