"""An archive checked against this checkout, and the claims that it decides changed in claims.yml.

What the archive says of claims is not believed: they are judged again here, from its checkpoints.
Only entries that are unverified-on-npu change; what contradicts another status is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers import messages, paths
from helpers.evidence import archive, judging, packing, register
from helpers.evidence.errors import DoesNotAddUp, NotOnNpu, OtherLabs
from helpers.evidence.schemas import Judged
from helpers.records import write_whole

NAMED = ("vllm", "vllm-ascend", "torch", "torch-npu")
"""Distributions whose versions an entry names, beside CANN's."""

STATUSES: dict[str, register.Status] = {"held": "held-on-npu", "refuted": "refuted-on-npu"}


@dataclass(frozen=True)
class Merged:
    """What an archive has changed.

    Attributes:
        changed: claims with a new status, and why.
        contradicted: claims that have another status and were refuted, which is for people.
        known: ids that were held and needed no change.
        unseen: ids that are still unverified.
    """

    changed: list[Judged]
    contradicted: list[Judged]
    known: list[str]
    unseen: list[str]


def merge(path: Path, into: Path = register.PATH) -> Merged:
    """Return what has changed in the register, which is written once, whole.

    Raises:
        NotAnArchive, Unsafe, Malformed: it cannot be read. OtherLabs, NotOnNpu, DoesNotAddUp: it
            is no evidence for this checkout. RegisterStrange: the register cannot be edited.
    """
    contents = archive.read(path)
    check(path, contents)
    text, claims = into.read_text(encoding="utf-8"), register.read(into)
    status = {claim.id: claim.status for claim in claims}
    judged = judging.judge(claims, contents.report, contents.head.lines)
    decided = [one for one in judged if one.verdict != "unseen"]
    changed = [one for one in decided if status[one.id] == register.OPEN]
    others = [one for one in decided if status[one.id] != register.OPEN]
    for one in changed:
        text = register.with_status(text, one.id, STATUSES[one.verdict], where(contents))
    if changed:
        write_whole(into, text)
    ids = {one.id for one in changed}
    return Merged(
        changed,
        [one for one in others if one.verdict == "refuted" and status[one.id] != "refuted-on-npu"],
        [one.id for one in others if one.verdict == "held"],
        [claim.id for claim in claims if claim.status == register.OPEN and claim.id not in ids],
    )


def check(path: Path, contents: archive.Contents) -> None:
    """Refuse an archive that is no evidence for this checkout.

    Raises:
        OtherLabs, NotOnNpu, DoesNotAddUp: as they say.
    """
    file, head = paths.shown(path), contents.head
    ran = [(run.lab, run.language) for run in contents.report.runs]
    hashes = {(one.lab, one.language): one.code for one in head.labs}
    other = sorted(
        f"{lab} {language}"
        for lab, language in {*ran, *hashes}
        if hashes.get((lab, language)) != packing.labs_hash(lab, language)
    )
    if other:
        raise OtherLabs(file=file, labs=", ".join(other))
    if not judging.on_npu(contents.report):
        engines = {one.engine or "-" for run in contents.report.runs for one in run.checkpoints}
        raise NotOnNpu(file=file, engines=", ".join(sorted(engines)) or "-")
    reason = _contradiction(contents)
    if reason:
        raise DoesNotAddUp(file=file, reason=reason)


def _contradiction(contents: archive.Contents) -> str:
    """Return where the machine's description contradicts its checkpoints, or ""."""
    machine = contents.head.machine
    if not machine.chip:
        return messages.text("evidence.contradiction.no_chip")
    plugin = machine.versions.get("vllm-ascend")
    told = {one.versions.get("vllm-ascend") for one in judging.on_npu(contents.report)}
    if not plugin or told != {plugin}:
        named = ", ".join(sorted(str(one) for one in told))
        return messages.text("evidence.contradiction.versions", machine=plugin, run=named)
    if contents.doctor.verdict.engine != "ascend":
        return messages.text("evidence.contradiction.doctor", engine=contents.doctor.verdict.engine)
    return ""


def where(contents: archive.Contents) -> dict[str, Any]:
    """Return chip, versions and date as an entry of the register names them."""
    machine = contents.head.machine
    versions = {name: machine.versions[name] for name in NAMED if name in machine.versions}
    if machine.cann:
        versions["cann"] = machine.cann
    return {"chip": machine.chip, "versions": versions, "date": contents.report.started[:10]}
