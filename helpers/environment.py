"""Variables of this kernel and of the processes that it starts: set, show, source a script, make a
child's environment.

It changes `os.environ`, because that is what a child process inherits; a `!export` changes a shell
that is gone when the cell ends. It decides no values: engines and labs do.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from helpers import messages, paths
from helpers.errors import ScriptFailed, ScriptMissing
from helpers.masking import MARK
from helpers.masking import SECRET_ENDINGS as SECRET_ENDINGS
from helpers.tables import Table

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_set_by: dict[str, str] = {}

_SHELLS_OWN = ("_", "SHLVL", "PWD", "OLDPWD")  # bash changes them for itself

# Variables of the kernel's own Python: an engine that inherits them looks for its modules in the
# wrong place.
_KERNEL_ONLY = (
    "PYTHONHOME",
    "VIRTUAL_ENV",
    "PYTHONSTARTUP",
    "MPLBACKEND",
    "PYDEVD_USE_FRAME_EVAL",
    "JPY_PARENT_PID",
)


def set(**variables: object) -> None:  # noqa: A001 - reads as the sentence that the lab teaches: environment.set(X=1)
    """Set variables in this kernel; every process that it starts from now on sees them.

    Args:
        variables: name → value; None removes the variable.
    """
    for name, value in variables.items():
        _put(name, None if value is None else str(value), "environment.set")


def source(script: str | Path) -> list[str]:
    """Run a shell script that exports variables, take over what it changed, and return the names,
    sorted.

    The script runs in bash as `source script` would; the difference of the environment before and
    after is applied to this kernel.

    Raises:
        ScriptMissing: no such file.
        ScriptFailed: it ended with an error; carries its output.
    """
    before, after = dict(os.environ), sourced([script], os.environ)
    changed = sorted(
        name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
    )
    for name in changed:
        _put(name, after.get(name), f"source {paths.shown(script)}")
    return changed


def sourced(scripts: Iterable[str | Path], base: Mapping[str, str]) -> dict[str, str]:
    """Return the environment that `base` becomes after sourcing the scripts, in order; nothing here
    is changed.

    Raises:
        ScriptMissing, ScriptFailed: as `source`.
    """
    result = dict(base)
    for script in scripts:
        path = Path(script)
        if not path.is_file():
            raise ScriptMissing(path=paths.shown(path))
        # CANN's own scripts read unset variables and end in a test that may be false: no `set -eu`
        # around them.
        # `shift`: a sourced script sees the caller's arguments; ours has none.
        command = (
            'script=$1; shift; source "$script" >&2; code=$?; [ $code -eq 0 ] || exit $code; env -0'
        )
        done = subprocess.run(
            ["bash", "-c", command, "source", str(path)],
            env=result,
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
        if done.returncode or not done.stdout:  # `exit 0` in the script ends bash before env
            raise ScriptFailed(
                path=paths.shown(path),
                returncode=done.returncode,
                original=done.stderr.decode(errors="replace").strip(),
            )
        pairs = (
            item.split("=", 1)
            for item in done.stdout.decode(errors="surrogateescape").split("\0")
            if "=" in item
        )
        result = {name: value for name, value in pairs if name not in _SHELLS_OWN}
        result |= {name: base[name] for name in _SHELLS_OWN if name in base}
    return result


def child(
    additions: Mapping[str, str] | None = None, base: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the whole environment that a process we start will see.

    This kernel's variables without those of its own Python, plus the additions, with loopback
    addresses kept away from any proxy.

    Args:
        additions: name → value, for instance an engine's.
        base: what to start from; None takes this kernel's environment.
    """
    result = {
        k: v for k, v in (os.environ if base is None else base).items() if k not in _KERNEL_ONLY
    }
    result.update(additions or {})
    return result | no_proxy(result)


def no_proxy(base: Mapping[str, str]) -> dict[str, str]:
    """Return NO_PROXY and no_proxy, extended by the loopback addresses; both spellings, since
    programs read either.
    """
    listed = [
        item.strip()
        for name in ("NO_PROXY", "no_proxy")
        for item in base.get(name, "").split(",")
        if item.strip()
    ]
    merged = ",".join(dict.fromkeys([*listed, *LOOPBACK]))
    return {"NO_PROXY": merged, "no_proxy": merged}


def masked(name: str, value: str) -> str:
    """Return the value as it may be shown: secrets are not."""
    return MARK if value and name.upper().endswith(SECRET_ENDINGS) else value


def show(*names: str, additions: Mapping[str, str] | None = None) -> Table:
    """Return a table: variable, value here, who set it, value that a child process will see.

    Args:
        names: variables to show; none shows what was set through this module plus the additions.
        additions: what an engine adds for its process.
    """
    extra = dict(additions or {})
    chosen = names or tuple(dict.fromkeys([*_set_by, *extra]))
    seen = child(extra)
    rows = []
    for name in chosen:
        here, there = os.environ.get(name), seen.get(name)
        origin = (
            "engine"
            if name in extra and extra[name] != here
            else _set_by.get(name, "platform" if here is not None else "")
        )
        rows.append((name, _cell(name, here), _origin(origin), _cell(name, there)))
    head = tuple(
        messages.text(f"environment.column.{name}") for name in ("name", "here", "origin", "child")
    )
    return Table(head, rows)


def _put(name: str, value: str | None, origin: str) -> None:
    _set_by[name] = origin
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


def _cell(name: str, value: str | None) -> str:
    if value is None:
        return messages.text("environment.unset")
    return paths.shown(masked(name, value)) or messages.text("environment.empty")


def _origin(origin: str) -> str:
    known = {"engine": "environment.origin.engine", "platform": "environment.origin.platform"}
    return messages.text(known[origin]) if origin in known else origin
