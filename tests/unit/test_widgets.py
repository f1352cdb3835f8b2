"""Tests of what the two calls show: text where nobody can click, the same panel on a second call, the
board as it goes on. Real kernels where the front end decides.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager
from light.light_openai import LightOpenAI, serving
from nbclient import NotebookClient

from helpers import checkpoint, messages, widgets
from helpers.errors import NeverStarted, UnknownLab
from helpers.server import Endpoint

TESTS = Path(__file__).parents[1]
SECONDS = 60.0
VIEW = "application/vnd.jupyter.widget-view+json"
LAB = "02_minicpm5"


@pytest.fixture
def light() -> Iterator[LightOpenAI]:
    with serving() as one:
        yield one


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no status or lab of another test be seen."""
    monkeypatch.setattr(checkpoint, "_statuses", {})
    monkeypatch.setattr(checkpoint, "_context", dict(checkpoint._context))
    checkpoint.begin(LAB)


def test_import_of_the_package_loads_no_ipywidgets() -> None:
    code = "import helpers, helpers.widgets, sys; print('ipywidgets' in sys.modules)"

    said = subprocess.check_output([sys.executable, "-c", code], text=True, cwd=TESTS.parent)

    assert said.strip() == "False"


@pytest.mark.parametrize(("language", "words"), [("zh", "对话面板"), ("en", "Chat playground")])
def test_playground_without_a_front_end_prints_one_line(
    language: str, words: str, light: LightOpenAI, capsys: pytest.CaptureFixture[str]
) -> None:
    messages.use(language)

    widgets.playground(Endpoint(light.url, "MiniCPM5-2B", stand_in=True))

    told = capsys.readouterr().out
    assert words in told
    assert re.search(r"MiniCPM5-2B .STAND-IN", told)
    assert light.url not in told  # the port differs from run to run
    assert told.count("\n") == 1
    assert light.requests == []


def test_playground_without_a_server_raises_the_typed_error() -> None:
    with pytest.raises(NeverStarted):
        widgets.playground()


def test_board_without_a_front_end_prints_each_step_with_its_status(
    begun: None, capsys: pytest.CaptureFixture[str]
) -> None:
    messages.use("en")
    checkpoint.check("engine", True)
    checkpoint.skip("environment", "elsewhere")
    capsys.readouterr()

    widgets.board()

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Checkpoints of 02_minicpm5: 2/14"
    assert lines[1:4] == ["  pass · engine", "  skipped · environment", "  not yet · offline_batch"]
    assert len(lines) == 15


def test_board_of_a_failed_step_says_so(begun: None, capsys: pytest.CaptureFixture[str]) -> None:
    messages.use("en")
    with pytest.raises(checkpoint.CheckFailed):
        checkpoint.check("engine", False)
    capsys.readouterr()

    widgets.board()

    assert "  fail · engine" in capsys.readouterr().out


def test_board_of_an_unknown_lab_raises_the_typed_error(begun: None) -> None:
    with pytest.raises(UnknownLab):
        widgets.board("99_none")


class Kernel:
    """A real kernel, and a client that can be asked back, as JupyterLab can."""

    def __init__(self, light: LightOpenAI) -> None:
        self.manager = KernelManager(kernel_name="python3")
        self.manager.start_kernel()
        self.client: BlockingKernelClient = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(SECONDS)
        self.run(
            f"""
import sys, threading
sys.path[:0] = [{str(TESTS)!r}, {str(TESTS.parent)!r}]
from helpers import checkpoint, messages, widgets
from helpers.server import Endpoint
messages.use("en")
one = Endpoint({light.url!r}, "M")
"""
        )

    def run(self, code: str, **more: Any) -> list[dict[str, Any]]:
        """Return the contents of what a cell displayed or printed, each with its type."""
        heard: list[dict[str, Any]] = []

        def hear(message: dict[str, Any]) -> None:
            heard.append(message["content"] | {"type": message["msg_type"]})

        self.client.execute_interactive(
            code, timeout=SECONDS, output_hook=hear, allow_stdin=True, **more
        )
        errors = [one for one in heard if one["type"] == "error"]
        assert errors == [], errors
        return [one for one in heard if one["type"] not in ("status", "execute_input")]

    def said(self, code: str) -> str:
        """Return what a cell printed."""
        return "".join(str(one.get("text", "")) for one in self.run(code)).strip()

    def close(self) -> None:
        """End the kernel."""
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.fixture
def kernel(light: LightOpenAI, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kernel]:
    monkeypatch.delenv("LAB_RUN", raising=False)
    one = Kernel(light)
    yield one
    one.close()


