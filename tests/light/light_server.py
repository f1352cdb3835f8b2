"""A process that is `vllm serve` from outside: it forks, loads, logs, listens, and may die.

Standard library only, so that it starts in a tenth of a second. It answers nothing clever: it is
never a model.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

STAGES = (
    "INFO 11-30 12:00:00 [__init__.py:1] Platform plugin light is activated",
    "(APIServer pid=1) INFO 11-30 12:00:00 [utils.py:1] non-default args: {}",
    "(EngineCore pid=2) INFO 11-30 12:00:00 [model.py:1] Starting to load model light...",
)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="vllm", allow_abbrev=False)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--name", default="Light")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before it listens")
    parser.add_argument(
        "--die-after", type=float, default=None, help="seconds until it ends by itself"
    )
    parser.add_argument(
        "--exit-code", type=int, default=1, help="its status when it ends by itself"
    )
    parser.add_argument(
        "--orphan", action="store_true", help="its child stays when it ends by itself"
    )
    parser.add_argument("--stubborn", action="store_true", help="ignore SIGTERM, in the child too")
    parser.add_argument(
        "--escape", action="store_true", help="the child opens a session of its own"
    )
    parser.add_argument("--flood", type=int, default=0, help="lines a second that it logs")
    parser.add_argument("--answer-after", type=float, default=0.0, help="seconds to an answer")
    parser.add_argument("--reuse-port", action="store_true", help="as vLLM up to 0.24 does")
    return parser.parse_args()


def fork_child(given: argparse.Namespace) -> int:
    """Return the number of a child that does nothing until it is ended, as an engine core may."""
    child = os.fork()
    if child == 0:
        if given.escape:
            os.setsid()
        if not given.stubborn:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        while True:
            time.sleep(3600)
    return child


def die_later(given: argparse.Namespace, child: int) -> None:
    def die() -> None:
        time.sleep(given.die_after)
        print(
            "Traceback (most recent call last):\nRuntimeError: the light server was told to die",
            flush=True,
        )
        if not given.orphan:
            os.kill(child, signal.SIGKILL)
        os._exit(given.exit_code)

    threading.Thread(target=die, daemon=True).start()


def flood(lines_a_second: int) -> None:
    """Log so many lines a second, in ten portions, for ever; a full disk does not end it."""

    def write() -> None:
        line = "INFO 11-30 12:00:00 [loggers.py:1] Engine 000: throughput 0.0 tokens/s " + "." * 80
        while True:
            try:
                print("\n".join([line] * (lines_a_second // 10)), flush=True)
            except OSError:
                pass
            time.sleep(0.1)

    threading.Thread(target=write, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 2**16  # one segment an answer; two would wait for each other's acknowledgement
    name = ""
    answer_after = 0.0

    def do_GET(self) -> None:
        bodies: dict[str, object] = {
            "/health": {},
            "/version": {"version": "0.0.0"},
            "/v1/models": {"data": [{"id": self.name, "root": "light", "max_model_len": 64}]},
        }
        self._send(
            200 if self.path in bodies else 404, bodies.get(self.path, {"detail": "Not Found"})
        )

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        time.sleep(self.answer_after)
        said = f"light: {asked['messages'][-1]['content']}"
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": said},
            "finish_reason": "stop",
        }
        usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
        self._send(200, {"choices": [choice], "usage": usage})

    def _send(self, status: int, body: object) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *values: object) -> None:
        return None


class Listener(ThreadingHTTPServer):
    daemon_threads = True
    reuse_port = False

    def server_bind(self) -> None:
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if self.reuse_port:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self.socket.bind(self.server_address)


def main() -> None:
    given = arguments()
    if given.stubborn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = fork_child(given)
    if given.die_after is not None:
        die_later(given, child)
    for line in STAGES:
        print(line, flush=True)
    if given.flood:
        flood(given.flood)
    time.sleep(given.delay)
    Handler.name, Handler.answer_after = given.name, given.answer_after
    Listener.reuse_port = given.reuse_port
    listener = Listener((given.host, given.port), Handler)
    print("INFO:     Application startup complete.", flush=True)
    listener.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
