"""A process that has imported what every run needs and forks one for each, which saves a run the
second that papermill's imports take. One run at a time; Linux only.

Lives as long as the executor that made it; a run that it began ends with it, like a Ctrl-C. Knows
no pool: `local` has one for each of its threads.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from helpers import paths
from helpers.server.process import Identity, start_ticks

POLL = 0.02


class Forked:
    """A run's process, as far as a Popen is needed of it: its status comes from who forked it."""

    def __init__(self, pid: int, answers: IO[bytes]) -> None:
        self.pid, self._answers = pid, answers
        self.returncode: int | None = None
        self.forsaken = False

    def poll(self) -> int | None:
        """Return the status as Popen has it, or None while the process runs."""
        if self.returncode is None and select.select([self._answers], [], [], 0)[0]:
            line = self._answers.readline()
            # Nothing comes from one that was killed itself; its run ends then.
            self.forsaken = not line.strip()
            self.returncode = -signal.SIGKILL if self.forsaken else int(line)
        return self.returncode

    def wait(self, timeout: float) -> int:
        """Return the status.

        Raises:
            subprocess.TimeoutExpired: after that many seconds.
        """
        deadline = time.monotonic() + timeout
        while (status := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(f"pid {self.pid}", timeout)
            time.sleep(POLL)
        return status

    def send_signal(self, number: int) -> None:
        """Send a signal, if the process runs: its number is not free before its status is told."""
        if self.poll() is None:
            os.kill(self.pid, number)


class Prepared:
    """The process that forks; started at the first run."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._last: Forked | None = None

    def begin(self, place: Path, env: Mapping[str, str], log: Path) -> tuple[Forked, Identity]:
        """Return the process of a run in its own session, and its identity.

        Args:
            place: the run's folder, with its job.json.
            env: its whole environment.
            log: where what it says is added.
        Raises:
            OSError: it cannot be started.
        """
        if self._last is not None:
            self._last.wait(POLL * 100)  # its status is the next answer
        if self._last is not None and self._last.forsaken:
            self.close()
        if self._process is None:
            self._process = self._started()
        asked, answers = self._process.stdin, self._process.stdout
        assert asked is not None and answers is not None
        body = {"words": [str(place)], "env": dict(env), "log": str(log)}
        asked.write(json.dumps(body).encode() + b"\n")
        asked.flush()
        pid = int(answers.readline() or 0)
        if not pid:
            raise ChildProcessError(f"{paths.shown(place)}: not begun")
        self._last = Forked(pid, answers)
        return self._last, Identity(pid, pid, start_ticks(pid) or 0)

    def close(self) -> None:
        """End it; a run that still goes on ends like by Ctrl-C."""
        if self._process is not None:
            self._process.communicate()
            self._process = None

    def _started(self) -> subprocess.Popen[bytes]:
        # It belongs to no run, so it must not carry the id by which a run's processes are found.
        env = {name: value for name, value in os.environ.items() if name != "LAB_RUN"}
        pipe, words = subprocess.PIPE, [sys.executable, "-m", "helpers.batch.prepared"]
        return subprocess.Popen(
            words,
            bufsize=0,
            cwd=paths.ROOT,
            env=env,
            stdin=pipe,
            stdout=pipe,
            start_new_session=True,
        )


def main() -> None:
    """Fork for each line of standard input, and tell pid and status; end when that closes."""
    # What takes the second; first of all and at this depth, for the reason that `child` gives.
    import papermill.execute  # noqa: F401

    from helpers.batch import child

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the batch ends its runs itself
    running = 0
    while True:
        if running:
            ended, status = os.waitpid(running, os.WNOHANG)
            if ended:
                running = 0
                _tell(os.waitstatus_to_exitcode(status))
        if select.select([0], [], [], POLL if running else None)[0]:
            line = sys.stdin.buffer.readline()
            if not line:
                os._exit(0)
            running = os.fork()
            if not running:
                _become(json.loads(line), child.main)
            _tell(running)


def _tell(number: int) -> None:
    os.write(1, b"%d\n" % number)


def _become(asked: dict[str, Any], run: Callable[[list[str]], int]) -> None:
    """Be the process of a run, as if started anew: session, environment, log."""
    status = 1
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        random.seed()
        os.environ.clear()
        os.environ.update(asked["env"])
        with Path(os.devnull).open("rb") as nothing, Path(asked["log"]).open("ab") as log:
            for source, number in ((nothing, 0), (log, 1), (log, 2)):
                os.dup2(source.fileno(), number)
        status = run(asked["words"])
    except BaseException:  # noqa: BLE001 - the log is all there is to tell it
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    main()
