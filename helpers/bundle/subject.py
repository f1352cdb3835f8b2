"""What a bundle is about: the logs that were asked for, and the server that wrote them, as far as
its state file is still there.

Not for reading the logs: `excerpt` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from helpers.bundle.problems import NoServerThere
from helpers.diagnose.command import newest_log
from helpers.server import state
from helpers.server.state import State


@dataclass(frozen=True)
class Subject:
    """Logs, the one that matters most first, and their server's state or None."""

    logs: tuple[Path, ...]
    state: State | None = None


def last() -> Subject:
    """Return the log that was written to last.

    Raises:
        NoLog: there is none.
    """
    return of_files([newest_log()])


def of_port(port: int) -> Subject:
    """Return the log of the server that was started on a port, running or not.

    Raises:
        NoServerThere: no state file speaks of it; one that was stopped leaves only its log.
    """
    known = [one for _, one in state.read_all() if one.kind == "server"]
    found = next((one for one in known if one.port == port), None)
    if found is None:
        raise NoServerThere(port=port, ports=", ".join(str(one.port) for one in known) or "-")
    return Subject((Path(found.log),), found)


def of_files(logs: Sequence[Path]) -> Subject:
    """Return logs that were named, with the state of the first one that a server of ours writes."""
    wanted = {path.resolve() for path in logs}
    known = (one for _, one in state.read_all() if Path(one.log).resolve() in wanted)
    return Subject(tuple(logs), next(known, None))
