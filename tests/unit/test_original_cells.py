"""What the original course's cells do, measured in a real kernel of the installed IPython.

The cells stand verbatim in tests/fixtures/original_cells/. Nothing is installed, killed, fetched or
created outside of a temporary directory: `pip`, `vllm`, `pkill`, `sleep` and `mkdir` are stubs that
come first on PATH and record their calls (the real `mkdir` would write into /opt); every other
program, `nohup` and the shell included, is the system's. A proxy that refuses every connection
stands before HTTP, so that no request leaves the machine.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from helpers import paths

CELLS = paths.ROOT / "tests" / "fixtures" / "original_cells"
NAMES = ("VLLM_LIMIT_MM_PER_PROMPT", "ASCEND_RT_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")
STUB = """#!/bin/sh
name=$(basename "$0")
printf '%s\\n' "$name $*" >> "$STUBS/calls"
tr '\\0' ' ' < /proc/$PPID/cmdline > "$STUBS/$name.parent"
"""
NO_MATCH = "ERROR: No matching distribution found for atomgit_hub"
PROBE = f"""import json, os
print(json.dumps([os.getcwd(), {{name: os.environ.get(name) for name in {NAMES}}}]))"""
SHELL_PROBE = f"!echo {' '.join(f'[${name}]' for name in NAMES)}; pwd"
COMMENT = "!echo serve \\\n    --port 8000 \\\n    # how many pictures \\\n    --limit 10"
RAISING = "get_ipython().system_raise_on_error = True\n!pip install atomgit atomgit_hub"


@dataclass(frozen=True)
class Ran:
    """What one cell did: the name and text of its exception ("" where it was green), its output."""

    error: str
    message: str
    text: str


def original(name: str) -> str:
    """Return an original cell, exactly."""
    return (CELLS / f"{name}.ipy").read_text(encoding="utf-8").rstrip("\n")


def lines_after_start() -> list[str]:
    """Return the `!` lines that follow the server's start in its cell."""
    return original("03_start_server").partition("2>&1 &\n")[2].strip().splitlines()


CONTROLS = {
    "before": PROBE,
    "01_install_client": original("01_install_client"),
    "exit code of pip": "print(_exit_code)",
    "02_download": original("02_download"),
    "03_start_server": original("03_start_server"),
    "after": PROBE,
    "next shell": SHELL_PROBE,
    "one shell": "!export CONTROL=kept && cd / && echo $CONTROL && pwd",
    **{f"rest {number}": line for number, line in enumerate(lines_after_start())},
    "exit code of tail": "print(_exit_code)",
    "04_text": original("04_text"),
    "05_image_url": original("05_image_url"),
    "06_image_base64": original("06_image_base64"),
    "next cell": "print('still here')",
    "quoted": "%env LIMIT='{\"image\": 10}'\nprint(os.environ['LIMIT'])",
    "unquoted": "%env LIMIT={\"image\": 10}\nprint(os.environ['LIMIT'])",
    "a value": "PORT = 8001\n!echo --port $PORT",
    "a value and a brace": "!echo --port $PORT '{\"image\": 10}'",
    "comment": COMMENT,
    "raising": RAISING,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the working directory of the kernels, with the stubs in it."""
    folder = tmp_path_factory.mktemp("original")
    stubs = folder / "stubs"
    stubs.mkdir()
    endings = {"pip": f"echo '{NO_MATCH}'; exit 1\n"}
    for name in ("pip", "vllm", "pkill", "sleep", "mkdir"):
        (stubs / name).write_text(STUB + endings.get(name, ""), encoding="utf-8")
        (stubs / name).chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def kernel_env(folder: Path) -> Iterator[dict[str, str]]:
    """Return the kernels' environment: stubs first on PATH, no network, none of the three names."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # bound and never listening: each connection is refused
        proxy = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        dropped = {*NAMES, "NO_PROXY", "no_proxy"}
        env = {name: value for name, value in os.environ.items() if name not in dropped}
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            env[name] = env[name.lower()] = proxy
        stubs = folder / "stubs"
        env |= {"STUBS": str(stubs), "PATH": f"{stubs}{os.pathsep}{env['PATH']}"}
        env |= {"SHELL": "/bin/sh", "HOME": str(folder), "IPYTHONDIR": str(folder / "ipython")}
        yield env


@pytest.fixture(scope="module")
def ran(folder: Path, kernel_env: dict[str, str]) -> dict[str, Ran]:
    """Return what each cell did; all of them ran in one kernel, in order, past any error."""
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in CONTROLS.values()]
    )
    client = NotebookClient(
        notebook,
        timeout=60,
        kernel_name="python3",
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute(env=kernel_env)
    return dict(zip(CONTROLS, map(_did, notebook.cells), strict=True))


def _did(cell: nbformat.NotebookNode) -> Ran:
    errors = [output for output in cell.outputs if output.output_type == "error"]
    text = "".join(output.get("text", "") for output in cell.outputs)
    if not errors:
        return Ran("", "", text)
    return Ran(errors[0].ename, errors[0].evalue, text)


def calls(folder: Path, name: str) -> list[str]:
    """Return the recorded calls of a stub."""
    lines = (folder / "stubs" / "calls").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.split()[0] == name]


def test_install_that_fails_leaves_its_cell_green(ran: dict[str, Ran], folder: Path) -> None:
    cell = ran["01_install_client"]

    assert cell.error == ""
    assert NO_MATCH in cell.text
    assert ran["exit code of pip"].text.strip() == "1"
    assert calls(folder, "pip")[0].startswith("pip install -U atomgit atomgit_hub")


