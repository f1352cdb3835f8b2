"""Creates the interpreters of the course and of the engine: `python -m helpers setup`.

Standard library only, this package and all that it imports: nothing else is there yet. The AtomGit
client's environment is made only when it is named, as the first download does. Not for what runs in
the interpreters.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from helpers import interpreters, paths
from helpers.setup import (
    atomgit,
    commands,
    course,
    engine,
    environments,
    kernelspec,
    pythons,
    stamps,
)
from helpers.setup.environments import Environment, Outcome, tell
from helpers.setup.problems import SetupError
from helpers.setup.texts import text


def main(argv: list[str] | None = None) -> int:
    """Return the exit status: 0 ready, 1 failed or (with --check) missing, 130 interrupted.

    Args:
        argv: the words after `python -m helpers setup`; sys.argv's if not given.
    """
    _readable_output()
    options = _options(sys.argv[1:] if argv is None else argv)
    commands.reset()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)
    try:
        return _run(options)
    except KeyboardInterrupt:
        commands.cancel()
        print(text("interrupted"), file=sys.stderr)
        return 130
    except SetupError as error:
        print(error, file=sys.stderr)
    except OSError as error:
        print(text("unexpected", reason=error, logs=_logs()), file=sys.stderr)
    return 1


def _options(argv: list[str]) -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(prog="python -m helpers setup", description=text("help"))
    parser.add_argument("--only", choices=("course", "engine", "atomgit"), help=text("help-only"))
    parser.add_argument("--check", action="store_true", help=text("help-check"))
    parser.add_argument("--python", type=Path, help=text("help-python"))
    parser.add_argument("--kernel", action="store_true", help=text("help-kernel"))
    parser.add_argument("--lab", action="store_true", help=text("help-lab"))
    return parser.parse_args(argv)


def _run(options: argparse.Namespace) -> int:
    """Return the exit status after doing what the options say, with the lock of setup held."""
    begin = time.monotonic()
    place = paths.venvs_dir()
    _need_write(place)
    if options.kernel or options.lab:
        options.only = "course"
    if not options.check:
        print(text("start", directory=place, logs=_logs()), flush=True)
    with stamps.exclusive(place / "setup.lock", lambda pid: tell(text("waiting", pid=pid))):
        plans = _plans(options)
        if options.check:
            return _check(plans)
        outcomes, failed = _bring_all(plans)
        _show_table(outcomes, time.monotonic() - begin)
        if failed:
            return 1
        if options.kernel:
            kernelspec.register(interpreters.course_python(), _logs() / "kernel.log")
            print(text("kernel-done"))
    if options.lab:
        kernelspec.open_lab(interpreters.course_python())
    return 0


def _plans(options: argparse.Namespace) -> list[Environment]:
    """Return the environments to bring, after saying which are not ours to make.

    Raises:
        SetupError: no Python to build on, a lock file missing, an engine that was named but is
            none.
    """
    plans: list[Environment] = []
    place = paths.venvs_dir()
    if options.only == "atomgit":
        (python, *_) = pythons.candidates(atomgit.SERIES, options.python)
        return [atomgit.plan(place / "atomgit", python, _fresh_log("atomgit"))]
    if options.only != "engine":
        (python, *_) = pythons.candidates(course.SERIES, options.python)
        plans.append(course.plan(place / "course", python, _fresh_log("course")))
    if options.only != "course":
        said = engine.existing() or engine.unsupported()
        if said:
            print(said, flush=True)
        else:
            series = engine.header(paths.REQUIREMENTS / engine.LOCK)["python"]
            given = options.python if options.only == "engine" else None
            choice = pythons.candidates(series, given)
            plans.append(engine.plan(place / "engine", choice, _fresh_log("engine")))
    return plans


def _check(plans: list[Environment]) -> int:
    """Return 0 if every environment is ready, else 1; installs nothing."""
    status = 0
    for plan in plans:
        ready = environments.is_ready(plan)
        print(text("ready" if ready else "missing", name=plan.name), flush=True)
        status = status if ready else 1
    return status


def _bring_all(plans: list[Environment]) -> tuple[list[Outcome], bool]:
    """Return what became of the environments, and whether one failed.

    They are made side by side: while one downloads, the other unpacks.
    """
    outcomes: dict[str, Outcome] = {}
    failures: dict[str, str] = {}
    threads = [
        threading.Thread(target=_bring, args=(plan, outcomes, failures), daemon=True)
        for plan in plans
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(0.2)  # with a timeout, so that Ctrl-C is heard
    for message in failures.values():
        print(message, file=sys.stderr, flush=True)
    return [outcomes[plan.name] for plan in plans if plan.name in outcomes], bool(failures)


def _bring(plan: Environment, outcomes: dict[str, Outcome], failures: dict[str, str]) -> None:
    """Bring one environment; leave its outcome or its failure's text."""
    try:
        outcomes[plan.name] = environments.bring(plan)
    except SetupError as error:
        failures[plan.name] = str(error)
    except commands.Cancelled:
        pass  # the main thread says so
    except commands.CommandFailed as error:
        title = str(error)
        failures[plan.name] = text(
            "proof-failed" if title == text("title-proof") else "failed",
            name=plan.name, title=title, status=error.code, log=error.log, tail=error.tail,
            directory=plan.directory,
        )  # fmt: skip
    except (OSError, ValueError, KeyError) as error:
        failures[plan.name] = text(
            "unexpected", reason=f"{type(error).__name__}: {error}", logs=_logs()
        )


def _show_table(outcomes: list[Outcome], seconds: float) -> None:
    """Print what each environment is and cost."""
    rows = [text("table-head").split("|")]
    for one in outcomes:
        figures = (str(one.packages), str(one.megabytes), f"{one.seconds:.1f}")
        rows.append([one.name, one.python, *figures, text(one.state)])
    if len(rows) > 1:
        widths = [max(_width(row[column]) for row in rows) for column in range(len(rows[0]))]
        for row in rows:
            # zip's `strict` is newer than the Python that a machine may start setup with.
            cells = (
                cell + " " * (widths[column] - _width(cell)) for column, cell in enumerate(row)
            )
            print("  " + "  ".join(cells).rstrip())
    print(text("total", seconds=f"{seconds:.1f}"), flush=True)


def _width(words: str) -> int:
    """Return the columns that a text takes in a terminal: a Chinese character takes two."""
    return sum(2 if ord(letter) > 0x2E7F else 1 for letter in words)


def _logs() -> Path:
    """Return the directory of the logs."""
    return paths.venvs_dir() / "logs"


def _fresh_log(name: str) -> Path:
    """Return the log file of an environment, emptied: it tells of one run."""
    log = _logs() / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_bytes(b"")
    return log


def _need_write(directory: Path) -> None:
    """Raise where the environments cannot be written."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        probe = directory / ".writable"
        probe.touch()
        probe.unlink(missing_ok=True)
    except OSError as error:
        raise SetupError("no-write", directory=directory, reason=error.strerror) from error


def _readable_output() -> None:
    """Let a terminal that knows no Chinese show question marks instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        change: Callable[..., None] | None = getattr(stream, "reconfigure", None)
        if change:
            change(errors="replace")


def _terminate(number: int, frame: FrameType | None) -> None:
    """Treat a polite end like Ctrl-C."""
    raise KeyboardInterrupt
