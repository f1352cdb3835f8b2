"""What of a run may leave the machine: secrets, addresses, hosts and home directories may not.

`masking` takes out of a text what is secret; here it is told whose machine this is, and parameters
are kept where their value says nothing of a person or a network. Decides nothing about claims.
"""

from __future__ import annotations

import getpass
import os
import re
import socket
from pathlib import Path
from typing import Any

from helpers import paths
from helpers.masking import Mask
from helpers.schemas import Report, Run

TOLD = ("LANGUAGE", "ENGINE", "DTYPE", "SERVED_MODEL_NAME", "MODEL_REPO", "SOURCE")
"""Parameters that are text and are told as they are; other texts are replaced."""

SHORTEST = 6
"""Characters from which a host's or a user's name is taken out; a shorter one may be a word."""

_HOST = re.compile(r"(?<=://)(?!127\.0\.0\.1\b|localhost\b|<)[^/\s'\"\\)?]+")


def cleaned(value: Any) -> Any:
    """Return JSON-able data with every text in it cleaned."""
    return _without_hosts(_mask().of_data(value))


def _without_hosts(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_hosts(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_without_hosts(one) for one in value]
    return _HOST.sub("<host>", paths.shown(value)) if isinstance(value, str) else value


def _mask() -> Mask:
    """Return a mask that knows this process's secrets, this host, its user and their home."""
    host, home = socket.gethostname(), str(Path.home())
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a uid without a name: KeyError until Python 3.12
        user = ""
    named = {host: "<host>", host.partition(".")[0]: "<host>", user: "<user>"}
    places = {name: mark for name, mark in named.items() if len(name) >= SHORTEST}
    mask = Mask(places=places | ({home: "<home>"} if home != "/" else {}))
    mask.learn_environment(os.environ)
    return mask


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
