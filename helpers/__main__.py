"""`python -m helpers …`: setup with any Python, everything else in the course environment."""

from __future__ import annotations

import importlib.util
import os
import sys

from helpers import interpreters, paths

# Many a system's Python has some of these (click, above all), hardly any has them all.
NEEDED = ("click", "filelock", "papermill", "psutil", "pydantic", "requests", "yaml")


def main() -> int:
    """Return the exit status of the command; moves to the course's Python where this one lacks the
    libraries."""
    words = sys.argv[1:]
    if words[:1] == ["setup"]:
        from helpers import setup

        return setup.main(words[1:])
    if any(importlib.util.find_spec(name) is None for name in NEEDED):
        return _move(words)
    from helpers.cli import main as run

    run()
    return 0


def _move(words: list[str]) -> int:
    """Become the same command in the course environment, or return 1 after saying how to make it.

    On success this does not return.
    """
    python = interpreters.course_python()
    if not python.exists() or os.environ.get("_LAB_MOVED"):
        from helpers.setup.texts import TEXTS

        print("\n".join(TEXTS["setup-first"].values()), file=sys.stderr)
        return 1
    others = [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]
    os.environ["PYTHONPATH"] = os.pathsep.join([str(paths.ROOT), *others])
    os.environ["_LAB_MOVED"] = "1"  # a course environment without click would move for ever
    return os.execv(str(python), [str(python), "-m", "helpers", *words])


if __name__ == "__main__":
    sys.exit(main())
