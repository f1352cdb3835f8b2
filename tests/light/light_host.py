"""A host of pictures that misbehaves: redirects, logs in, breaks off, fails, or never answers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class LightHost:
    """What a path answers.

    Attributes:
        picture: bytes of the picture that /good gives, and /redirect leads to.
        paths: every path that was asked for, in order.
        slow: set to let /slow answer.
    """

    def __init__(self, picture: bytes) -> None:
        self.picture = picture
        self.paths: list[str] = []
        self.slow = threading.Event()
        self.base = ""

    def url(self, path: str) -> str:
        """Return the address of a path."""
        return self.base + path


def _handler(host: LightHost) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host.paths.append(self.path)
            if self.path == "/slow":
                host.slow.wait()
            body, length, status, more = self._answer()
            self.send_response(status)
            for name, value in more.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(length))
            self.end_headers()
            try:
                self.wfile.write(body)
            except ConnectionError:  # the fetcher gave up
                self.close_connection = True

        def _answer(self) -> tuple[bytes, int, int, dict[str, str]]:
            whole = host.picture
            if self.path == "/redirect":
                return b"", 0, 302, {"Location": "/good"}
            if self.path == "/login":
                page = b"<!DOCTYPE html><html>please log in</html>"
                return page, len(page), 200, {"Content-Type": "text/html"}
            if self.path == "/broken-off":
                return whole[:100], len(whole), 200, {"Content-Type": "image/png"}
            if self.path == "/fails":
                return b"", 0, 503, {}
            if self.path == "/gone":
                return b"", 0, 404, {}
            return whole, len(whole), 200, {"Content-Type": "image/png"}

        def log_message(self, format: str, *values: object) -> None:
            return None

    return Handler


@contextmanager
def hosting(picture: bytes) -> Iterator[LightHost]:
    """Return a host on a free loopback port while the context lasts."""
    host = LightHost(picture)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(host))
    server.daemon_threads = True
    host.base = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
    )
    thread.start()
    try:
        yield host
    finally:
        host.slow.set()
        server.shutdown()
        server.server_close()
        thread.join()
