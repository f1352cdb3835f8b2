"""Where things lie: the checkout, the learner's state, the interpreters. Standard library only.

Not for what lies there: `interpreters` finds a Python, `server.state` reads state files.
"""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COURSE = ROOT / "course"
NOTEBOOKS = ROOT / "notebooks"
REQUIREMENTS = ROOT / "requirements"
STANDINS = ROOT / "assets" / "standins"

LAYERED = frozenset({"overlay", "overlay2", "aufs"})
"""File systems whose content goes with the container, in one."""

PASSING = frozenset({"tmpfs", "ramfs", "fuse-overlayfs"})
"""File systems whose content goes with the power, or with a container without root."""


def state_dir() -> Path:
    """Return the directory of logs, state files and downloaded weights (not created here).

    LAB_STATE_DIR if set, else `minicpm-labs` under XDG_STATE_HOME, else under ~/.local/state.
    """
    given = os.environ.get("LAB_STATE_DIR")
    if given:
        return Path(given).expanduser().absolute()
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "minicpm-labs"


def venvs_dir() -> Path:
    """Return the directory of the course's own interpreters: in the checkout, or the state
    directory where that is read-only.
    """
    inside = ROOT / ".venvs"
    if inside.is_dir() and os.access(inside, os.W_OK):
        return inside
    if not inside.exists() and os.access(ROOT, os.W_OK):
        return inside
    return state_dir() / "venvs"


def build_dir() -> Path:
    """Return the directory of run reports: build/ in the checkout, or in the state directory where
    that is read-only.
    """
    inside = ROOT / "build"
    writable = os.access(inside if inside.exists() else ROOT, os.W_OK)
    return inside if writable else state_dir() / "build"


def shown(text: object) -> str:
    """Return a path or a text for people: the checkout's root is left out, the state directory and
    home are abbreviated.

    What is shown is meant to be typed in the checkout; it also keeps one machine's layout out of
    stored outputs.
    """
    result = str(text)
    state = os.environ.get("LAB_STATE_DIR")
    if state:
        result = result.replace(str(state_dir()), "$LAB_STATE_DIR")
    result = result.replace(f"{ROOT}/", "").replace(str(ROOT), ".")
    home = str(Path.home())
    return result.replace(f"{home}/", "~/") if home != "/" else result
