"""A tiny OpenAI-style HTTP server inside the test's own process: says what the test tells it to,
keeps what it was sent.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class LightOpenAI:
    """What is answered next, and the requests that came.

    Attributes:
        status, body, content_type: the answer to the next request; body is JSON unless it is bytes.
        events: server-sent events of the next streamed answer, each a dict or a raw line; None: no
            stream.
        cut: True closes the connection after the events, without an end.
        delay: seconds before an answer.
        requests: (path, headers in lower case, JSON body or None) of every request.
    """

    def __init__(self) -> None:
        self.status, self.content_type = 200, "application/json"
        self.body: Any = chat_body("Hello")
        self.events: list[Any] | None = None
        self.cut = False
        self.delay = 0.0
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.url = ""

    @property
    def sent(self) -> Any:
        """Return the JSON body of the last request."""
        return self.requests[-1][2]

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers of the last request, names in lower case."""
        return self.requests[-1][1]


class Scripted(LightOpenAI):
    """Answers each request with the next of its turns, the last one again and again."""

    turns: list[Any]

    @property
    def body(self) -> Any:
        return self.turns[min(len(self.requests), len(self.turns)) - 1]

    @body.setter
    def body(self, value: Any) -> None:
        self.turns = [value]


def chat_body(content: str | None, finish: str = "stop", **message: Any) -> dict[str, Any]:
    """Return the body of a whole chat answer."""
    told = {"role": "assistant", "content": content, **message}
    usage = {
        "prompt_tokens": 3,
        "completion_tokens": 2,
        "total_tokens": 5,
        "prompt_tokens_details": None,
    }
    return {"choices": [{"index": 0, "message": told, "finish_reason": finish}], "usage": usage}


def _handler(light: LightOpenAI) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(None)

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _answer(self, sent: Any) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            light.requests.append((self.path, headers, sent))
            time.sleep(light.delay)
            if light.events is not None and light.status == 200:
                self._stream(light.events)
                return
            raw = light.body if isinstance(light.body, bytes) else json.dumps(light.body).encode()
            self.send_response(light.status)
            self.send_header("Content-Type", light.content_type)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def _stream(self, events: list[Any]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for event in events:
                text = event if isinstance(event, str) else f"data: {json.dumps(event)}\n\n"
                raw = text.encode()
                self.wfile.write(f"{len(raw):x}\r\n".encode() + raw + b"\r\n")
            if light.cut:
                self.close_connection = True
                return
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, format: str, *values: object) -> None:
            return None

    return Handler


@contextmanager
def serving(light: LightOpenAI | None = None) -> Iterator[LightOpenAI]:
    """Return a server that listens on a free loopback port while the context lasts."""
    light = light or LightOpenAI()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(light))
    server.daemon_threads = True
    light.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
    )
    thread.start()
    try:
        yield light
    finally:
        server.shutdown()
        server.server_close()
