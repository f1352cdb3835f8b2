"""Runs in the AtomGit client's environment: one real `atomgit_hub.snapshot_download`, then ends.

Standard input: one line of JSON, then nothing until the parent is gone; the end of that pipe, also
by SIGKILL of the parent, ends this process. Standard output: the client's own words and, last, a
line that begins with RESULT. Never imported for its work: the kernel must not load the client,
which changes the environment and the home directory of whoever imports it.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
import time
from typing import Any

RESULT = "\x1eRESULT "
CHUNK = 2**20
"""Bytes that the client writes at a time. Its own 10 MiB would hide a slow connection's progress
and lose more when it is cut.
"""


def main() -> int:
    """Return 0 after the client has said that it succeeded, else 1."""
    request: dict[str, Any] = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        found = _download(request)
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent names it
        _report({"ok": False, "errors": _chain(error)})
        return 1
    _report({"ok": True, "path": found, "errors": []})
    return 0


def _download(request: dict[str, Any]) -> str:
    """Return where the client says that it put the repository."""
    # Before atomgit_hub, whose import sets HF_ENDPOINT to its own hub: huggingface_hub reads the
    # variable once, when it is imported, atomgit_hub at each request.
    constants = importlib.import_module("huggingface_hub.constants")
    constants.DOWNLOAD_CHUNK_SIZE = CHUNK  # type: ignore[attr-defined]
    client = importlib.import_module("atomgit_hub")
    _mend_limiter()
    os.environ["HF_ENDPOINT"] = request["endpoint"]
    found = client.snapshot_download(
        request["repo"],
        revision=request["revision"],
        local_dir=request["directory"],
        token=request["token"] or None,
        etag_timeout=request["answer"],
    )
    return str(found)


def _mend_limiter() -> None:
    """Let the client's rate limiter return: it keeps its rate, and asks for one slot only.

    Seen with atomgit 1.0.17: while it waits for its slot it reserves another one each second, so
    that the third request in a row for a path with /api/v1/file/ waits for ever.
    """
    limiter = importlib.import_module("atomgit.rate_limiter").SharedRateLimiter
    guard, slot = threading.Lock(), [0.0]

    def acquire(self: Any) -> None:
        with guard:
            now = time.monotonic()
            slot[0] = max(slot[0], now - self.burst / self.rate) + 1.0 / self.rate
            wait = slot[0] - now
        time.sleep(max(0.0, wait))

    limiter.acquire = acquire


def _chain(error: BaseException) -> list[dict[str, str]]:
    """Return an exception and those that led to it: the client replaces the original texts."""
    found: list[dict[str, str]] = []
    now: BaseException | None = error
    while now is not None and len(found) < 8:
        found.append({"type": type(now).__name__, "text": str(now)[:2000]})
        now = now.__cause__ or now.__context__
    return found


def _report(result: dict[str, Any]) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    sys.stdout.write(RESULT + json.dumps(result) + "\n")
    sys.stdout.flush()


def _end_with_parent() -> None:
    """Wait for the end of standard input, then end at once: what is half written stays as it is and
    is resumed.
    """
    while os.read(0, 4096):
        continue
    os._exit(3)


if __name__ == "__main__":
    # Not sys.exit: the client's threads may wait for a hub that never answers.
    code = main()
    sys.stdout.flush()
    os._exit(code)
