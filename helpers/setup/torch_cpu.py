"""Finds a CPU build of torch: here, in pip's wheel directories, in an index. Never the CUDA build
of several GB.

PyPI's plain `torch` for Linux is the CUDA build, so PyPI is not asked at all, and what another
source offers is looked
at (`pip install --dry-run --report`) before it is installed.
"""

from __future__ import annotations

import json
import os
import platform
import re
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from helpers.setup import bootstrap, commands
from helpers.setup.environments import Environment, tell
from helpers.setup.problems import SetupError
from helpers.setup.pythons import Python
from helpers.setup.texts import text

LIMIT_MB = 400  # a CPU build has about 200
OFFICIAL = "https://download.pytorch.org/whl/cpu"
# Mirrors in mainland China, in the order in which they are asked. The addresses are from public
# sources (many projects
# install from them); none could be reached from where this was written, so they are untested.
# Aliyun's is a flat
# directory of wheels, NJU's and SJTU's are package indexes (SJTU's is said to send the download on
# to PyTorch's own).
MIRRORS = (
    "https://mirrors.aliyun.com/pytorch-wheels/cpu",
    "https://mirror.nju.edu.cn/pytorch/whl/cpu",
    "https://mirror.sjtu.edu.cn/pytorch-wheels/cpu",
)
# Without these pip would add to the one source that is asked.
_OTHER_SOURCES = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX")
_WHERE = "import pathlib, torch; print(pathlib.Path(torch.__file__).parent.parent)"
_IMPORT = "import torch; assert torch.version.cuda is None; print(torch.__version__)"


@dataclass(frozen=True)
class Source:
    """A place that may have torch: its name for the reader, and pip's arguments for it.

    Attributes:
        remote: it is asked over the network; pip's own settings for sources are then left out.
    """

    name: str
    arguments: tuple[str, ...]
    remote: bool


@dataclass(frozen=True)
class Offer:
    """What a source would install.

    Attributes:
        url: address of the wheel.
        version: with its local part, as in "2.13.0+cpu".
        requires: names of what it needs.
    """

    url: str
    version: str
    requires: tuple[str, ...]


class Refused(Exception):
    """A source has nothing that may be installed; carries the reason's code and values."""

    def __init__(self, code: str, **values: object) -> None:
        super().__init__(code)
        self.code = code
        self.values = values

    def __str__(self) -> str:
        return text(self.code, **self.values)


def wheelhouse() -> Source:
    """Return the source of the wheel directories that pip is configured with."""
    return Source(text("source-wheelhouse"), ("--no-index",), remote=False)


def indexes() -> list[Source]:
    """Return the indexes to ask: TORCH_INDEX_URL alone if set, else PyTorch's own and the mirrors.

    Each is given both as an index and as a page of links: some are the one, some the other.
    """
    given = os.environ.get("TORCH_INDEX_URL")
    addresses = (given,) if given else (OFFICIAL, *MIRRORS)
    found = []
    for one in addresses:
        arguments = ("--index-url", one, "--find-links", one.rstrip("/") + "/")
        found.append(Source(commands.mask(one), arguments, remote=True))
    return found


def install(environment: Environment, version: str) -> str:
    """Install torch into an environment and return where it came from, as a detail to show.

    Args:
        environment: the engine's, its virtual environment made.
        version: as in "2.13.0+cpu".
    Raises:
        SetupError: no source has a CPU build.
    """
    if _imports(environment.executable, environment.log) == version:
        return text("torch-source", source=text("source-installed"))
    if _borrow(environment, version):
        return text("torch-source", source=text("source-base"))
    tried: list[str] = []
    for source in (wheelhouse(), *indexes()):
        try:
            offer = ask(environment.executable, source, version, environment.log)
            check(offer, source)
            _pip_install(environment, source, offer)
        except Refused as refusal:
            tried.append(f"    - {source.name}: {refusal}")
            continue
        return text("torch-source", source=source.name)
    raise SetupError("no-torch", version=version, tried="\n".join(tried))


def ask(python: Path, source: Source, version: str, log: Path) -> Offer:
    """Return what pip would install from a source, without installing it.

    Args:
        python: one with pip.
        source: the place to ask.
        version: the wanted version.
        log: file for pip's output.
    Raises:
        Refused: the source cannot be reached, or has no such version.
    """
    if source.remote:
        tell(text("torch-asking", source=source.name))
    report = log.with_name("torch-report.json")
    report.unlink(missing_ok=True)
    try:
        commands.run(
            [
                python, "-I", "-m", "pip", "install", "--dry-run", "--ignore-installed",
                "--no-deps",
                "--only-binary", ":all:", "--report", report, *_patience(source), *source.arguments,
                f"torch=={version}",
            ],
            log, variables=_variables(source),
        )  # fmt: skip
    except commands.CommandFailed as failure:
        raise _why_not(python, source, version, log, failure) from failure
    (item,) = json.loads(report.read_text("utf-8"))["install"]
    needs = item["metadata"].get("requires_dist", [])
    return Offer(
        url=item["download_info"]["url"],
        version=item["metadata"]["version"],
        requires=tuple(re.split(r"[^A-Za-z0-9._-]", need, maxsplit=1)[0] for need in needs),
    )


