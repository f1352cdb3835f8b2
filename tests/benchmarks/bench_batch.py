"""What a matrix costs beside `xargs -P W papermill` of the same runs: lab 02 against one server on
the CPU engine, so that neither side starts any.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.measured import Figure, at_least, interleaved
from helpers import catalog, engines, models, paths, server
from helpers.server import Server

LAB, LANGUAGE = "02_minicpm5", "en"
LENGTHS, WORKERS, PAIRS = [512, 640, 768, 896, 1024, 1280, 1536, 2048], 2, 2
"""One run for each max_model_len; so many at a time; each side so often."""


def _matrix(folder: Path, url: str) -> float:
    """Return the seconds that the runs take as a matrix."""
    asked = folder / "matrix.yml"
    asked.write_text(
        f"labs: [{LAB}]\nlanguages: [{LANGUAGE}]\nvary: {{MAX_MODEL_LEN: {LENGTHS}}}\n"
        f"parameters: {{ENGINE: remote, BASE_URL: '{url}'}}\n",
        encoding="utf-8",
    )
    out = folder / f"matrix-{time.monotonic_ns()}"
    words = [sys.executable, "-m", "helpers", "run", str(asked), "--workers", str(WORKERS)]
    return _seconds([*words, "--out", str(out)])


def _xargs(folder: Path, url: str) -> float:
    """Return the seconds that the same runs take with papermill alone."""
    source = paths.NOTEBOOKS / LANGUAGE / f"{LAB}.ipynb"
    out = folder / f"xargs-{time.monotonic_ns()}"
    out.mkdir()
    fixed = ["-p", "ENGINE", "remote", "-p", "BASE_URL", url, "-p", "MAX_MODEL_LEN", "{}"]
    words = [sys.executable, "-m", "papermill", str(source), f"{out}/{{}}.ipynb", *fixed]
    listed = "\n".join(map(str, LENGTHS))
    return _seconds(["xargs", "-P", str(WORKERS), "-I", "{}", *words], listed)


def _seconds(words: list[str], said: str = "") -> float:
    begun = time.perf_counter()
    subprocess.run(words, input=said, text=True, check=True, capture_output=True, cwd=paths.ROOT)
    return time.perf_counter() - begun


def measure() -> list[Figure]:
    """Return the matrix's throughput as a share of xargs'."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["LAB_STATE_DIR"] = str(folder / "state")
        engine = engines.select("cpu")
        model = models.find(LAB, "cpu")
        options = catalog.options(LAB, "cpu", served_model_name=model.name, port=0)
        one = server.start(engine, model, options)
        assert isinstance(one, Server)
        one.wait_ready(300)
        try:
            ours, plain = interleaved(
                PAIRS, lambda: _matrix(folder, one.base_url), lambda: _xargs(folder, one.base_url)
            )
        finally:
            one.stop()
        share = median(plain) / median(ours)
        what = f"{len(LENGTHS)} runs on {WORKERS} workers, throughput / xargs -P papermill"
        return [at_least(what, share, 0.9, "x")]
