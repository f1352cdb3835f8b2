"""A lab in a real JupyterLab, in headless Chromium, by Run All Cells and nothing else."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helpers import paths
from helpers.checkpoint import MIME
from helpers.server import process

pytestmark = pytest.mark.full
LAB = "00_check_environment"


@pytest.fixture(scope="module")
def browser_python() -> Path:
    """Return the Python that has Playwright, in an environment of its own."""
    if not (shutil.which("chromium") or shutil.which("chromium-browser")):
        pytest.skip("there is no Chromium on this machine")
    folder = paths.venvs_dir() / "browser"
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    wanted = ["-m", "pip", "install", "-q", "--no-compile", "--require-hashes", "-r"]
    subprocess.run([str(python), *wanted, str(paths.REQUIREMENTS / "browser.lock")], check=True)
    return python


def cleared(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook as a learner would get it before running anything."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return notebook


@pytest.fixture
def jupyterlab(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Serve a copy of the course in our JupyterLab; yield its address and the copy's root."""
    root, port = tmp_path / "course copy", process.free_port("127.0.0.1")
    for language in ("zh", "en"):
        path = root / "notebooks" / language / f"{LAB}.ipynb"
        path.parent.mkdir(parents=True)
        stored = json.loads((paths.NOTEBOOKS / language / path.name).read_text(encoding="utf-8"))
        path.write_text(json.dumps(cleared(stored)), encoding="utf-8")
    token, log = secrets.token_hex(16), tmp_path / "jupyter.log"
    env = {**os.environ, "JUPYTER_TOKEN": token, "JUPYTER_CONFIG_DIR": str(tmp_path / "config")}
    env |= {"JUPYTER_DATA_DIR": str(tmp_path / "data"), "IPYTHONDIR": str(tmp_path / "ipython")}
    env.pop("LAB_RUN", None)
    argv = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"]
    argv += ["--ip=127.0.0.1", f"--ServerApp.root_dir={root}"]
    child, identity = process.spawn(argv, env, log, root)
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/api", timeout=2).read()
                break
            except OSError:
                assert time.monotonic() < deadline and child.poll() is None, log.read_text()
                time.sleep(0.2)
        yield f"http://127.0.0.1:{port}?token={token}", root
    finally:
        assert process.end(identity, child) == []


@pytest.mark.parametrize("language", ["zh", "en"])
def test_lab_opened_in_jupyterlab_runs_by_run_all_without_help(
    language: str, browser_python: Path, jupyterlab: tuple[str, Path]
) -> None:
    url, root = jupyterlab
    picture = paths.build_dir() / f"jupyterlab-{LAB}-{language}.png"
    picture.parent.mkdir(exist_ok=True)
    script = Path(__file__).with_name("drive_jupyterlab.py")
    notebook = f"notebooks/{language}/{LAB}.ipynb"

    done = subprocess.run(
        [str(browser_python), str(script), url, notebook, str(picture), "240"],
        capture_output=True,
        text=True,
        timeout=500,
    )

    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.strip().endswith("idle"), done.stdout
    cells = json.loads((root / notebook).read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    outputs = [output for cell in code for output in cell["outputs"]]
    statuses = [o["data"][MIME]["status"] for o in outputs if MIME in o.get("data", {})]
    assert all(cell["execution_count"] for cell in code)
    assert not [output for output in outputs if output["output_type"] == "error"]
    assert statuses and set(statuses) <= {"pass", "todo", "skipped"}
