"""Another notebook, as far as a server can tell: a Python process that starts a light server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]

START = f"""
import os, sys
sys.path[:0] = [{str(TESTS)!r}, {str(TESTS.parent)!r}]
from pathlib import Path
from light.light_engine import LightEngine, light_model, light_options
from helpers import server
model = light_model(Path(os.environ["LIGHT_MODEL"]))
one = server.start(LightEngine(tuple(sys.argv[2:])), model, light_options(int(sys.argv[1])))
one.wait_ready(30)
"""


def python(code: str, *words: str, **variables: str) -> subprocess.Popen[str]:
    """Return a process that runs code with words as its arguments; what it says is kept."""
    argv = [sys.executable, "-c", code, *words]
    return subprocess.Popen(argv, stdout=-1, stderr=-1, text=True, env=os.environ | variables)
