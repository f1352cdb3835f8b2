"""Chooses the cause among everything that was found, and says how sure that is.

The cause is the first causal error, not the last line: what only reports another failure gives way,
noise at the end of a run is harmless, and a guess never stands first.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from helpers import messages
from helpers.diagnose import answer, codes, failures
from helpers.diagnose.answer import Diagnosis, Evidence, Harmless
from helpers.diagnose.findings import Finding, Search
from helpers.diagnose.knowledge import Kind, entries
from helpers.diagnose.stages import Stages

NEIGHBOURS, BLOCK = 80, 12
EACH = 5
EVIDENCE = 8


@dataclass(frozen=True)
class _Choice:
    verdict: str
    entry: str | None
    case: str
    confidence: str
    evidence: list[tuple[int, str]]
    values: dict[str, str]
    line: int | None
    process: str = ""


def diagnose(search: Search, stages: Stages, language: str | None = None) -> Diagnosis:
    """Return the answer for everything that was found in a log.

    Args:
        language: "zh" or "en"; None takes the language in force.
    """
    stages.end()
    found, failed = _settled(search, stages)
    choice = _choose(found, failed, stages)
    return _answer(choice, found, stages, language or messages.language())


def _settled(search: Search, stages: Stages) -> tuple[list[Finding], list[failures.Failure]]:
    """Return what holds at its phase of the run, in the order of the log: findings, failures."""
    kept = [one for one in search.found if not one.phase or stages.is_in(one.phase, one.line)]
    explained = {one.line for one in kept if one.kind == "notice" and one.phase}
    calm = [one for one in kept if one.kind != "consequence" or one.line not in explained]
    harmless = {line for one in calm if one.kind == "notice" for line, _ in one.evidence}
    unsettled = [
        one
        for one in search.failures
        if one.line not in harmless
        and not (one.wrapper and stages.is_in(("shutdown", "finished"), one.line))
    ]
    return sorted(calm, key=lambda one: (one.line, _tier(one))), unsettled


def _tier(one: Finding) -> int:
    """Return how much a finding explains: 0 a cause, 1 a code, 2 what is general."""
    if one.id.startswith("code."):
        return 2 if codes.WRAPPERS.fullmatch(one.id.removeprefix("code.")) else 1
    return 2 if entries()[one.id].generic else 0


def _first(found: list[Finding]) -> Finding | None:
    """Return the cause: of what explains most, the first; of its neighbourhood, an entry before a
    code.
    """
    special = [one for one in found if _tier(one) < 2]
    chosen = special or found
    if not chosen:
        return None
    begin = chosen[0]
    near = [
        one
        for one in chosen
        if one.line <= begin.line + BLOCK and one.process in (begin.process, "")
    ]
    return min(near, key=lambda one: (_tier(one), one.line))


def _of(found: list[Finding], kind: Kind) -> list[Finding]:
    return [one for one in found if one.kind == kind]


def _choose(found: list[Finding], failed: list[failures.Failure], stages: Stages) -> _Choice:
    cause = _first(_of(found, "fault"))
    consequence = _first(_of(found, "consequence"))
    unknown = failures.causal(_unexplained(failed, found))
    if cause is not None and not (_tier(cause) == 2 and _is_better(unknown, cause)):
        return _known("fault", cause)
    if consequence is not None or cause is not None:
        if unknown is not None and not unknown.wrapper:
            return _unknown("fault", "failed", unknown)
        return _known("fault", cause or consequence)
    client = _of(found, "client")
    told = _first([one for one in client if one.bare])
    if told is not None:
        return _known("healthy" if stages.server else "fault", told)
    if unknown is not None and not unknown.wrapper:
        return _unknown("unknown", "error", unknown)
    return _calm(found, client, stages)


def _is_better(unknown: failures.Failure | None, cause: Finding) -> bool:
    """Return whether an exception that nobody explains came before a cause that says little."""
    return unknown is not None and unknown.raised and unknown.line < cause.line


def _unexplained(failed: list[failures.Failure], found: list[Finding]) -> list[failures.Failure]:
    known = {line for one in found if one.kind != "hint" for line, _ in one.evidence}
    refused = [one.line for one in found if one.kind == "client"]
    return [
        one
        for one in failed
        if one.line not in known and not any(0 <= line - one.line < NEIGHBOURS for line in refused)
    ]


def _known(verdict: str, one: Finding | None) -> _Choice:
    assert one is not None
    entry = entries().get(one.id)
    sure = entry.confidence if entry else ("low" if _tier(one) == 2 else "medium")
    return _Choice(
        verdict, one.id, one.id, sure, list(one.evidence), one.values, one.line, one.process
    )


def _unknown(verdict: str, case: str, one: failures.Failure) -> _Choice:
    said = [(one.line, one.text), *one.around]
    return _Choice(verdict, None, f"none.{case}", "low", said, {}, one.line, one.process)


def _calm(found: list[Finding], client: list[Finding], stages: Stages) -> _Choice:
    """Return the answer where nothing failed: healthy if the log tells how far it came."""
    notable = [one for one in _of(found, "notice") if entries()[one.id].notable]
    last = stages.at()
    logged = _first(client)
    if logged is not None or notable:
        return _known("healthy", logged or notable[0])
    if last is not None:
        case = f"none.{_stage(stages)}"
        return _Choice("healthy", None, case, "high", [(last.line, last.text)], {}, last.line)
    harmless = _of(found, "notice")
    if harmless:
        return _known("healthy", harmless[0])
    return _Choice("unknown", None, "none.nothing", "low", [], {}, None)


def _stage(stages: Stages, line: int | None = None) -> str | None:
    phase = stages.phase(line)
    return None if phase == "start" else phase


def _harmless(found: list[Finding]) -> list[Harmless]:
    """Return the harmless lines, the first few of each kind."""
    counts: Counter[str] = Counter()
    kept = []
    for one in _of(found, "notice"):
        counts[one.id] += 1
        if counts[one.id] <= EACH:
            kept.append(Harmless(line=one.line, id=one.id))
    return kept


def _answer(choice: _Choice, found: list[Finding], stages: Stages, language: str) -> Diagnosis:
    said = answer.texts(choice.case, language, choice.values)
    failed = choice.verdict != "healthy"
    mark = stages.at(choice.line if failed else None)
    evidence = list(choice.evidence)
    if choice.entry is not None:
        evidence += [
            item
            for one in found
            if one.id == choice.entry and one.line != choice.line
            for item in one.evidence
        ]
    shown = ("fault", "client", "consequence", "hint") if failed else ("fault", "client")
    others = [
        one.id for kind in shown for one in found if one.kind == kind and one.id != choice.entry
    ]
    return Diagnosis.model_validate(
        {
            "verdict": choice.verdict,
            "entry": choice.entry,
            "confidence": choice.confidence,
            "stage": _stage(stages, choice.line if failed else None),
            "step": mark.step if mark else None,
            "evidence": [Evidence(line=n, text=t) for n, t in evidence[:EVIDENCE]],
            "title": said["title"],
            "cause": said["cause"],
            "advice": [line.strip() for line in said["fix"].splitlines() if line.strip()],
            "confirm": said["confirm"],
            "sources": answer.sources(choice.case),
            "also": list(dict.fromkeys(others))[:10],
            "harmless": _harmless(found),
            "process": choice.process or None,
            "language": language,
        }
    )
