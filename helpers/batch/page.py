"""The HTML page of a run's executed notebook, made once the run is over. nbconvert is loaded by the
first of them only.
"""

from __future__ import annotations

from pathlib import Path

from helpers.batch.job import Job


def of(job: Job, notebook: Path) -> str | None:
    """Return the name of an executed notebook's HTML page, made beside it; None where the run has
    left no notebook.
    """
    if not notebook.exists():
        return None
    from helpers import pages

    try:
        return pages.write(notebook, job.notebook, job.title, job.language).name
    except (OSError, ValueError, KeyError):  # cut off in the middle: the run's error tells
        return None
