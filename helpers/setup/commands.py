"""Runs a command into a log file, in an environment that the caller's settings cannot bend."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

from helpers import masking

# What would make another Python's modules, or another place, win over the new environment.
_DROPPED = (
    "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONSAFEPATH", "__PYVENV_LAUNCHER__",
    "PYTHONDONTWRITEBYTECODE",  # pip compiles nothing here: the proof writes what is really used
    "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_REQUIREMENT", "PIP_EDITABLE",
    "PIP_REQUIRE_HASHES", "PIP_NO_DEPS",
    "PIP_DRY_RUN", "PIP_REPORT", "PIP_PYTHON", "PIP_QUIET", "PIP_UPGRADE", "PIP_IGNORE_INSTALLED",
    "PIP_FORCE_REINSTALL", "PIP_NO_BUILD_ISOLATION", "PIP_LOG",
)  # fmt: skip
# pip.conf may say `user = true` or `require-virtualenv = true`: the environment's word is stronger
# than a file's.
_SET = {
    "PIP_USER": "0",
    "PIP_REQUIRE_VIRTUALENV": "0",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "PIP_PROGRESS_BAR": "off",
    "PIP_ROOT_USER_ACTION": "ignore",
}


class CommandFailed(Exception):
    """A command that ended with another code than 0.

    Attributes:
        code: its exit code.
        log: the file with its whole output.
        tail: its last lines, indented, secrets masked.
    """

    def __init__(self, code: int, log: Path, tail: str) -> None:
        super().__init__(f"exit code {code}")
        self.code = code
        self.log = log
        self.tail = tail


class Cancelled(Exception):
    """Setup was interrupted: no further command is started."""


_running: set[subprocess.Popen[bytes]] = set()
_guard = threading.Lock()
_cancelled = threading.Event()


def environment(**extra: str) -> dict[str, str]:
    """Return a child's environment: the caller's proxies and indexes, without what bends it."""
    kept = {name: value for name, value in os.environ.items() if name not in _DROPPED}
    kept.update(_SET)
    kept.update(extra)
    return kept


def mask(words: str) -> str:
    """Return a text without what in it is secret, passwords in addresses above all."""
    return masking.masked(words)


def run(
    arguments: Sequence[str | Path],
    log: Path,
    *,
    variables: dict[str, str] | None = None,
    cwd: Path | None = None,
) -> str:
    """Return what a command printed after it has ended with code 0; the log gets it too.

    Args:
        arguments: the argv list; no shell.
        log: file to append to.
        variables: the child's whole environment; `environment()` if not given.
        cwd: its directory. Default: the log's, where no file of the learner's can be imported by
            accident.
    Raises:
        CommandFailed: another exit code, or the program could not be started.
        Cancelled: setup has been interrupted.
    """
    argv = [str(word) for word in arguments]
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as sink:
        sink.write(f"$ {mask(' '.join(argv))}\n".encode())
        sink.flush()
        begin = sink.tell()
        code = _wait(argv, sink.fileno(), variables or environment(), cwd or log.parent)
    with log.open("rb") as source:
        source.seek(begin)
        output = source.read().decode(errors="replace")
    if _cancelled.is_set():
        raise Cancelled
    if code != 0:
        raise CommandFailed(code, log, _tail(output))
    return output


def cancel() -> None:
    """End the commands that run, and let no other start."""
    _cancelled.set()
    with _guard:
        processes = list(_running)
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


def reset() -> None:
    """Allow commands again after `cancel` (a second setup in the same process)."""
    _cancelled.clear()


def _wait(argv: list[str], sink: int, variables: dict[str, str], cwd: Path) -> int:
    """Return the exit code of a command; 127 if it cannot be started."""
    with _guard:
        if _cancelled.is_set():
            raise Cancelled
        try:
            process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, env=variables, cwd=cwd
            )
        except OSError as error:
            os.write(sink, f"{error}\n".encode())
            return 127
        _running.add(process)
    try:
        return process.wait()
    finally:
        with _guard:
            _running.discard(process)


def _tail(output: str, lines: int = 12) -> str:
    """Return the last lines of an output, indented, without pip's harmless warnings."""
    kept = [
        line
        for line in output.splitlines()
        if line.strip() and not line.startswith("WARNING: Location")
    ]
    return mask("\n".join(f"    {line[:300]}" for line in kept[-lines:]))