def displayed(heard: list[dict[str, Any]], kind: str = "display_data") -> list[dict[str, Any]]:
    return [one for one in heard if one["type"] == kind]


def test_playground_at_a_front_end_is_one_panel_with_a_text_beside_it(kernel: Kernel) -> None:
    first = displayed(kernel.run("widgets.playground(one)"))
    kernel.run("widgets._panels[(one.base_url, 'M')].question.value = 'half a question'")

    second = displayed(kernel.run("widgets.playground(Endpoint(one.base_url, 'M'))"))

    assert len(first) == len(second) == 1
    assert first[0]["data"]["text/plain"].startswith("Chat playground: M.")
    assert first[0]["data"][VIEW] == second[0]["data"][VIEW]
    assert kernel.said("print(len(widgets._panels))") == "1"
    kept = kernel.said("print(widgets._panels[(one.base_url, 'M')].question.value)")
    assert kept == "half a question"


def test_board_at_a_front_end_goes_on_in_the_same_place(kernel: Kernel) -> None:
    kernel.run(f"checkpoint.begin({LAB!r})")
    shown = displayed(kernel.run("widgets.board()"))

    again = displayed(kernel.run("widgets.board()"))
    later = displayed(kernel.run("checkpoint.check('engine', True)"), "update_display_data")

    identity = shown[0]["transient"]["display_id"]
    assert again[0]["transient"]["display_id"] == identity
    assert [one["transient"]["display_id"] for one in later] == [identity]
    assert "1/14" in later[0]["data"]["text/plain"]
    assert "1/14" in later[0]["data"]["text/html"]


THREADS = "print([t.name for t in threading.enumerate() if t.name == 'playground'])"


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
def test_interrupted_kernel_has_no_thread_of_the_playground_left(
    busy: bool, kernel: Kernel, light: LightOpenAI
) -> None:
    light.events = _silent()  # type: ignore[assignment]
    kernel.run("widgets.playground(one)")
    kernel.run(
        "talk = widgets._panels[(one.base_url, 'M')].conversation\n"
        "came = threading.Event()\n"
        "talk.changed = lambda turn: came.set()\n"
        "talk.send('Hi')\n"
        f"assert came.wait({SECONDS})"
    )
    assert kernel.said(THREADS) == "['playground']"

    if busy:
        code = "import time; print('busy'); time.sleep(600)"
        # A kernel aborts what comes right after an error, unless it is told not to.
        asked = kernel.client.execute(code, stop_on_error=False)
        while "busy" not in kernel.client.get_iopub_msg(SECONDS)["content"].get("text", ""):
            pass
        kernel.manager.interrupt_kernel()
        reply = kernel.client.get_shell_msg(timeout=SECONDS)
        assert reply["parent_header"]["msg_id"] == asked
    else:
        kernel.manager.interrupt_kernel()

    assert kernel.said(f"print(talk.join({SECONDS}), talk.turns[0].state)") == "True stopped"
    assert kernel.said(THREADS) == "[]"


def _silent() -> Iterator[Any]:
    yield {"choices": [{"delta": {"content": "Par"}, "finish_reason": None}]}
    yield from iter(_held, None)


def _held() -> str:
    """Return a comment line now and then: what a server sends to keep a connection open."""
    import time

    time.sleep(0.05)
    return ": still here\n\n"


def test_notebook_run_by_nbclient_stores_text_and_no_widget(
    light: LightOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LAB_RUN", raising=False)  # as under a learner's own papermill
    code = [
        f"import sys; sys.path.insert(0, {str(TESTS.parent)!r})",
        "from helpers import checkpoint, widgets",
        "from helpers.server import Endpoint",
        f"checkpoint.begin({LAB!r})",
        "widgets.board()",
        f"widgets.playground(Endpoint({light.url!r}, 'M'))",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("\n".join(code))])

    NotebookClient(notebook, timeout=SECONDS, kernel_name="python3").execute()

    outputs = notebook.cells[0].outputs
    assert [output.output_type for output in outputs] == ["stream"]
    assert "0/14" in outputs[0].text
    assert "widgets" not in notebook.metadata
