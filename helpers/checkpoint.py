"""Checkpoints: each prints its result for the learner and leaves a machine-readable record in the
cell's output.

An executed notebook is the only artifact that a report needs. What is true is decided by the lab's
own condition.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from html import escape
from typing import Any

from helpers import catalog, messages, models, server
from helpers.engines import Engine
from helpers.errors import CheckFailed, LabError
from helpers.models import Model
from helpers.server import RemoteServer

MIME = "application/vnd.labs.checkpoint+json"
STATUSES = ("pass", "fail", "skipped", "todo", "kept")
COLOURS = {
    "pass": "#15803d",
    "fail": "#b91c1c",
    "skipped": "#64748b",
    "todo": "#b45309",
    "kept": "#1d4ed8",
}

_context: dict[str, Any] = {
    "lab": "",
    "engine": None,
    "model": None,
    "stand_in": None,
    "versions": {},
    "capabilities": None,
}
_since = time.monotonic()
_statuses: dict[str, dict[str, str]] = {}
_watchers: list[Callable[[str], None]] = []


def lab() -> str:
    """Return the lab that has begun in this kernel, or ""."""
    return str(_context["lab"])


def statuses(lab_id: str) -> dict[str, str]:
    """Return the last status of each step of a lab that this kernel has recorded."""
    return dict(_statuses.get(lab_id, {}))


def watch(tell: Callable[[str], None]) -> None:
    """Have a function called with the lab's id after each record."""
    _watchers.append(tell)


def begin(
    lab: str,
    engine: Engine | None = None,
    model: Model | None = None,
    versions: dict[str, str] | None = None,
) -> None:
    """Say which lab, engine and model the later checkpoints belong to; starts their clock.

    Args:
        lab: key of the catalogue, for instance "02_minicpm5".
        engine: the one selected; None in a lab that has none.
        model: the checkpoint that is served; None in a lab that has none.
        versions: what the record says of versions; None takes the engine's.
    """
    global _since
    found = versions if versions is not None else engine.versions() if engine else {}
    _context.update(
        lab=lab,
        engine=engine.name if engine else None,
        model=model.origin if model else None,
        stand_in=model.stand_in if model else None,
        versions=found,
        capabilities=model.capabilities if model else None,
    )
    _since = time.monotonic()


def check(step: str, condition: object, reason: str = "", **detail: Any) -> None:
    """Record whether a step's condition holds; a failed one is recorded first, then raised.

    Where the served model lacks what the catalogue says that the step needs (a thinking switch in
    its chat template, tools, the course's facts), the step is recorded as skipped, whatever it
    answered.

    Args:
        step: the checkpoint's id in course/catalog.yml.
        condition: anything with a truth value.
        reason: why it failed or what to look at; shown only where it does not hold.
        detail: JSON-able figures worth keeping (seconds, counts, texts).
    Raises:
        CheckFailed: the condition does not hold.
    """
    lacking = _lacking(step)
    if lacking:
        _record(step, "skipped", lacking, detail)
        return
    if condition:
        _record(step, "pass", None, detail)
        return
    told = reason or messages.text("checkpoint.no_reason")
    _record(step, "fail", told, detail)
    raise CheckFailed(step=step, reason=told, evidence=_told_detail(detail))


def _lacking(step: str) -> str:
    """Return why the served model cannot do a step, or "" where it can or nobody can tell."""
    seen, entry = _seen(), catalog.labs().get(_context["lab"])
    if seen["capabilities"] is None or entry is None:
        return ""
    needs = [
        need for one in entry["checkpoints"] if one["id"] == step for need in one.get("needs", [])
    ]
    return "; ".join(
        messages.text(f"checkpoint.lacks.{need}", model=seen["model"])
        for need in needs
        if need in models.CAPABILITIES and need not in seen["capabilities"]
    )


def _seen() -> dict[str, Any]:
    """Return the context, with what a remote server tells of itself once it is attached to."""
    endpoint = server.current()
    if not isinstance(endpoint, RemoteServer) or _context["engine"] != "remote":
        return _context
    told = {"model": endpoint.served_model_name, "stand_in": endpoint.stand_in}
    versions = _context["versions"] or {"vllm": endpoint.told_version}
    return _context | told | {"versions": versions, "capabilities": endpoint.capabilities}


def skip(step: str, reason: str, **detail: Any) -> None:
    """Record that a step does not apply here, with the reason."""
    _record(step, "skipped", reason, detail)


def todo(step: str, reason: str = "", **detail: Any) -> None:
    """Record an exercise that is not solved yet."""
    _record(step, "todo", reason or messages.text("checkpoint.todo"), detail)


def kept(step: str, reason: str = "", **detail: Any) -> None:
    """Record that the server was asked to stay."""
    _record(step, "kept", reason or messages.text("checkpoint.kept"), detail)


def exercise(step: str, answer: object, expected: object, hint: str = "", **detail: Any) -> None:
    """Record an exercise: `todo` while the answer is `...`, else pass or fail.

    Args:
        step: the checkpoint's id.
        answer: what the learner wrote; `...` stands for "not yet".
        expected: a value, or a function of the answer that tells right from wrong.
        hint: what to look at, told where the answer is wrong.
    Raises:
        CheckFailed: an answer that is wrong.
    """
    if answer is ...:
        todo(step, **detail)
        return
    try:
        right = expected(answer) if callable(expected) else answer == expected
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        right, detail = False, detail | {"error": repr(error)}  # an answer of another kind
    check(step, right, hint or messages.text("checkpoint.wrong_answer"), **detail)


def _record(step: str, status: str, reason: str | None, detail: dict[str, Any]) -> None:
    global _since
    seconds, _since = time.monotonic() - _since, time.monotonic()
    seen = _seen()
    record = {
        "schema": 1,
        "lab": seen["lab"],
        "step": step,
        "status": status,
        "reason": reason,
        "ok": status != "fail",
        "seconds": round(seconds, 2),
        "engine": seen["engine"],
        "model": seen["model"],
        "stand_in": seen["stand_in"],
        "versions": seen["versions"],
        "detail": json.loads(json.dumps(detail, default=str, ensure_ascii=False)),
    }
    plain = messages.text(
        "checkpoint.line", step=step, status=messages.text(f"checkpoint.status.{status}")
    )
    if reason:
        plain += f" — {reason}"
    _show({MIME: record, "text/plain": plain, "text/html": _html(step, status, reason)})
    _statuses.setdefault(seen["lab"], {})[step] = status
    for tell in _watchers:
        tell(seen["lab"])


def _show(bundle: dict[str, Any]) -> None:
    ipython = sys.modules.get("IPython")
    if ipython and ipython.get_ipython():
        from IPython.display import display

        display(bundle, raw=True)  # type: ignore[no-untyped-call]
    else:
        print(bundle["text/plain"], flush=True)


def _html(step: str, status: str, reason: str | None) -> str:
    badge = (
        f"<b style='color:#fff;background:{COLOURS[status]};padding:.1em .5em;border-radius:.3em'>"
    )
    told = f" — {escape(reason)}" if reason else ""
    told_status = escape(messages.text(f"checkpoint.status.{status}"))
    return f"<div>{badge}{told_status}</b> <code>{escape(step)}</code>{told}</div>"


def _told_detail(detail: dict[str, Any]) -> str | None:
    lines = [
        f"{name}: {value.told() if isinstance(value, LabError) else value}"
        for name, value in detail.items()
    ]
    return "\n".join(lines) or None
