"""The AtomGit token: from LAB_ATOMGIT_TOKEN, else asked for once where somebody can answer; and its
masking in whatever is shown or logged.

It is kept in this process's memory only: never in argv, a file, a log or a child's environment (the
client gets it through its standard input). HF_TOKEN belongs to another hub and is not looked at.
"""

from __future__ import annotations

import os
import sys
from getpass import getpass

from helpers import masking, messages, progress

VARIABLE = "LAB_ATOMGIT_TOKEN"


def token() -> str:
    """Return the token of the environment, or "" where there is none."""
    return os.environ.get(VARIABLE, "").strip()


def ask(repo: str) -> str:
    """Return the token that the learner typed, or "" where nobody can be asked (a run, a pipe)."""
    answerable = progress.in_notebook() or (sys.stdin is not None and sys.stdin.isatty())
    if os.environ.get("LAB_RUN") or not answerable:
        return ""
    try:
        return getpass(messages.text("download.ask_token", repo=repo)).strip()
    except (EOFError, NotImplementedError, RuntimeError):  # ipykernel: StdinNotImplementedError
        return ""


def masked(words: str, secret: str = "") -> str:
    """Return a text without the token and whatever else in it is secret."""
    return masking.masked(words, [secret] if secret else ())
