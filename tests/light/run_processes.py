"""The processes of a batch's runs, found from outside: a forked one carries the command line of the
process that forked it, but its log is its own.
"""

from __future__ import annotations

from pathlib import Path

import psutil


def of_folder(folder: Path) -> list[psutil.Process]:
    """Return the processes that say something into a log below a folder, or name it in their
    command line.
    """
    found = []
    for process in psutil.process_iter(["cmdline"]):
        try:
            said = [str(Path(f"/proc/{process.pid}/fd/1").readlink())]
        except OSError:  # somebody else's, or already gone
            said = []
        if any(str(folder) in one for one in [*said, *(process.info["cmdline"] or [])]):
            found.append(process)
    return found


def log_of(process: psutil.Process) -> Path:
    """Return where a process's standard output goes."""
    return Path(f"/proc/{process.pid}/fd/1").readlink()
