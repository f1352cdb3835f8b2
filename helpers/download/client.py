"""The AtomGit client as a process: its own environment, a scrubbed one, its words, its end.

Knows how to start and read it; what its failures mean, and whether to try again, is `fetch`'s.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from helpers import environment, interpreters, messages, paths
from helpers.download import access, driver, errors
from helpers.download.patience import Patience
from helpers.setup import atomgit

KEPT = (
    "PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
    "http_proxy", "https_proxy", "all_proxy", "no_proxy",
    "LD_LIBRARY_PATH", "SYSTEMROOT", "LAB_RUN",
)  # fmt: skip
"""What the client's process is given of our environment: how to reach the network, and the run that
it belongs to. No token, no HF_ variable of the learner's, none of the kernel's Python.
"""

RETURNED_EXISTING = "Returning existing local_dir"
"""What huggingface_hub says when it has fetched nothing and calls that a success."""


@dataclass(frozen=True)
class Outcome:
    """How a run of the client ended.

    Attributes:
        ok: it says that it succeeded and does not say that it fetched nothing. Not yet a success:
            that is `verify`'s word.
        chain: its exception and those that led to it, "Type: text" each, masked.
        tail: its last lines, masked.
        silent: we ended it, because no byte came.
    """

    ok: bool
    chain: tuple[str, ...] = ()
    tail: str = ""
    silent: bool = False

    @property
    def words(self) -> str:
        """Return all that it said of a failure, to search in."""
        return "\n".join([*self.chain, self.tail])

    @property
    def original(self) -> str:
        """Return the text to keep: the innermost exception's, else its last lines."""
        return self.chain[-1] if self.chain else self.tail


@dataclass
class Client:
    """One running client."""

    process: subprocess.Popen[str]
    log: Path
    secret: str = field(default="", repr=False)
    _lines: deque[str] = field(default_factory=lambda: deque(maxlen=40))
    _result: dict[str, Any] | None = None
    _existing: bool = False
    _reader: threading.Thread | None = None

    def poll(self) -> int | None:
        """Return its exit status, or None while it runs."""
        return self.process.poll()

    def end(self) -> None:
        """End it and wait until it is gone; what it has written stays and is resumed."""
        if self.process.stdin:
            self.process.stdin.close()
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def outcome(self, *, silent: bool = False) -> Outcome:
        """Return how it ended, after its last words have been read."""
        self.process.wait()
        if self._reader:
            self._reader.join(10)
        if self.process.stdin and not self.process.stdin.closed:
            self.process.stdin.close()
        result = self._result or {}
        chain = tuple(
            access.masked(f"{one['type']}: {one['text']}", self.secret)
            for one in result.get("errors", [])
        )
        ok = bool(result.get("ok")) and not self._existing and not silent
        return Outcome(ok, chain, "\n".join(self._lines), silent)

    def _read(self) -> None:
        """Take in what it says; the log gets it masked."""
        assert self.process.stdout
        with self.log.open("a", encoding="utf-8") as log, self.process.stdout:
            for line in self.process.stdout:
                if line.startswith(driver.RESULT):
                    self._result = json.loads(line.removeprefix(driver.RESULT))
                    continue
                self._existing = self._existing or RETURNED_EXISTING in line
                words = access.masked(line.rstrip(), self.secret)
                if words:
                    self._lines.append(words)
                    log.write(words + "\n")
                    log.flush()


def start(
    repo: str, revision: str, directory: Path, endpoint: str, token: str, patience: Patience
) -> Client:
    """Return the client, started on one download.

    Its own session, so that a Ctrl-C meant for us does not end it in its own way; the pipe to its
    standard input ends it when we are gone.

    Raises:
        OSError: its Python cannot be run.
    """
    log = _log(repo)
    process = subprocess.Popen(
        [str(interpreters.atomgit_python()), "-I", "-X", "utf8", driver.__file__],
        env=variables(endpoint, patience),
        cwd=_home(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    client = Client(process, log, token)
    client._reader = threading.Thread(target=client._read, daemon=True)
    client._reader.start()
    request = {
        "repo": repo, "revision": revision, "directory": str(directory), "endpoint": endpoint,
        "token": token, "answer": patience.answer,
    }  # fmt: skip
    assert process.stdin
    try:
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
    except OSError:  # it died at once: its last words say why
        pass
    return client


def variables(endpoint: str, patience: Patience) -> dict[str, str]:
    """Return the whole environment of the client's process.

    HOME is a directory of ours: the client makes ~/.atomgit and ~/.cache/atomgit, and would read a
    token from there.
    """
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return (
        kept
        | environment.no_proxy(kept)
        | {
            "HOME": str(_home()),
            "HF_ENDPOINT": endpoint,
            "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DOWNLOAD_TIMEOUT": str(max(1, round(patience.answer))),
        }
    )


def prepare(say: Callable[[str], None], show: Callable[[str], None]) -> None:
    """Make the client's environment where it is not there yet: half a minute, once.

    A process of its own, so that its output can be shown as ours and Ctrl-C ends it cleanly.

    Args:
        say: shows a line that stays.
        show: shows a line that the next one replaces.
    Raises:
        ClientMissing: it could not be made; carries setup's last lines.
    """
    if atomgit.is_made():
        return
    say(messages.text("download.preparing"))
    log = paths.venvs_dir() / "logs" / "atomgit.log"
    others = [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]
    found = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(paths.ROOT), *others]),
        "LAB_LANGUAGE": messages.language(),
    }
    lines: deque[str] = deque(maxlen=15)
    with subprocess.Popen(
        [sys.executable, "-m", "helpers", "setup", "--only", "atomgit"],
        env=found, cwd=paths.ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, encoding="utf-8", errors="replace",
    ) as process:  # fmt: skip
        assert process.stdout
        for line in process.stdout:
            lines.append(line.rstrip())
            if line.startswith("["):
                show(line.rstrip())
    if process.returncode or not atomgit.is_made():
        raise errors.ClientMissing(log=paths.shown(log), evidence="\n".join(lines))


def _home() -> Path:
    home = paths.state_dir() / "atomgit-home"
    home.mkdir(parents=True, exist_ok=True)
    return home


def _log(repo: str) -> Path:
    log = log_of(repo)
    log.parent.mkdir(parents=True, exist_ok=True)
    return log


def log_of(repo: str) -> Path:
    """Return the file with the client's words about a repository."""
    return paths.state_dir() / "downloads" / f"{repo.replace('/', '--')}.log"
