"""Brings one environment to what its lock file says: skipped, resumed or made, each step shown and
proved."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from helpers import interpreters, paths
from helpers.setup import bootstrap, commands, stamps
from helpers.setup.problems import SetupError
from helpers.setup.pythons import Python
from helpers.setup.texts import text

HEARTBEAT = 15.0  # seconds between two signs of life of a long step


@dataclass(frozen=True)
class Step:
    """One step: its title's code and values, and what it does (returns a detail to show)."""

    title: str
    run: Callable[[Environment], str]
    values: dict[str, object] = field(default_factory=dict)


def locked(name: str) -> Callable[[Environment], str]:
    """Return a step that installs a lock file of requirements/.

    Without dependencies: the lock names all that is wanted. Uncompiled: the proof compiles what is
    really used.
    """

    def install(environment: Environment) -> str:
        words = ["-I", "-m", "pip", "install", "--no-compile", "--no-deps", "--require-hashes"]
        lock = paths.REQUIREMENTS / name
        commands.run([environment.executable, *words, "-r", lock], environment.log)
        return ""

    return install


def proved(source: str) -> Callable[[Environment], str]:
    """Return a step that runs Python source, then the environment's quick proof."""

    def prove(environment: Environment) -> str:
        for one in (source, environment.quick_proof):
            commands.run([environment.executable, "-I", "-c", one], environment.log)
        return ""

    return prove


@dataclass
class Environment:
    """One virtual environment and how it is made.

    Attributes:
        name: "course", "engine" or "atomgit", as shown.
        directory: where it lies.
        sources: files that it is made from: a change of one makes it unfinished.
        python: what it is built on.
        steps: after the virtual environment itself.
        quick_proof: Python source that ends with code 0 within a second or two if the environment
            is sound.
        needed: megabytes of disk that making it takes.
        log: file for the output of its commands.
    """

    name: str
    directory: Path
    sources: tuple[Path, ...]
    python: Python
    steps: tuple[Step, ...]
    quick_proof: str
    needed: int
    log: Path
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def executable(self) -> Path:
        """Return the Python inside."""
        return interpreters.inside(self.directory)

    def site_packages(self) -> Path:
        """Return the directory that packages are installed into."""
        found = commands.run(
            [self.executable, "-I", "-c",
            "import sysconfig; print(sysconfig.get_path('purelib'))"], self.log
        )  # fmt: skip
        return Path(found.strip().splitlines()[-1])

    def wanted(self) -> dict[str, object]:
        """Return what the stamp of this environment says when it is complete."""
        return {
            "schema": 1,
            "sources": stamps.digest(*self.sources),
            "checkout": str(paths.ROOT),
            "directory": str(self.directory),
        }


@dataclass(frozen=True)
class Outcome:
    """What became of an environment: a line of the last table."""

    name: str
    python: str
    packages: int
    megabytes: int
    seconds: float
    state: str


