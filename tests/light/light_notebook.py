"""Notebooks that drive the light server through the course's own modules, for tests of runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import nbformat

TESTS = Path(__file__).resolve().parents[1]
PARAMETERS = 'LANGUAGE = "zh"\nFAIL_AT = ""\nFLAGS = []'
START = f"""
import sys, time
sys.path.insert(0, {str(TESTS)!r})
from pathlib import Path
from light.light_engine import LightEngine, light_model, light_options
from helpers import checkpoint, messages, server
from helpers.server import process

messages.use(LANGUAGE)
engine, model = LightEngine(tuple(FLAGS)), light_model(Path("model"))
checkpoint.begin("light", engine, model)
one = server.start(engine, model, light_options(0))
"""
READY = "one.wait_ready(30)"
CHECK = """
members = process.members(one._found.identity())
checkpoint.check({step!r}, FAIL_AT != {step!r}, "told to fail", port=one.port, members=members)
"""


def light_notebook(path: Path, cells: Sequence[str]) -> Path:
    """Return the path of a notebook whose first cell holds the parameters; it does not stop its
    server.
    """
    tagged = nbformat.v4.new_code_cell(PARAMETERS, metadata={"tags": ["parameters"]})
    book = nbformat.v4.new_notebook(cells=[tagged, *map(nbformat.v4.new_code_cell, cells)])
    nbformat.write(book, path)
    return path


def checked_notebook(path: Path, steps: Sequence[str]) -> Path:
    """Return the path of a notebook that starts a server and leaves one checkpoint a cell."""
    return light_notebook(path, [START, READY, *(CHECK.format(step=step) for step in steps)])
