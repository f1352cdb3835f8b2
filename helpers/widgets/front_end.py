"""Who looks at this kernel's output: a person at a front end, or a program that only stores it.

Shows a widget with its text beside it, so that a front end without widgets shows the text.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from helpers import progress

VIEW = "application/vnd.jupyter.widget-view+json"


def is_attended() -> bool:
    """Return True where a person may click: in a kernel, outside a run, asked by a client that can
    be asked back.

    nbclient (so papermill) and nbval send `allow_stdin: false` with each cell, JupyterLab true.
    Source: "Messaging in Jupyter", execute_request; nbclient 0.11 client.py, nbval 0.11 plugin.py.
    """
    if os.environ.get("LAB_RUN") or not progress.in_notebook():
        return False
    kernel = sys.modules["IPython"].get_ipython().kernel
    request: dict[str, Any] = kernel.get_parent("shell") or {}
    return bool(request.get("content", {}).get("allow_stdin"))


def show(widget: Any, text: str) -> None:
    """Display a widget, and the text where the front end has no widgets or a page is exported."""
    from IPython.display import display

    view = {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}
    display({VIEW: view, "text/plain": text}, raw=True)  # type: ignore[no-untyped-call]