def tell(line: str) -> None:
    """Print a line in one piece: two environments speak at the same time."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def is_ready(environment: Environment) -> bool:
    """Return whether the stamp matches and the quick proof passes. Installs nothing."""
    stamp = stamps.read(environment.directory)
    if not _matches(stamp, environment):
        return False
    try:
        prove(environment)
    except commands.CommandFailed:
        return False
    return True


def prove(environment: Environment) -> None:
    """Run the quick proof.

    Raises:
        commands.CommandFailed: the environment is not sound.
    """
    commands.run(
        [environment.executable, "-I", "-c", environment.quick_proof],
        environment.log,
        variables=commands.environment(**environment.variables),
    )


def bring(environment: Environment) -> Outcome:
    """Return what became of the environment after making sure that it is there.

    Raises:
        SetupError: it cannot be made: no disk, a failed command, no torch.
    """
    begin = time.monotonic()
    if is_ready(environment):
        tell(text("ready", name=environment.name))
        return _outcome(environment, begin, "state-kept")
    _need_disk(environment)
    again = environment.directory.exists()
    if again:
        tell(text("resumed", name=environment.name))
    try:
        _make(environment)
    except commands.CommandFailed:
        # What an interruption or a foreign hand left may be beyond repair; a fresh start decides,
        # once.
        if not again:
            raise
        tell(text("recreated", name=environment.name))
        shutil.rmtree(environment.directory, ignore_errors=True)
        _make(environment)
    return _outcome(environment, begin, "state-new")


def _make(environment: Environment) -> None:
    """Go through the steps; write the stamp after the last one."""
    if environment.directory.exists():
        _drop_foreign(environment)
        stamps.remove(environment.directory)
        _drop_unfinished(environment.directory)
    first = Step("title-venv", _venv, {"version": environment.python.name})
    steps = (first, *environment.steps)
    for number, step in enumerate(steps, 1):
        with _shown(environment, number, len(steps), step) as details:
            try:
                details.append(step.run(environment))
            except commands.CommandFailed as failure:
                failure.args = (text(step.title, **step.values),)
                raise
    stamps.write(environment.directory, {**environment.wanted(), "python": environment.python.name})


def _venv(environment: Environment) -> str:
    """Make the virtual environment with its pip."""
    bootstrap.make(environment.python, environment.directory, environment.log)
    return ""


def _drop_foreign(environment: Environment) -> None:
    """Remove an environment of another Python, or a moved one: its scripts name the old place."""
    config = environment.directory / "pyvenv.cfg"
    version = ""
    if config.exists():
        for line in config.read_text("utf-8", "replace").splitlines():
            key, _, value = line.partition("=")
            if key.strip() in ("version", "version_info"):
                version = value.strip()
    made_at = stamps.read(environment.directory).get("directory", str(environment.directory))
    if not version.startswith(environment.python.series + ".") or made_at != str(
        environment.directory
    ):
        shutil.rmtree(environment.directory, ignore_errors=True)


def _drop_unfinished(directory: Path) -> None:
    """Remove metadata without RECORD, which pip writes last: it would trust a cut package."""
    for metadata in directory.glob("lib/python*/site-packages/*.dist-info"):
        if not (metadata / "RECORD").exists() and not metadata.is_symlink():
            shutil.rmtree(metadata, ignore_errors=True)


def _matches(stamp: dict[str, object], environment: Environment) -> bool:
    """Return whether a stamp says what is wanted."""
    return all(stamp.get(key) == value for key, value in environment.wanted().items())


def _need_disk(environment: Environment) -> None:
    """Raise where the disk is too full to begin."""
    place = environment.directory.parent
    place.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(place).free // 2**20
    if free < environment.needed:
        raise SetupError("no-space", directory=place, free=free, needed=environment.needed)


@contextmanager
def _shown(environment: Environment, number: int, total: int, step: Step) -> Iterator[list[str]]:
    """Show the beginning of a step, a sign of life now and then, and its end with the seconds."""
    line: dict[str, object] = {"name": environment.name, "number": number, "total": total}
    line["title"] = text(step.title, **step.values)
    tell(text("step-start", **line))
    begin, over = time.monotonic(), threading.Event()

    def live() -> None:
        while not over.wait(HEARTBEAT):
            size = megabytes(environment.directory)
            seconds = round(time.monotonic() - begin)
            tell(text("step-alive", **line, seconds=seconds, megabytes=size))

    watcher = threading.Thread(target=live, daemon=True)
    watcher.start()
    details: list[str] = []
    try:
        yield details
    finally:
        over.set()
        watcher.join()
    seconds = f"{time.monotonic() - begin:.1f}"
    tell(text("step-done", **line, seconds=seconds, detail="".join(details)))


def megabytes(directory: Path) -> int:
    """Return the disk that a directory takes, in MB; links are not followed."""
    total = 0
    for file in directory.rglob("*"):
        try:
            total += file.lstat().st_blocks * 512
        except OSError:  # pip moves files while we count
            continue
    return total // 2**20


def _outcome(environment: Environment, begin: float, state: str) -> Outcome:
    """Return the environment's line of the table."""
    packages = len(list(environment.directory.glob("lib/python*/site-packages/*.dist-info")))
    size = megabytes(environment.directory) if state == "state-new" else 0
    stamp = stamps.read(environment.directory)
    if state == "state-new":
        stamps.write(environment.directory, {**stamp, "megabytes": size})
    return Outcome(
        name=environment.name,
        python=str(stamp.get("python", environment.python.name)),
        packages=packages,
        megabytes=size or int(str(stamp.get("megabytes", 0))),
        seconds=time.monotonic() - begin,
        state=state,
    )
