"""A hub on 127.0.0.1 that serves one directory as one repository, so that the download step really
runs where AtomGit cannot be reached or the real weights are not wanted.

Speaks what the AtomGit client asks for (MECHANICS of huggingface_hub 1.1.7): models, revision,
tree, resolve, and a redirect for large files. Injects no faults: tests derive from `Handler`.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from helpers.download import hashing

LARGE = (".safetensors", ".bin", ".gguf", ".pt")
"""Endings of files that git-lfs holds: known by their sha256, served through a redirect."""

BLOCK = 2**20


@dataclass(frozen=True)
class Entry:
    """One file of the repository, hashed when first asked for."""

    name: str
    path: Path

    @property
    def large(self) -> bool:
        """Return whether git-lfs would hold it."""
        return self.name.endswith(LARGE)

    @cached_property
    def size(self) -> int:
        """Return its bytes."""
        return self.path.stat().st_size

    @cached_property
    def etag(self) -> str:
        """Return the sha256 of a large file, the git blob sha1 of another."""
        return hashing.digest(self.path, "sha256" if self.large else "git-sha1")


@dataclass
class Hub:
    """A repository and where it is served.

    Attributes:
        url: what `download(…, hub=…)` takes; its port is a free one.
        repo: "owner/name".
        files: name → entry.
        token: who does not send it gets 401; "" serves everybody.
    """

    repo: str
    files: dict[str, Entry]
    token: str = ""
    url: str = ""
    asked: list[str] = field(default_factory=list)

    @cached_property
    def commit(self) -> str:
        """Return 40 hexadecimal digits that change with any file's content, as a commit's do."""
        listing = "".join(f"{one.etag} {one.name}\n" for _, one in sorted(self.files.items()))
        return sha1(listing.encode()).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of the client; a test overrides what it wants to go wrong."""

    protocol_version = "HTTP/1.1"
    hub: Hub

    def do_HEAD(self) -> None:
        """Answer with the headers only."""
        self._route(body=False)

    def do_GET(self) -> None:
        """Answer with the body."""
        self._route(body=True)

    def _route(self, *, body: bool) -> None:
        path = unquote(urlparse(self.path).path).strip("/")
        self.hub.asked.append(f"{self.command} {path}")
        if self.hub.token and self.headers.get("Authorization") != f"Bearer {self.hub.token}":
            return self.refuse(401)
        repo = re.escape(self.hub.repo)
        if re.fullmatch(f"api/models/{repo}", path):
            return self.answer({"id": self.hub.repo, "default_branch": "main"}, body)
        known = f"(main|{self.hub.commit})"
        if re.fullmatch(f"api/models/{repo}/revision/{known}", path):
            return self.answer(self.revision(), body)
        if re.fullmatch(f"api/models/{repo}/tree/{known}", path):
            return self.answer(self.tree(), body)
        if found := re.fullmatch(f"{repo}/resolve/{known}/(.+)", path):
            return self.resolve(found.group(2), body)
        if found := re.fullmatch("lfs/([0-9a-f]{64})", path):
            return self.large(found.group(1), body)
        return self.refuse(404)

    def revision(self) -> dict[str, Any]:
        """Return what the repository is at this commit: its files' names, as the hub lists them."""
        names = [{"rfilename": name} for name in sorted(self.hub.files)]
        return {
            "_id": self.hub.commit[:24], "id": self.hub.repo, "modelId": self.hub.repo,
            "sha": self.hub.commit, "private": False, "tags": [], "downloads": 0, "likes": 0,
            "siblings": names,
        }  # fmt: skip

    def tree(self) -> list[dict[str, Any]]:
        """Return the files with sizes, as huggingface_hub asks for them in large repositories."""
        return [
            {"type": "file", "path": name, "size": one.size, "oid": one.etag[:40]}
            for name, one in sorted(self.hub.files.items())
        ]

    def resolve(self, name: str, body: bool) -> None:
        """Answer for one file by its name: itself, or where its large content lies."""
        entry = self.hub.files.get(name)
        if entry is None:
            return self.refuse(404, {"X-Error-Code": "EntryNotFound"})
        head = {
            "X-Repo-Commit": self.hub.commit,
            "X-Linked-Size": str(entry.size),
            "X-Linked-Etag": f'"{entry.etag}"',
        }
        if not entry.large:
            return self.send_file(entry, body, head | {"ETag": f'"{entry.etag}"'})
        self.send_response(302)
        for key, value in head.items():
            self.send_header(key, value)
        self.send_header("Location", f"{self.hub.url}/lfs/{entry.etag}")
        self.send_header("Content-Length", "0")
        self.end_headers()
        return None

    def large(self, digest: str, body: bool) -> None:
        """Answer for one file by its sha256."""
        for entry in self.hub.files.values():
            if entry.large and entry.etag == digest:
                return self.send_file(entry, body, {"ETag": f'"{digest}"'})
        return self.refuse(404)

    def send_file(self, entry: Entry, body: bool, head: dict[str, str]) -> None:
        """Answer with a file, or with the part from where an interrupted download goes on."""
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        start = int(asked.group(1)) if asked else 0
        if asked and start >= entry.size:
            return self.refuse(416, {"Content-Range": f"bytes */{entry.size}"})
        end = min(int(asked.group(2)), entry.size - 1) if asked and asked.group(2) else None
        stop = entry.size if end is None else end + 1
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{entry.size}")
        for key, value in head.items():
            self.send_header(key, value)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(stop - start))
        self.end_headers()
        if body:
            self.send_bytes(entry, start, stop)
        return None

    def send_bytes(self, entry: Entry, start: int, stop: int) -> None:
        """Send the bytes of a file from start up to stop."""
        with entry.path.open("rb") as file:
            file.seek(start)
            while start < stop and (block := file.read(min(BLOCK, stop - start))):
                self.wfile.write(block)
                start += len(block)

    def answer(self, value: object, body: bool) -> None:
        """Answer with JSON."""
        raw = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        if body:
            self.wfile.write(raw)

    def refuse(self, status: int, head: dict[str, str] | None = None) -> None:
        """Answer with a status and no body."""
        self.send_response(status)
        for key, value in (head or {}).items():
            self.send_header(key, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *values: object) -> None:
        """Stay quiet: a lab's output is the lesson's."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay quiet when a client goes away in the middle: interrupted downloads do that."""


@contextmanager
def loopback_hub(
    folder: str | Path,
    repo: str,
    *,
    token: str = "",
    handler: type[Handler] = Handler,
) -> Iterator[Hub]:
    """Serve a directory as a repository while the block runs; gives the hub with its `url`.

    Hidden files, what lies below hidden directories, and Python's caches are left out.

    Args:
        folder: directory of a checkpoint.
        repo: the name that it is served under, "owner/name".
        token: what a client must send, for a private repository; "" for a public one.
        handler: what answers.
    """
    root = Path(folder)
    names = {
        path.relative_to(root).as_posix(): path
        for path in sorted(root.rglob("*"))
        if path.is_file()
        and not any(p.startswith(".") or p == "__pycache__" for p in path.relative_to(root).parts)
    }
    hub = Hub(repo, {name: Entry(name, path) for name, path in names.items()}, token)
    server = _Server(("127.0.0.1", 0), type("Bound", (handler,), {"hub": hub}))
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
