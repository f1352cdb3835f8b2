"""What of a run may leave the machine: secrets, addresses, hosts and home directories may not.

Texts are cleaned wherever they stand; parameters are kept where their value says nothing of a
person or a network. Decides nothing about claims.
"""

from __future__ import annotations

import getpass
import os
import re
import socket
from typing import Any

from helpers import paths
from helpers.download.access import masked
from helpers.environment import SECRET_ENDINGS
from helpers.schemas import Report, Run

TOLD = ("LANGUAGE", "ENGINE", "DTYPE", "SERVED_MODEL_NAME", "MODEL_REPO", "SOURCE")
"""Parameters that are text and are told as they are; other texts are replaced."""

SHORTEST = 6
"""Characters from which a secret, a host's or a user's name is replaced wherever it stands; what
is shorter would also hit words that have nothing to do with it.
"""

_HOST = re.compile(r"(?<=://)(?!127\.0\.0\.1\b|localhost\b)[^/\s'\"\\)]+")


def cleaned(value: Any) -> Any:
    """Return JSON-able data with every text in it cleaned."""
    if isinstance(value, dict):
        return {name: cleaned(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [cleaned(one) for one in value]
    return _text(value) if isinstance(value, str) else value


def _text(words: str) -> str:
    for secret in _secrets():
        words = words.replace(secret, "****")
    words = _HOST.sub("HOST", masked(paths.shown(words)))
    for name in _names():
        words = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", "HOST", words)
    return words


def _secrets() -> list[str]:
    """Return the values of this process's variables that are secrets by their names."""
    found = {value for name, value in os.environ.items() if name.upper().endswith(SECRET_ENDINGS)}
    return sorted((one for one in found if len(one) >= SHORTEST), key=len, reverse=True)


def _names() -> list[str]:
    """Return the names of this host and its user that are long enough to be told apart."""
    host = socket.gethostname()
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a uid without a name: KeyError until Python 3.12
        user = ""
    return [one for one in (host, host.partition(".")[0], user) if len(one) >= SHORTEST]


def report(whole: Report, kept: list[Run]) -> Report:
    """Return a report of the runs that are kept, cleaned."""
    runs = [
        run.model_copy(update={"parameters": _parameters(run.parameters)}).model_dump(by_alias=True)
        for run in kept
    ]
    data = whole.model_copy(update={"runs": []}).model_dump(by_alias=True)
    return Report.model_validate(cleaned(data | {"runs": runs}))


def _parameters(given: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value if name in TOLD or not isinstance(value, str | list | dict) else "…"
        for name, value in given.items()
    }
