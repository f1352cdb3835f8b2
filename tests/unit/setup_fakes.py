"""A package index on the loopback with tiny wheels, and a virtual environment made in no time."""

from __future__ import annotations

import base64
import hashlib
import http.server
import io
import signal
import subprocess
import sys
import sysconfig
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

import pytest

from helpers import paths
from helpers.setup import commands
from helpers.setup.pythons import Python

MEGABYTE = 2**20
BASE = Python(Path(sys.executable), (sys.version_info[0], sys.version_info[1], sys.version_info[2]))


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Speak English, keep every file in the test's own directory, and give the signals back."""
    monkeypatch.setenv("LAB_LANGUAGE", "en")
    monkeypatch.setattr(paths, "venvs_dir", lambda: tmp_path / "venvs")
    monkeypatch.delenv("LAB_ENGINE_PYTHON", raising=False)
    before = signal.getsignal(signal.SIGTERM)
    commands.reset()
    yield
    signal.signal(signal.SIGTERM, before)


def wheel(
    name: str, version: str, *, needs: tuple[str, ...] = (), files: dict[str, str] | None = None
) -> bytes:
    """Return the bytes of a wheel whose package holds its version only (or the given files)."""
    written = dict(files or {f"{name}/__init__.py": f"__version__ = {version!r}\n"})
    info = f"{name}-{version}.dist-info"
    needed = "".join(f"Requires-Dist: {need}\n" for need in needs)
    written[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needed}"
    )
    written[f"{info}/WHEEL"] = (
        "Wheel-Version: 1.0\nGenerator: fake\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    record = "".join(f"{path},{_record(text)}\n" for path, text in written.items())
    written[f"{info}/RECORD"] = record + f"{info}/RECORD,,\n"
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for path, text in written.items():
            archive.writestr(path, text)
    return content.getvalue()


def _record(text: str) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
    return f"sha256={digest.decode()},{len(text.encode())}"


@dataclass
class Index:
    """A PEP 503 index: wheels by file name, and what its server claims their sizes to be."""

    address: str = ""
    wheels: dict[str, bytes] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def add(self, name: str, version: str, **how: object) -> str:
        """Return the SHA-256 of a wheel that is served from now on."""
        content = wheel(name, version, **how)  # type: ignore[arg-type]
        self.wheels[f"{name}-{version}-py3-none-any.whl"] = content
        return hashlib.sha256(content).hexdigest()


@contextmanager
def serve() -> Iterator[Index]:
    """Serve an index on a free loopback port while the block runs."""
    index = Index()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(body=True)

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def _answer(self, *, body: bool) -> None:
            path = unquote(self.path).strip("/")
            index.asked.append(f"{self.command} {path}")
            first, _, name = path.partition("/")
            if first == "files" and name in index.wheels:
                content, kind = index.wheels[name], "application/octet-stream"
            elif first == "simple" and name:
                links = [
                    f'<a href="/files/{one.replace("+", "%2B")}">{one}</a>'
                    for one in index.wheels
                    if one.lower().startswith(f"{name}-")
                ]
                page = f"<!DOCTYPE html><html><body>{''.join(links)}</body></html>"
                content, kind = page.encode(), "text/html"
                if not links:
                    return self.send_error(404)
            else:
                return self.send_error(404)
            claimed = index.sizes.get(name, len(content)) if not body else len(content)
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(claimed))
            self.end_headers()
            if body:
                self.wfile.write(content)
            return None

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    index.address = f"http://127.0.0.1:{server.server_port}/simple"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield index
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def quick_venv(directory: Path) -> Path:
    """Return the Python of a new environment that sees the running one's packages, and pip."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(directory)], check=True)
    site = next(directory.glob("lib/python*/site-packages"))
    (site / "tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return directory / "bin" / "python"


def until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait until a condition holds; fail after some seconds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)
