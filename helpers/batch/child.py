"""The process of one run: `python -m helpers.batch.child FOLDER` runs the notebook that FOLDER's
job.json names, stops what it started, and leaves run.json; what it says is its log.

`--settle CODE TEXT SECONDS` instead makes the record of a run whose process was ended, from what it
left, and stops what it had started. Not for the command line: `supervised` calls it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

# First, and at this depth of imports: reached from further in, the grammar that jsonschema builds
# while it is imported takes a second longer in each run (CPython 3.11: 2.4 s in place of 1.3 s).
import papermill.execute  # noqa: F401

from helpers import marked
from helpers.batch import folders, single
from helpers.batch.job import Job
from helpers.schemas import RunError, RunRecord
from helpers.server import ledger

PAUSE = 1.0


def main(words: list[str]) -> int:
    """Return 0 where the run is ok, 1 where it is not, 130 where it was interrupted."""
    place = Path(words[0])
    body = json.loads((place / folders.JOB).read_text(encoding="utf-8"))
    run_id, key = body.pop("run_id"), body.pop("key")
    job = Job(**body | {"notebook": Path(body["notebook"])})
    with marked.run_id(run_id):
        if words[1:2] == ["--settle"]:
            return _settle(job, place, run_id, key, *words[2:5])
        return _run(job, place, run_id, key)


def _run(job: Job, place: Path, run_id: str, key: str) -> int:
    with marked.terminated_like_ctrl_c():
        end_with(os.getppid())
        found, interrupt = single.perform(job, folders.target(place, job), run_id, say)
        with marked.undisturbed():  # an impatient second signal must not lose the record
            stopped = single.torn_down(run_id, say)
            folders.write(place, RunRecord(schema=1, key=key, run=found, teardown=stopped))
    if interrupt is not None:
        return 130
    return 0 if found.ok else 1


def _settle(
    job: Job, place: Path, run_id: str, key: str, code: str, said: str, seconds: str
) -> int:
    stopped = single.torn_down(run_id, say)
    error, starts = RunError(code=code, message=said), ledger.count(run_id)
    found = single.record(job, folders.target(place, job), error, float(seconds), starts)
    folders.write(place, RunRecord(schema=1, key=key, run=found, teardown=stopped))
    return 1


def end_with(parent: int) -> None:
    """End this run like a Ctrl-C once its parent is gone: nobody would read its record, and a
    second attempt elsewhere must not meet its servers.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(PAUSE)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def say(line: str) -> None:
    """Write one line into the log, at once."""
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
