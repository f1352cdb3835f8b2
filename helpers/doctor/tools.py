"""Run an external command that may be missing, hang or print anything: never an exception, never
longer than its time.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence

from helpers.doctor.machine import Tool

SECONDS = 5.0
LARGEST = 262_144
"""Characters of an output that are kept; a table of sixteen chips has eight thousand."""


def run(
    argv: Sequence[str], timeout: float = SECONDS, environ: Mapping[str, str] | None = None
) -> Tool:
    """Return what a command printed and how it ended.

    A command that outlives its time is killed with its group and not waited for: one that hangs in
    the driver cannot be killed at all.

    Args:
        timeout: seconds.
        environ: its whole environment; None passes this process's on.
    """
    try:
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=None if environ is None else dict(environ),
            start_new_session=True,
        )
    except FileNotFoundError:
        return Tool(state="missing")
    except (OSError, ValueError) as error:
        return Tool(state="error", output=str(error))
    try:
        output, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired as late:
        _kill(process)
        return Tool(state="timeout", output=_text(late.stdout))
    return Tool(state="ran", output=_text(output), returncode=process.returncode)


def _kill(process: subprocess.Popen[bytes]) -> None:
    try:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except OSError:
        pass  # it ended by itself, or is not ours to end
    if process.stdout:
        process.stdout.close()
    process.poll()


def _text(output: bytes | None) -> str:
    return (output or b"").decode("utf-8", errors="replace")[:LARGEST]
