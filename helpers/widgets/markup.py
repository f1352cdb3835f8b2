"""The HTML of what a panel shows. Every text is escaped: what a model, a server or a file name
says is never markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from helpers import checkpoint, messages
from helpers.errors import LabError
from helpers.widgets.conversation import Segment, Turn

COLOURS = checkpoint.COLOURS | {"open": "#94a3b8"}
STATES = {"running": "widgets.running", "stopped": "widgets.stopped", "failed": "widgets.failed"}
_TEXT = "white-space:pre-wrap;overflow-wrap:anywhere;line-height:1.5"
_BADGE = "color:#fff;background:{};padding:.1em .5em;border-radius:.3em"


def badge(text: str, colour: str) -> str:
    """Return a short text on a colour."""
    return f"<b style='{_BADGE.format(colour)}'>{escape(text)}</b>"


def head(name: str, label: str) -> str:
    """Return the panel's first line: whom one talks to, labelled where it is a stand-in."""
    title = messages.text("widgets.playground.title", name=name)
    marked = f" {badge(label, '#b45309')}" if label else ""
    return f"<div><b>{escape(title)}</b>{marked}</div>"


def question(text: str) -> str:
    """Return what the user has asked."""
    style = f"{_TEXT};background:#e0e7ff;color:#1e1b4b;padding:.4em .7em;border-radius:.5em"
    return f"<div class='labs-question' style='{style}'>{escape(text)}</div>"


def segment(one: Segment) -> str:
    """Return a part of an answer."""
    if one.kind == "tool" or one.kind == "result":
        name = messages.text("widgets.tool" if one.kind == "tool" else "widgets.result")
        code = f"<code style='overflow-wrap:anywhere'>{escape(one.text)}</code>"
        return f"<div class='labs-{one.kind}'><b>{escape(name)}</b> {code}</div>"
    grey = ";color:#64748b" if one.kind == "thinking" else ""
    text = escape(one.text.strip())
    return f"<div class='labs-{one.kind}' style='{_TEXT}{grey}'>{text}</div>"


def ending(turn: Turn, label: str) -> str:
    """Return the line under an answer: how it ended, its tokens and time; or its error."""
    kind = f"labs-ending labs-{turn.state}"
    if turn.error is not None:
        return f"<div class='{kind}'>{error(turn.error)}</div>"
    told = [messages.text(STATES[turn.state])] if turn.state in STATES else []
    if turn.answer is not None:
        usage = turn.answer.usage
        counts = " + ".join(str(usage.get(f"{n}_tokens", "?")) for n in ("prompt", "completion"))
        told += [turn.answer.finish_reason, f"{counts} tokens", f"{turn.answer.seconds:.1f} s"]
        told += [turn.answer.warning] if turn.answer.warning else []
    marked = f"{badge(label, '#b45309')} " if label else ""
    line = f"<small style='color:#64748b'>{escape(' · '.join(told))}</small>"
    return f"<div class='{kind}'>{marked}{line}</div>"


def error(one: LabError) -> str:
    """Return an error's own words: what, why, next."""
    style = f"{_TEXT};border-left:.3em solid #b91c1c;padding:0 .6em"
    return f"<pre class='labs-error' style='{style}'>{escape(one.told())}</pre>"


def note(text: str) -> str:
    """Return a remark."""
    return f"<small>{escape(text)}</small>"


def steps(title: str, lines: Sequence[tuple[str, str, str]]) -> str:
    """Return the board: each step's status as a coloured word.

    Args:
        lines: (step, status, the status in words).
    """
    rows = "".join(
        f"<div>{badge(word, COLOURS[status])} <code>{escape(step)}</code></div>"
        for step, status, word in lines
    )
    style = "columns:16em;line-height:1.9"
    return f"<div class='labs-board'><b>{escape(title)}</b><div style='{style}'>{rows}</div></div>"
