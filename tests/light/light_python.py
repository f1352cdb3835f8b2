"""An interpreter double: a script that runs this Python with made-up distributions."""

from __future__ import annotations

import sys
from pathlib import Path


def light_python(folder: Path, **versions: str) -> Path:
    """Return a `python` whose importlib.metadata finds exactly these distributions.

    Args:
        folder: a directory that is made; the script is folder/bin/python.
        versions: distribution → version, underscores for dashes.
    """
    site, script = folder / "site", folder / "bin" / "python"
    site.mkdir(parents=True)
    script.parent.mkdir(parents=True)
    for name, version in versions.items():
        info = site / f"{name}-{version}.dist-info"
        info.mkdir()
        text = f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\n"
        (info / "METADATA").write_text(text, encoding="utf-8")
    # The first argument is -I, which would ignore PYTHONPATH; -S hides this Python's own packages.
    run = f'shift\nPYTHONPATH="{site}" exec "{sys.executable}" -S "$@"\n'
    script.write_text(f"#!/bin/sh\n{run}", encoding="utf-8")
    script.chmod(0o755)
    return script


def console_script(python: Path, name: str = "vllm", first: str = "") -> Path:
    """Return a console script beside an interpreter, as pip writes one."""
    script = python.parent / name
    script.write_text(f"{first or f'#!{python}'}\nprint('never run')\n", encoding="utf-8")
    script.chmod(0o755)
    return script
