"""Where the runs of a batch lie: a new folder, the earlier one of the same matrix, a folder a run
and its record, the link to the last one. Judges nothing.
"""

from __future__ import annotations

import json
import os
import secrets
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from helpers import paths, records
from helpers.batch.job import Job
from helpers.schemas import RunRecord

MATRIX = "matrix.json"
RECORD = "run.json"
LOG = "log.txt"
JOB = "job.json"
ASKED, READY, ENDED = "host.json", "ready.json", "ended.json"
"""What a shared server is started with, where it answers, and what is left of it."""


def new() -> Path:
    """Return a folder build/run-<time> that has just been made."""
    folder = paths.build_dir() / f"run-{datetime.now():%Y%m%d-%H%M%S}"
    while folder.exists():
        folder = folder.with_name(f"{folder.name}-{secrets.token_hex(2)}")
    folder.mkdir(parents=True)
    return folder


def point_latest(folder: Path) -> None:
    """Let `latest` beside a run's folder lead to it."""
    latest = folder.parent / "latest"
    temporary = folder.parent / f".latest-{os.getpid()}"
    temporary.symlink_to(folder.name)
    temporary.replace(latest)


def of_matrix(source: Path) -> Path | None:
    """Return the newest folder in build/ that was made for a matrix file, or None."""
    mark = str(source.resolve())
    found = [
        path.parent
        for path in paths.build_dir().glob(f"run-*/{MATRIX}")
        if whose(path.parent) == mark
    ]
    return max(found, key=lambda one: one.name, default=None)


def whose(folder: Path) -> str | None:
    """Return the matrix file that a folder was made for, or None where it was made for none."""
    found = _read(folder / MATRIX).get("matrix")
    return str(found) if found else None


def mark(folder: Path, source: Path) -> None:
    """Write down which matrix file a folder belongs to."""
    folder.mkdir(parents=True, exist_ok=True)
    body = json.dumps({"schema": 1, "matrix": str(source.resolve())}, ensure_ascii=False)
    records.write_whole(folder / MATRIX, body + "\n")


def of_run(folder: Path, job: Job, key: str) -> Path:
    """Return the folder of one run: notebook, log, record and working directory."""
    return folder / f"{job.lab}.{job.language}.{key[:8]}"


def describe(place: Path, job: Job, run_id: str, key: str) -> None:
    """Write down in a run's folder what the process there shall do."""
    body = {
        "lab": job.lab,
        "language": job.language,
        "notebook": str(job.notebook),
        "edition": job.edition,
        "parameters": job.parameters,
        "run_id": run_id,
        "key": key,
    }
    (place / JOB).write_text(json.dumps(body, ensure_ascii=False, indent=1), encoding="utf-8")


def target(place: Path, job: Job) -> Path:
    """Return where the executed notebook goes."""
    return place / f"{job.lab}.ipynb"


def set_aside(place: Path) -> None:
    """Make a run's folder; what an earlier attempt has left there moves to attempt-<n> in it."""
    place.mkdir(parents=True, exist_ok=True)
    earlier = sorted(place.glob("attempt-*"))
    left = [one for one in place.iterdir() if one not in earlier]
    if left:
        aside = place / f"attempt-{len(earlier) + 1}"
        aside.mkdir()
        for one in left:
            one.rename(aside / one.name)


def kept(place: Path, key: str) -> RunRecord | None:
    """Return the record of a run that is finished, that is: passed under the same key; else None.

    Args:
        place: the run's folder.
        key: of the job as it is now.
    """
    record = read(place)
    if record is None or record.key != key or not record.run.ok:
        return None
    return record


def read(place: Path) -> RunRecord | None:
    """Return what a run has left in its folder, or None where it was not begun or never ended."""
    try:
        return RunRecord.model_validate_json((place / RECORD).read_bytes())
    except (OSError, ValidationError):
        return None


def write(place: Path, record: RunRecord) -> None:
    """Write a run's record, whole or not at all."""
    records.write_whole(place / RECORD, record.model_dump_json(by_alias=True, indent=1) + "\n")


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
