"""Offline batched inference: a script in the engine's own interpreter, as a watched process that
holds the device.

The kernel never imports vLLM. The script is the lesson's and stands in the notebook; this module
only runs it.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers import environment, messages, paths, progress
from helpers.engines import Ascend, Cpu
from helpers.errors import OfflineFailed, StateUnwritable
from helpers.models import Model
from helpers.options import Options
from helpers.server import fingerprint, process, state, stopping
from helpers.server import log as logs
from helpers.server.device import refuse_second
from helpers.server.lifecycle import launch
from helpers.server.running import POLL_SECONDS


@dataclass(frozen=True)
class OfflineResult:
    """What a script left behind.

    Attributes:
        output: the JSON value that it wrote to the path in its last argument.
        returncode: its exit status; 0 and an output mean success, whatever the last log lines say.
        seconds: from start to end.
        log_path: file with everything that it printed.
    """

    output: Any
    returncode: int
    seconds: float
    log_path: Path

    def tail(self, lines: int = 10) -> str:
        """Return the last lines that it printed."""
        return logs.tail(self.log_path, lines)

    def find_in_log(self, pattern: str, limit: int = 5) -> list[str]:
        """Return the first log lines that match a regular expression, without process and time."""
        return logs.find(self.log_path, pattern, limit)


def run(
    engine: Ascend | Cpu,
    model: Model,
    options: Options,
    script: str,
    given: object = None,
    *,
    timeout: float = 900.0,
) -> OfflineResult:
    """Return the result of a script that the engine's Python runs with three arguments, all JSON.

    sys.argv[1]: keyword arguments of vLLM's `LLM`, the model's directory among them; sys.argv[2]:
    path for the script's output; sys.argv[3]: what was given to it.

    Args:
        script: Python source; vLLM spawns, so it needs `if __name__ == "__main__":`.
        given: any JSON-able value, for instance the prompts.
        timeout: seconds until it is ended.
    Raises:
        DeviceBusy: a server of ours holds the device.
        StateUnwritable: state or log directory cannot be written.
        OfflineFailed: an error, no output, or too long; carries the end of its log.
    """
    assert engine.interpreter is not None and model.path is not None
    env = environment.child(engine.environment(options))
    made_from = fingerprint.of((script,), env, model.path, engine.versions())
    with state.device_lock():
        refuse_second()
        source, output = _written(script)
        arguments = json.dumps({"model": str(model.path)} | options.llm_arguments())
        python = str(engine.interpreter.python)
        argv = [python, str(source), arguments, str(output), json.dumps(given)]
        path, found, child = launch(engine, argv, env, "offline", options, model, made_from)
    begun = time.monotonic()
    try:
        returncode = _wait(child, Path(found.log), timeout)
    finally:
        # Also on an interrupt of the cell: a half-done engine would go on holding the device.
        stopping.stop(path, found, child, grace=5.0)
    seconds = time.monotonic() - begun
    if returncode != 0 or not output.exists():
        late = messages.text("offline.timed_out", seconds=f"{timeout:.0f}")
        ended = late if returncode is None else process.told_status(returncode)
        values = {"ended": ended, "log": paths.shown(found.log)}
        evidence = logs.tail(Path(found.log), 12)
        said = logs.last_error(evidence)
        log_file = Path(found.log)
        raise OfflineFailed(**values, evidence=evidence, original=said, log_file=log_file)
    return OfflineResult(
        json.loads(output.read_text(encoding="utf-8")), returncode, seconds, Path(found.log)
    )


def _written(script: str) -> tuple[Path, Path]:
    """Return the script's file, just written, and the path of its output.

    Raises:
        StateUnwritable: it cannot be written.
    """
    folder = paths.state_dir() / "offline"
    stem = f"{time.time_ns()}-{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{stem}.py").write_text(script, encoding="utf-8")
    except OSError as error:
        raise StateUnwritable(path=paths.shown(folder), original=paths.shown(error)) from error
    return folder / f"{stem}.py", folder / f"{stem}.json"


def _wait(child: subprocess.Popen[bytes], log: Path, timeout: float) -> int | None:
    begun, stages = time.monotonic(), logs.StageReader(log)
    with progress.Live() as live:
        while (returncode := child.poll()) is None:
            elapsed = time.monotonic() - begun
            if elapsed > timeout:
                return None
            stage = messages.text(f"server.stage.{stages.read()}")
            live.update(messages.text("offline.running", stage=stage, seconds=f"{elapsed:.0f}"))
            time.sleep(POLL_SECONDS)
        live.done(messages.text("offline.done", seconds=f"{time.monotonic() - begun:.1f}"))
    return returncode
