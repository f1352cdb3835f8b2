"""One line that changes while something is awaited: a display handle in a notebook, a line now and
then in a terminal.

Silent in a run (LAB_RUN is set): papermill and nbval store outputs, and stored progress is noise
that differs each time.
"""

from __future__ import annotations

import os
import sys
import time
from html import escape
from types import TracebackType
from typing import Any

TERMINAL_SECONDS = 10.0


def in_notebook() -> bool:
    """Return True in a Jupyter kernel, without importing IPython where nobody has."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")


class Live:
    """A context in which `update` replaces what is shown, `step` adds a line that stays, and `done`
    leaves the last line under the steps.
    """

    def __init__(self) -> None:
        self._handle: Any = None
        self._last = ""
        self._steps: list[str] = []
        self._printed = time.monotonic()
        self._quiet = bool(os.environ.get("LAB_RUN"))

    def __enter__(self) -> Live:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None

    def update(self, text: str) -> None:
        """Show a state; the same text again shows nothing."""
        if self._quiet or text == self._last:
            return
        self._last = text
        if in_notebook():
            self._show(text)
        elif time.monotonic() - self._printed >= TERMINAL_SECONDS:
            self._printed = time.monotonic()
            print(text, flush=True)

    def step(self, text: str) -> None:
        """Show a line that stays: above what changes in a notebook, at once on a terminal."""
        if self._quiet:
            return
        self._steps.append(text)
        if in_notebook():
            self._show(self._last)
        else:
            self._printed = time.monotonic()
            print(text, flush=True)

    def done(self, text: str) -> None:
        """Show the last state, which stays."""
        if self._handle is not None:
            self._show(text)
        else:
            print(text, flush=True)

    def _show(self, text: str) -> None:
        from IPython.display import display

        text = "\n".join([*self._steps, text])
        bundle = {"text/plain": text, "text/html": f"<pre style='margin:0'>{escape(text)}</pre>"}
        if self._handle is None:
            self._handle = display(bundle, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(bundle, raw=True)
