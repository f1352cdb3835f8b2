"""The board of a lab's checkpoints: the catalogue's steps, each with the status that it has by now.

It shows what `checkpoint` has recorded in this kernel, and checks nothing.
"""

from __future__ import annotations

from typing import Any

from helpers import catalog, checkpoint, messages
from helpers.widgets import front_end, markup

_handles: dict[str, Any] = {}


def board(lab: str = "") -> None:
    """Show the lab's checkpoints with their status; it goes on as the notebook does.

    A second call shows the same board in another place; both go on. In a run, as text, it is what
    holds at that moment.

    Args:
        lab: key of the catalogue; "" takes the lab that this notebook has begun.
    Raises:
        UnknownLab: the catalogue has no such lab; no lab has begun.
    """
    entry = catalog.lab(lab or checkpoint.lab())
    bundle = _bundle(entry["id"])
    if not front_end.is_attended():
        print(bundle["text/plain"])
        return
    from IPython.display import display

    handle = _handles.get(entry["id"])
    if handle is not None:
        display(bundle, raw=True, display_id=handle.display_id)  # type: ignore[no-untyped-call]
        return
    if not _handles:
        checkpoint.watch(_update)
    _handles[entry["id"]] = display(bundle, raw=True, display_id=True)  # type: ignore[no-untyped-call]


def _update(lab: str) -> None:
    if lab in _handles:
        _handles[lab].update(_bundle(lab), raw=True)


def _bundle(lab: str) -> dict[str, str]:
    seen = checkpoint.statuses(lab)
    steps = [one["id"] for one in catalog.lab(lab)["checkpoints"]]
    lines = []
    for step in steps:
        status = seen.get(step, "open")
        name = "widgets.board.open" if status == "open" else f"checkpoint.status.{status}"
        lines.append((step, status, messages.text(name)))
    done = sum(status != "open" for _, status, _ in lines)
    title = messages.text("widgets.board.title", lab=lab, done=done, all=len(lines))
    plain = "\n".join([title, *(f"  {word} · {step}" for step, _, word in lines)])
    return {"text/plain": plain, "text/html": markup.steps(title, lines)}
