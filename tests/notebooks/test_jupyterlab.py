"""Labs and the chat playground in a real JupyterLab, in headless Chromium, by mouse and keyboard only."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest
from light import light_openai
from light.light_openai import LightOpenAI, serving
from light.light_pictures import drawn, encoded

from helpers import engines, paths, server
from helpers.checkpoint import MIME
from helpers.server import process

pytestmark = pytest.mark.full
LAB, MODEL_LAB = "00_check_environment", "02_minicpm5"
HOSTILE = "<script>window.hit=1</script><img src=x onerror='window.hit=1'>"


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


def written(root: Path, name: str, text: str) -> str:
    """Write a notebook into a copy of the course; return its path there."""
    path = root / "notebooks" / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path.relative_to(root).as_posix()


def code_cells(root: Path, notebook: str) -> list[dict[str, Any]]:
    cells = json.loads((root / notebook).read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


Lab = tuple[str, Path]


@contextmanager
def jupyterlab(tmp_path: Path, **variables: str) -> Iterator[Lab]:
    """Serve an empty directory in our JupyterLab; yield its address and the directory."""
    root, port = tmp_path / "course copy", process.free_port("127.0.0.1")
    root.mkdir()
    token, log = secrets.token_hex(16), tmp_path / "jupyter.log"
    env = {**os.environ, "JUPYTER_TOKEN": token, "JUPYTER_CONFIG_DIR": str(tmp_path / "config")}
    env |= {"JUPYTER_DATA_DIR": str(tmp_path / "data"), "IPYTHONDIR": str(tmp_path / "ipython")}
    env |= {"JUPYTERLAB_SETTINGS_DIR": str(tmp_path / "settings"), **variables}
    env.pop("LAB_RUN", None)
    quiet = tmp_path / "settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings"
    quiet.parent.mkdir(parents=True)
    quiet.write_text('{"fetchNews": "false"}', encoding="utf-8")  # no question over the notebook
    argv = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"]
    argv += ["--ip=127.0.0.1", f"--ServerApp.root_dir={root}"]
    child, identity = process.spawn(argv, env, log, root)
    try:
        deadline = time.monotonic() + 300
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


@pytest.fixture
def drive(browser_python: Path) -> Callable[..., str]:
    """Return a function that runs one of the browser's scripts and returns what it printed."""

    def run(script: str, *arguments: str, seconds: int) -> str:
        command = [str(browser_python), str(Path(__file__).with_name(script)), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout.strip()

    return run


@pytest.mark.parametrize("language", ["zh", "en"])
def test_lab_opened_in_jupyterlab_runs_by_run_all_without_help(
    language: str, drive: Callable[..., str], build: ModuleType, tmp_path: Path
) -> None:
    picture = paths.build_dir() / f"jupyterlab-{LAB}-{language}.png"
    picture.parent.mkdir(exist_ok=True)
    with jupyterlab(tmp_path) as (url, root):
        text = build.dumps(build.learner(build.read(LAB, language)))
        notebook = written(root, f"{language}/{LAB}", text)

        said = drive("drive_jupyterlab.py", url, notebook, str(picture), "600", seconds=1500)

        assert said.endswith("idle"), said
        code = code_cells(root, notebook)
    outputs = [output for cell in code for output in cell["outputs"]]
    statuses = [o["data"][MIME]["status"] for o in outputs if MIME in o.get("data", {})]
    assert all(cell["execution_count"] for cell in code)
    assert not [output for output in outputs if output["output_type"] == "error"]
    assert statuses and set(statuses) <= {"pass", "todo", "skipped"}


@pytest.mark.parametrize("language", ["zh", "en"])
def test_lab_02_runs_by_run_all_and_its_playground_answers(
    language: str, drive: Callable[..., str], build: ModuleType, tmp_path: Path
) -> None:
    if not engines.Cpu().available().ok:
        pytest.skip("there is no CPU engine on this machine")
    pictures = str(paths.build_dir() / f"jupyterlab-{MODEL_LAB}-{language}")
    Path(pictures).parent.mkdir(exist_ok=True)
    question = {"zh": "法国的首都是哪里？", "en": "What is the capital of France?"}[language]
    plan = [["save"], ["ask", question], ["fold"], ["shot", "playground"]]
    (tmp_path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    try:
        with jupyterlab(tmp_path, LAB_KEEP_SERVER="true", LAB_PORT="0") as (url, root):
            text = build.dumps(build.learner(build.read(MODEL_LAB, language)))
            notebook = written(root, f"{language}/{MODEL_LAB}", text)
            arguments = (url, notebook, pictures, "1200", str(tmp_path / "plan.json"))

            said = json.loads(drive("drive_playground.py", *arguments, seconds=2400))

            code = code_cells(root, notebook)
    finally:
        server.stop_all()

    ended, _, asked, folds, _ = said
    assert ended == "idle"
    assert all(cell["execution_count"] for cell in code)
    outputs = [output for cell in code for output in cell["outputs"]]
    assert not [output for output in outputs if output["output_type"] == "error"]
    records = [o["data"][MIME] for o in outputs if MIME in o.get("data", {})]
    chat = next(one for one in records if one["step"] == "chat")
    assert (chat["status"], chat["stand_in"]) == ("pass", True)
    assert asked["question"] == [question]
    assert asked["answer"][0].strip()
    assert asked["thinking"][0].strip()
    assert "STAND-IN" in asked["head"] and "STAND-IN" in asked["ending"][0]
    assert asked["error"] == []
    assert folds == [False, True, False]
    assert f"{len(records)}/{len(records)}" in asked["board"]


class Answering(LightOpenAI):
    """Streams an answer that its last question chooses."""

    @property
    def events(self) -> Any:
        content = self.sent["messages"][-1]["content"]
        asked = content if isinstance(content, str) else content[-1]["text"]
        if asked == "long":
            return _without_end()
        return [_piece("I see "), _piece(HOSTILE), _piece("</think>"), _piece(HOSTILE), *_LAST]

    @events.setter
    def events(self, value: Any) -> None:
        assert value is None

    @property
    def status(self) -> int:
        sent = self.sent or {"messages": [{"content": ""}]}
        return 400 if sent["messages"][-1]["content"] == "refuse" else 200

    @status.setter
    def status(self, value: int) -> None:
        assert value == 200


def _piece(text: str) -> dict[str, Any]:
    return {"choices": [{"delta": {"content": text}, "finish_reason": None}]}


_LAST = [
    {"choices": [{"delta": {}, "finish_reason": "stop"}]},
    {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}},
    "data: [DONE]\n\n",
]


def _without_end() -> Iterator[Any]:
    """Stream one piece, then comments, as servers do to keep a connection open, until it is cut."""
    yield _piece("</think>first words")
    while True:
        time.sleep(0.1)
        yield ": still here\n\n"


@pytest.fixture
def light(monkeypatch: pytest.MonkeyPatch) -> Iterator[Answering]:
    monkeypatch.setattr(light_openai, "LightOpenAI", Answering)
    with serving() as one:
        assert isinstance(one, Answering)
        one.body = {"error": {"message": HOSTILE}}
        yield one


def two_panels(url: str) -> str:
    """Return a notebook with a board and the same playground twice, a checkpoint in between."""
    cells = [
        "from helpers import checkpoint, messages, widgets\n"
        "from helpers.server import Endpoint\n"
        "messages.use('en')\n"
        f"one = Endpoint({url!r}, {HOSTILE!r}, stand_in=True)\n"
        f"checkpoint.begin({MODEL_LAB!r})\n"
        "widgets.board()\n"
        "widgets.playground(one)",
        "checkpoint.check('engine', True)",
        "widgets.playground(one)",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    return str(nbformat.writes(book))


def test_playground_by_mouse_and_keyboard_asks_stops_folds_uploads_and_tells_errors(
    light: Answering, drive: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "shapes.png").write_bytes(encoded(image=drawn()))
    plan = [
        ["ask", "first"],
        ["fold"],
        ["stop", "long", "first words"],
        ["upload", str(tmp_path / "shapes.png")],
        ["ask", "what is it"],
        ["ask", "refuse"],
        ["shot", "all"],
    ]
    (tmp_path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    pictures = str(paths.build_dir() / "jupyterlab-playground")
    Path(pictures).parent.mkdir(exist_ok=True)
    with jupyterlab(tmp_path) as (url, root):
        notebook = written(root, "playground", two_panels(light.url))
        arguments = (url, notebook, pictures, "300", str(tmp_path / "plan.json"))

        said = json.loads(drive("drive_playground.py", *arguments, seconds=2400))

    ended, first, folds, stopped, uploaded, looked, refused, last = said
    assert ended == "idle"
    assert (first["thinking"], first["answer"]) == ([f"I see {HOSTILE}"], [HOSTILE])
    assert "1/14" in first["board"]
    assert folds == [False, True, False]
    assert stopped["answer"][-1] == "first words"
    assert "stopped" in stopped["ending"][-1]
    assert uploaded["images"] == 1
    assert looked["images"] == 1
    sent = [body["messages"][-1]["content"] for _, _, body in light.requests]
    assert [part["type"] for part in sent[2]] == ["image_url", "text"]
    assert sent[3] == "refuse"
    assert refused["error"][0].startswith("[chat.refused]")
    assert last["questions on the page"] == 2 * len(last["question"]) == 8
    for seen in (first, stopped, looked, refused):
        assert (seen["markup"], seen["hit"]) == (0, None)
        assert "STAND-IN" in seen["head"] and HOSTILE in seen["head"]