def check(offer: Offer, source: Source) -> None:
    """Raise Refused for a torch that is no CPU build, or too big for one."""
    if not offer.version.endswith("+cpu"):
        raise Refused("refused-not-cpu", version=offer.version)
    for need in offer.requires:
        if need.lower().startswith(("nvidia-", "cuda-", "triton")):
            raise Refused("refused-cuda-needs", version=offer.version, package=need)
    size = size_mb(offer.url)
    if size is not None and size > LIMIT_MB:
        raise Refused("refused-too-big", version=offer.version, megabytes=size, limit=LIMIT_MB)


def size_mb(url: str) -> int | None:
    """Return the size of a wheel in MB, or None where its server does not say."""
    parts = urllib.parse.urlsplit(url)
    try:
        if parts.scheme == "file":
            return Path(urllib.request.url2pathname(parts.path)).stat().st_size // 2**20
        request = urllib.request.Request(url, method="HEAD")
        with urllib.request.urlopen(request, timeout=15) as answer:
            return int(answer.headers["Content-Length"]) // 2**20
    except (OSError, TypeError, ValueError):
        return None


def in_wheelhouse(python: Python, version: str, log: Path) -> bool:
    """Return whether a wheel directory has torch for a Python. (No pip yet: we look.)"""
    del log
    tag = "cp" + python.series.replace(".", "")
    places = (bootstrap.setting("find-links") or "").split()
    return any(
        any(
            Path(urllib.parse.urlsplit(place).path).glob(
                f"torch-{version}-{tag}-*{platform.machine()}.whl"
            )
        )
        for place in places
    )


def importable(python: Python, version: str, log: Path) -> bool:
    """Return whether a Python outside our environments already imports this CPU build."""
    return _imports(python.path, log) == version


def _imports(python: Path, log: Path) -> str | None:
    """Return the version of the CPU build that a Python imports, or None."""
    try:
        return commands.run([python, "-I", "-c", _IMPORT], log).strip().splitlines()[-1]
    except (commands.CommandFailed, IndexError):
        return None


def _borrow(environment: Environment, version: str) -> bool:
    """Return whether torch now comes from the base Python, by links: a copy costs 750 MB.

    Only torch's own directories are linked: the base's whole site-packages would bring a
    torchvision that breaks vLLM.
    """
    if _imports(environment.python.path, environment.log) != version:
        return False
    where = commands.run([environment.python.path, "-I", "-c", _WHERE], environment.log)
    base, ours = Path(where.strip().splitlines()[-1]), environment.site_packages()
    for name in ("torch", "torchgen", "functorch", f"torch-{version}.dist-info"):
        if (base / name).exists() and not (ours / name).exists():
            (ours / name).symlink_to(base / name)
    return _imports(environment.executable, environment.log) == version


def _pip_install(environment: Environment, source: Source, offer: Offer) -> None:
    """Install the offer that was looked at.

    Raises:
        Refused: the download or the installation failed; the next source may do better.
    """
    try:
        commands.run(
            [
                environment.executable, "-I", "-m", "pip", "install", "--no-compile", "--no-deps",
                "--only-binary", ":all:", *source.arguments, f"torch=={offer.version}",
            ],
            environment.log, variables=_variables(source),
        )  # fmt: skip
    except commands.CommandFailed as failure:
        raise Refused("refused-failed") from failure


def _why_not(
    python: Path, source: Source, version: str, log: Path, failure: commands.CommandFailed
) -> Refused:
    """Return why a source has no offer: unreachable, another build only, or nothing."""
    if source.remote and re.search(r"[Cc]onnection|timed out|resolve|[Pp]roxy|SSL", failure.tail):
        return Refused("refused-unreachable")
    other = next(_other_builds(python, source, version, log), None) if source.remote else None
    if other:
        return Refused("refused-not-cpu", version=other)
    return Refused("refused-absent", version=version)


def _other_builds(python: Path, source: Source, version: str, log: Path) -> Iterator[str]:
    """Yield a source's builds of the same release. `pip index` downloads no package."""
    try:
        output = commands.run(
            [python, "-I", "-m", "pip", "index", "versions", *source.arguments[:2], "torch"],
            log, variables=_variables(source),
        )  # fmt: skip
    except commands.CommandFailed:
        return
    release = version.partition("+")[0]
    for one in re.findall(r"[0-9][^\s,()]*", output):
        if one.partition("+")[0] == release:
            yield one


def _patience(source: Source) -> tuple[str, ...]:
    """Return pip's patience: an unreachable index shall cost seconds, not minutes."""
    return ("--retries", "1", "--timeout", "10") if source.remote else ()


def _variables(source: Source) -> dict[str, str]:
    """Return pip's environment: only the source that is asked, and a cache between two calls."""
    variables = commands.environment()
    variables.pop("PIP_NO_CACHE_DIR", None)
    if source.remote:
        for name in _OTHER_SOURCES:
            variables.pop(name, None)
    return variables