def test_install_that_fails_raises_where_ipython_is_told_to(ran: dict[str, Ran]) -> None:
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell
    if "system_raise_on_error" not in shell.class_traits():
        pytest.skip("this IPython has no system_raise_on_error")

    assert ran["raising"].error == "CalledProcessError"


def test_download_after_a_failed_install_is_the_first_to_raise(ran: dict[str, Ran]) -> None:
    assert ran["02_download"].error == "ModuleNotFoundError"
    assert "atomgit_hub" in ran["02_download"].message


@pytest.mark.parametrize("name", NAMES)
def test_export_of_the_start_cell_leaves_the_kernels_environment(
    ran: dict[str, Ran], name: str
) -> None:
    assert f"!export {name}=" in original("03_start_server")

    assert json.loads(ran["before"].text)[1][name] is None
    assert json.loads(ran["after"].text)[1][name] is None


def test_export_of_the_start_cell_is_not_seen_by_the_next_shell(ran: dict[str, Ran]) -> None:
    assert ran["next shell"].text.splitlines()[0] == "[] [] []"


def test_cd_of_the_start_cell_changes_no_directory(ran: dict[str, Ran], folder: Path) -> None:
    assert "\n!cd /opt/" in original("03_start_server")

    assert json.loads(ran["before"].text)[0] == json.loads(ran["after"].text)[0]
    assert Path(ran["next shell"].text.splitlines()[1]) == folder


def test_export_and_cd_in_one_shell_hold_until_its_end(ran: dict[str, Ran]) -> None:
    assert ran["one shell"].text.split() == ["kept", "/"]


def test_pkill_matches_its_own_shell_and_no_vllm(ran: dict[str, Ran], folder: Path) -> None:
    pattern = calls(folder, "pkill")[0].split()[-1]
    server = original("03_start_server").partition("!nohup ")[2].partition(">")[0]

    assert ran["03_start_server"].error == "OSError"  # it went on: pkill's own end is hidden
    assert pattern in (folder / "stubs" / "pkill.parent").read_text(encoding="utf-8")
    assert not re.search(pattern, server)


def test_background_start_raises_and_starts_nothing(ran: dict[str, Ran], folder: Path) -> None:
    cell = ran["03_start_server"]

    assert (cell.error, cell.message) == ("OSError", "Background processes not supported.")
    assert calls(folder, "vllm") == []
    assert not (folder / "vllm_server.log").exists()


def test_lines_after_the_background_start_do_not_run(ran: dict[str, Ran], folder: Path) -> None:
    assert len(lines_after_start()) == 4

    assert ran["03_start_server"].text.count("\n") <= 1  # at most the shell's complaint about cd
    assert "✅" not in ran["03_start_server"].text
    assert len(calls(folder, "sleep")) == 1  # the one that was run alone, below


def test_lines_after_the_background_start_run_alone_are_green(ran: dict[str, Ran]) -> None:
    rest = [cell for name, cell in ran.items() if name.startswith("rest ")]

    assert [cell.error for cell in rest] == [""] * 4
    assert "✅" in rest[0].text
    assert ran["exit code of tail"].text.strip() == "1"  # there is no log to show


@pytest.mark.parametrize("name", ["04_text", "05_image_url"])
def test_request_without_a_server_raises_instead_of_printing_its_error(
    ran: dict[str, Ran], name: str
) -> None:
    assert "response.status_code" in original(name)

    assert ran[name].error == "ProxyError"  # a ConnectionError: there is no response to look at


def test_picture_that_cannot_be_fetched_ends_in_system_exit(ran: dict[str, Ran]) -> None:
    assert ran["06_image_base64"].error == "SystemExit"
    assert "❌" in ran["06_image_base64"].text
    assert ran["next cell"].text.strip() == "still here"


def test_picture_that_cannot_be_fetched_is_a_success_for_papermill(
    folder: Path, kernel_env: dict[str, str]
) -> None:
    sources = [original("06_image_base64"), "print('never reached')"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(s) for s in sources])
    nbformat.write(notebook, folder / "in.ipynb")
    argv = [sys.executable, "-m", "papermill", "in.ipynb", "out.ipynb", "-k", "python3"]

    done = subprocess.run(argv, cwd=folder, env=kernel_env, capture_output=True, timeout=120)

    assert done.returncode == 0
    executed = nbformat.read(folder / "out.ipynb", as_version=4)
    assert executed.cells[1].execution_count is None
    assert executed.cells[1].metadata.papermill.status == "pending"


def test_env_magic_with_quotes_keeps_them_in_the_value(ran: dict[str, Ran]) -> None:
    assert ran["quoted"].text.splitlines()[-1] == "'{\"image\": 10}'"
    assert ran["unquoted"].text.splitlines()[-1] == '{"image": 10}'


def test_value_beside_a_brace_is_no_longer_filled_in(ran: dict[str, Ran]) -> None:
    assert ran["a value"].text.strip() == "--port 8001"
    assert ran["a value and a brace"].text.split() == ["--port", '{"image":', "10}"]


def test_comment_inside_a_continuation_drops_the_arguments_after_it(ran: dict[str, Ran]) -> None:
    assert ran["comment"].error == ""
    assert ran["comment"].text.strip() == "serve --port 8000"
