"""Where Ascend's software leaves its version files and its scripts, and their texts. Reads only."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from helpers.engines import CANN_SCRIPTS

PATTERNS = (
    "usr/local/Ascend/driver/version.info",
    "usr/local/Ascend/firmware/version.info",
    "etc/ascend_install.info",
    "usr/local/Ascend/ascend-toolkit/latest/*-linux/ascend_toolkit_install.info",
    "usr/local/Ascend/ascend-toolkit/latest/version.cfg",
    "usr/local/Ascend/cann/*-linux/ascend_toolkit_install.info",
    "usr/local/Ascend/cann/ascend_toolkit_install.info",
    "usr/local/Ascend/cann-*/*-linux/ascend_toolkit_install.info",
    "usr/local/Ascend/ascend-toolkit/[0-9]*/*-linux/ascend_toolkit_install.info",
    "usr/local/Ascend/nnae/latest/ascend_nnae_install.info",
    "usr/local/Ascend/nnal/atb/latest/version.info",
)
"""Paths as recordings and vllm-ascend's own documents show them, the one in force first; CANN moved
from ascend-toolkit/ to cann-VERSION/ with 8.5.
"""

LARGEST = 65_536


def texts(root: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the texts of the version files by path below root; a file that two paths lead to is
    read once.

    Args:
        environ: ASCEND_HOME_PATH and ASCEND_TOOLKIT_HOME are looked into first.
    """
    found: dict[str, str] = {}
    seen: set[Path] = set()
    for path in _candidates(root, environ):
        try:
            real = path.resolve()
            if real in seen or not path.is_file():
                continue
            with path.open(encoding="utf-8", errors="replace") as file:
                text = file.read(LARGEST)
        except (OSError, RuntimeError):  # RuntimeError: a loop of links, before Python 3.13
            continue
        seen.add(real)
        found["/" + str(path.relative_to(root)) if path.is_relative_to(root) else str(path)] = text
    return found


def scripts(root: Path) -> tuple[str, ...]:
    """Return CANN's and NNAL's set_env.sh that exist, in the order in which they are sourced."""
    return tuple(str(root / name) for name in CANN_SCRIPTS if (root / name).is_file())


def _candidates(root: Path, environ: Mapping[str, str]) -> list[Path]:
    found = []
    for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"):
        home = environ.get(name)
        if home:
            base = root / home.lstrip("/") if root != Path("/") else Path(home)
            found += _globbed(base, "*-linux/ascend_toolkit_install.info")
            found += _globbed(base, "ascend_toolkit_install.info")
    for pattern in PATTERNS:
        found += _globbed(root, pattern)
    return found


def _globbed(base: Path, pattern: str) -> list[Path]:
    try:
        return sorted(base.glob(pattern))
    except (OSError, ValueError):
        return []
