"""Makes a virtual environment with the locked pip, also where ensurepip or venv is missing."""

from __future__ import annotations

import configparser
import hashlib
import html.parser
import os
import re
import shutil
import ssl
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from helpers import interpreters, paths
from helpers.setup import commands
from helpers.setup.problems import SetupError
from helpers.setup.pythons import Python

PYPI = "https://pypi.org/simple"
LOCK = "bootstrap.lock"


def make(python: Python, directory: Path, log: Path) -> None:
    """Make the environment if its Python does not run yet, with the locked pip.

    Args:
        python: what to build on.
        directory: where; a broken environment there is replaced.
        log: file for the output.
    Raises:
        SetupError: there is no ensurepip, and the index has no pip.
        commands.CommandFailed: the Python cannot make environments.
    """
    inside = interpreters.inside(directory)
    if not _runs(inside, log):
        shutil.rmtree(directory, ignore_errors=True)
        directory.parent.mkdir(parents=True, exist_ok=True)
        if _has(python.path, "venv", log):
            commands.run([python.path, "-I", "-m", "venv", "--without-pip", directory], log)
        else:
            _virtualenv(python, directory, log)
    if not _has(inside, "pip", log):
        _put_pip(python, inside, directory, log)
    _lock_pip(inside, directory, log)


def block(lock: Path, name: str) -> str:
    """Return the lines of one package in a lock file: its version, its hashes."""
    lines = lock.read_text("utf-8").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"{name}=="))
    end = start
    while lines[end].endswith("\\"):
        end += 1
    return "\n".join(lines[start : end + 1]) + "\n"


def _runs(python: Path, log: Path) -> bool:
    """Return whether an environment's Python can be run."""
    return python.exists() and _answers([python, "-I", "-c", "import sys"], log)


def _has(python: Path, module: str, log: Path) -> bool:
    """Return whether a Python can import a module."""
    return _answers([python, "-I", "-c", f"import {module}"], log)


def _answers(arguments: list[str | Path], log: Path) -> bool:
    """Return whether a command ends with code 0."""
    try:
        commands.run(arguments, log)
    except commands.CommandFailed:
        return False
    return True


def _put_pip(python: Python, inside: Path, directory: Path, log: Path) -> None:
    """Install pip: Python's own copy (ensurepip), else the locked wheel from the index."""
    if _has(python.path, "ensurepip", log):
        try:
            commands.run([inside, "-I", "-m", "ensurepip", "--default-pip"], log)
            return
        except commands.CommandFailed:
            pass  # some distributions' ensurepip only says which package to install
    wheel = _fetch_pip(directory)
    commands.run(
        [inside, f"{wheel}/pip", "install", "--no-index", "--no-deps", "--no-compile", wheel], log
    )


def _lock_pip(inside: Path, directory: Path, log: Path) -> None:
    """Bring the environment's pip to the locked version: old ones know no --report and are slow.

    Where the locked one cannot be had (no network, a wheel directory only), one that knows --report
    will do.
    """
    wanted = block(paths.REQUIREMENTS / LOCK, "pip")
    version = commands.run([inside, "-I", "-m", "pip", "--version"], log).split()[1]
    if wanted.startswith(f"pip=={version} "):
        return
    requirement = directory / "pip.txt"
    requirement.write_text(wanted, "utf-8")
    try:
        commands.run(
            [inside, "-I", "-m", "pip", "install", "--no-deps", "--no-compile", "--require-hashes",
            "-r", requirement],
            log,
        )  # fmt: skip
    except commands.CommandFailed:
        if tuple(map(int, re.findall(r"\d+", version)[:2])) < (22, 2):
            raise


def _virtualenv(python: Python, directory: Path, log: Path) -> None:
    """Make the environment with a temporary virtualenv, where Python has no venv module."""
    tools = directory.parent / "bootstrap"
    wheel = _fetch_pip(directory)
    lock = paths.REQUIREMENTS / LOCK
    commands.run(
        [python.path, f"{wheel}/pip", "install", "--no-compile", "--require-hashes", "--target",
        tools, "-r", lock], log
    )  # fmt: skip
    variables = commands.environment(PYTHONPATH=str(tools))
    commands.run(
        [python.path, "-m", "virtualenv", "--no-download", "--no-seed", directory],
        log,
        variables=variables,
    )
    shutil.rmtree(tools, ignore_errors=True)


def _fetch_pip(directory: Path) -> Path:
    """Return the locked pip wheel, from a configured wheel directory or from the index."""
    wanted = block(paths.REQUIREMENTS / LOCK, "pip")
    name = f"pip-{wanted.split()[0].partition('==')[2]}-py3-none-any.whl"
    target = directory.parent / "bootstrap-wheels" / name
    target.parent.mkdir(parents=True, exist_ok=True)
    index = setting("index-url") or PYPI
    try:
        content = _from_wheelhouse(name) or _from_index(index, name)
    except (OSError, ValueError) as error:
        raise SetupError("no-pip", index=commands.mask(index), reason=error) from error
    if hashlib.sha256(content).hexdigest() not in wanted:
        raise SetupError("no-pip", index=commands.mask(index), reason=f"{name}: SHA-256")
    target.write_bytes(content)
    return target


def _from_wheelhouse(name: str) -> bytes | None:
    """Return a wheel from the local directories that pip is told to look into, or None."""
    for place in (setting("find-links") or "").split():
        file = Path(urllib.parse.urlparse(place).path, name)
        if file.is_file():
            return file.read_bytes()
    return None


class _Links(html.parser.HTMLParser):
    """Collects the addresses of a page's links."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for key, value in attrs if tag == "a" and key == "href" and value]


def _from_index(index: str, name: str) -> bytes:
    """Return a wheel of pip from a package index (PEP 503).

    Raises:
        OSError: the index cannot be reached.
        ValueError: it does not have this file.
    """
    page = index.rstrip("/") + "/pip/"
    context = ssl.create_default_context(cafile=setting("cert"))
    with urllib.request.urlopen(page, timeout=30, context=context) as answer:
        links = _Links()
        links.feed(answer.read().decode("utf-8", "replace"))
        page = answer.url
    for link in links.found:
        address = urllib.parse.urljoin(page, link).partition("#")[0]
        if address.rpartition("/")[2] == name:
            with urllib.request.urlopen(address, timeout=120, context=context) as answer:
                content: bytes = answer.read()
                return content
    raise ValueError(f"{name}: not in the index")


def setting(key: str) -> str | None:
    """Return one of pip's settings, from PIP_<KEY> or its configuration files, or None."""
    given = os.environ.get("PIP_" + key.upper().replace("-", "_"))
    if given:
        return given
    home = Path.home()
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    places = (Path("/etc/xdg/pip"), Path("/etc"), home / ".pip", config / "pip")
    files = [place / "pip.conf" for place in places]
    if os.environ.get("PIP_CONFIG_FILE"):
        files.append(Path(os.environ["PIP_CONFIG_FILE"]))
    found = None
    for file in files:
        parser = configparser.RawConfigParser()
        try:
            parser.read(file, "utf-8")
        except (configparser.Error, UnicodeDecodeError):
            continue
        found = parser.get("global", key, fallback=found)
    return found
