"""A process that behaves like a server, for experiments: loads for a while, then answers /health.

Standard library only, so that it starts in a tenth of a second. It serves no model and is never
one. Usage: python -m helpers.light --port 8123 --load-seconds 3 --token abc [--engine]
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ENGINE_NAME = "LIGHT::Engine"
"""What `ps` shows for the second process: like vLLM's VLLM::EngineCore, it does not carry the
command line of the first.
"""

LIFETIME = 600.0
"""Seconds after which it ends by itself, whoever has forgotten it."""


def arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="light", allow_abbrev=False)
    parser.add_argument("--port", type=int, default=0, help="0: listens nowhere")
    parser.add_argument("--load-seconds", type=float, default=0.0, help="until it listens")
    parser.add_argument("--token", default="", help="a word to recognise it by")
    parser.add_argument("--engine", action="store_true", help=f"also start {ENGINE_NAME}")
    parser.add_argument("--die-after", type=float, help="seconds until it ends by itself")
    parser.add_argument("--exit-code", type=int, default=1, help="its status when it does")
    return parser.parse_args(argv)


class Health(BaseHTTPRequestHandler):
    """Answers /health, nothing else."""

    def do_GET(self) -> None:
        """Answer 200 on /health and 404 elsewhere."""
        self.send_response(200 if self.path == "/health" else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *values: object) -> None:
        """Stay quiet: the log belongs to the experiment."""


def start_engine() -> None:
    """Start the second process, in the same group and under a name of its own.

    The name is a path beside the interpreter, so that Python still finds its library.
    """
    code = f"import time; time.sleep({LIFETIME})"
    name = str(Path(sys.executable).with_name(ENGINE_NAME))
    subprocess.Popen([name, "-I", "-S", "-c", code], executable=sys.executable)


def end_later(seconds: float, code: int) -> None:
    """End this process at a later time, whatever it does then."""

    def end() -> None:
        time.sleep(seconds)
        print(f"RuntimeError: told to end with exit code {code}", flush=True)
        os._exit(code)

    threading.Thread(target=end, daemon=True).start()


def main(argv: Sequence[str] | None = None) -> None:
    """Load, listen, and go on until a signal comes."""
    given = arguments(argv)
    if given.engine:
        start_engine()
    if given.die_after is not None:
        end_later(given.die_after, given.exit_code)
    else:
        end_later(LIFETIME, 0)
    print("loading", flush=True)
    time.sleep(given.load_seconds)
    if not given.port:
        while True:
            signal.pause()
    listener = ThreadingHTTPServer(("127.0.0.1", given.port), Health)
    print("startup complete", flush=True)
    listener.serve_forever()


if __name__ == "__main__":
    main()
