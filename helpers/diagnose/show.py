"""A diagnosis for people, as text and as HTML: the conclusion first, then evidence, why, what to
do, how to tell, how sure, sources, and what else was seen.

Not for finding anything: it only lays out an `answer.Diagnosis`.
"""

from __future__ import annotations

from html import escape

from helpers import messages, paths
from helpers.diagnose.answer import Diagnosis, texts
from helpers.diagnose.knowledge import entries


def _label(name: str, language: str, **values: object) -> str:
    labels = messages.catalogue(language)["diagnose.labels"]
    assert isinstance(labels, dict)
    return labels[name].format(**values)


def _head(one: Diagnosis) -> str:
    return f"{_label(f'verdict.{one.verdict}', one.language)} · {one.title}"


def _facts(one: Diagnosis) -> list[tuple[str, str]]:
    """Return the one-line facts: stage, confidence, entry, where it applies."""
    language = one.language
    stage = _label(f"stage.{one.stage}", language) if one.stage else ""
    if one.stage and one.step:
        stage += f" ({_label(f'step.{one.step}', language)})"
    known = entries().get(one.entry or "")
    applies = known.applies if known else None
    where = [applies.engine, applies.versions, applies.chip] if applies else []
    facts = [
        ("stage", stage),
        ("confidence", _label(f"confidence.{one.confidence}", language)),
        ("entry", one.entry or ""),
        ("applies", "; ".join(part for part in where if part)),
    ]
    return [(_label(name, language), value) for name, value in facts if value]


def _lists(one: Diagnosis) -> list[tuple[str, list[str]]]:
    """Return what stands under headings: sources, what else was seen, what is harmless."""
    language = one.language
    also = [f"{name}: {_title(name, language)}" for name in one.also]
    counts: dict[str, list[int]] = {}
    for item in one.harmless:
        counts.setdefault(item.id, []).append(item.line)
    harmless = [f"{_some(found)}: {_title(name, language)}" for name, found in counts.items()]
    lists = [("sources", one.sources), ("also", also), ("harmless", harmless)]
    return [(_label(name, language), items) for name, items in lists if items]


def _some(numbers: list[int], most: int = 5) -> str:
    return ", ".join(map(str, numbers[:most])) + (", …" if len(numbers) > most else "")


def _title(name: str, language: str) -> str:
    title = texts(name, language, {})["title"]
    known = entries().get(name)
    if known and known.confidence == "unverified":
        return f"{title} ({_label('unverified', language)})"
    return title


def _evidence(one: Diagnosis) -> list[tuple[str, str]]:
    where = f"{paths.shown(one.source)}:" if one.source else ""
    return [(f"{where}{item.line}", paths.shown(item.text)) for item in one.evidence]


def text(one: Diagnosis) -> str:
    """Return the diagnosis as text."""
    language = one.language
    out = [_head(one), ""]
    if one.evidence:
        out.append(_label("evidence", language))
        out += [f"  {where}  {said}" for where, said in _evidence(one)]
        out.append("")
    out += [_label("cause", language), f"  {one.cause}", "", _label("advice", language)]
    out += [f"  {number}. {line}" for number, line in enumerate(one.advice, 1)]
    if one.confirm:
        out += ["", _label("confirm", language), f"  {one.confirm}"]
    out += ["", *(f"{name}: {value}" for name, value in _facts(one))]
    for name, items in _lists(one):
        out += [name, *(f"  {item}" for item in items)]
    return "\n".join(out)


def html(one: Diagnosis) -> str:
    """Return the diagnosis as an HTML fragment, every text of the log escaped."""
    language = one.language
    out = [f"<section class='diagnosis {one.verdict}'><h3>{escape(_head(one))}</h3>"]
    if one.evidence:
        shown = "\n".join(f"{where}  {said}" for where, said in _evidence(one))
        out.append(f"<p><b>{_label('evidence', language)}</b></p><pre>{escape(shown)}</pre>")
    out.append(f"<p><b>{_label('cause', language)}</b> {escape(one.cause)}</p>")
    steps = "".join(f"<li>{escape(line)}</li>" for line in one.advice)
    out.append(f"<p><b>{_label('advice', language)}</b></p><ol>{steps}</ol>")
    if one.confirm:
        out.append(f"<p><b>{_label('confirm', language)}</b> {escape(one.confirm)}</p>")
    facts = " · ".join(f"{escape(name)}: {escape(value)}" for name, value in _facts(one))
    out.append(f"<p>{facts}</p>")
    for name, items in _lists(one):
        listed = "".join(f"<li>{escape(item)}</li>" for item in items)
        out.append(f"<details><summary>{escape(name)}</summary><ul>{listed}</ul></details>")
    return "".join(out) + "</section>"
