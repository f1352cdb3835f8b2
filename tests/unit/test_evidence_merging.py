"""Merging evidence: an NPU's archive changes the statuses that it decides, anything else changes nothing."""

from __future__ import annotations

import difflib
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from evidence_runs import (
    as_on_npu,
    changed_machine,
    checkpoints,
    cpu_machine,
    folder,
    npu_machine,
    step,
)

from helpers import cli, doctor
from helpers.errors import LabError
from helpers.evidence import archive, merging, packing, register
from helpers.evidence.errors import DoesNotAddUp, NotOnNpu, OtherLabs, RegisterStrange

DECIDED = ["A2", "A5", "A23", "B1", "B3"]
TEXT = re.sub(
    r"^    status: \w+-on-npu\n    npu: .*$",
    f"    status: {register.OPEN}",
    register.PATH.read_text(encoding="utf-8"),
    flags=re.M,
)
"""The register as it was before anybody merged evidence."""

ENTRIES = yaml.safe_load(TEXT)["claims"]
UNVERIFIED = [one["id"] for one in ENTRIES if one["status"] == register.OPEN]
WHERE = {"chip": "910B3", "versions": {"vllm": "0.23.0"}, "date": "2026-11-30"}


@pytest.fixture(scope="module")
def of_npu(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return an archive of a run on an NPU."""
    return packed(tmp_path_factory.mktemp("npu")).read_bytes()


@pytest.fixture
def archived(tmp_path: Path, of_npu: bytes) -> Path:
    """Return the path of a copy of that archive."""
    path = tmp_path / "npu.zip"
    path.write_bytes(of_npu)
    return path


@pytest.fixture
def into(tmp_path: Path) -> Path:
    """Return a copy of the register as it was before anybody merged evidence."""
    path = tmp_path / "claims.yml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def packed(tmp_path: Path, change: Any = as_on_npu, machine: doctor.Report | None = None) -> Path:
    """Return an archive of a run that was changed, on a machine with an NPU."""
    return packing.pack(folder(tmp_path / "run", change), examined=machine or npu_machine())


def entries(path: Path) -> dict[str, dict[str, Any]]:
    return {one["id"]: one for one in yaml.safe_load(path.read_text(encoding="utf-8"))["claims"]}


def refused(path: Path, into: Path) -> LabError:
    """Return the error of merging an archive; the register must be as it was."""
    before = into.read_bytes()
    with pytest.raises(LabError) as caught:
        merging.merge(path, into)
    assert into.read_bytes() == before
    return caught.value


def test_archive_of_an_npu_changes_the_statuses_that_it_decides(archived: Path, into: Path) -> None:
    done = merging.merge(archived, into)

    now = entries(into)
    assert [one.id for one in done.changed] == DECIDED
    assert {now[claim]["status"] for claim in DECIDED} == {"held-on-npu"}
    assert now["A2"]["npu"]["chip"] == "910B2"
    assert now["A2"]["npu"]["date"] == "2026-11-30"
    assert (
        now["A2"]["npu"]["versions"].items() >= {"vllm-ascend": "0.23.0", "cann": "9.1.0"}.items()
    )
    assert set(done.unseen) == set(UNVERIFIED) - set(DECIDED)


def test_register_keeps_every_other_line(archived: Path, into: Path) -> None:
    before = into.read_text(encoding="utf-8").splitlines()

    merging.merge(archived, into)

    after = into.read_text(encoding="utf-8").splitlines()
    changed = [
        line
        for line in difflib.unified_diff(before, after, lineterm="", n=0)
        if line[0] in "+-" and not line.startswith(("+++", "---"))
    ]
    assert [line[1:].split(":")[0].strip() for line in changed] == ["status", "status", "npu"] * 5


def test_register_after_a_merge_is_what_the_courses_own_model_wants(
    archived: Path, into: Path
) -> None:
    from test_claims import claims

    merging.merge(archived, into)

    entry = {one.id: one for one in claims.load(into).claims}["A2"]
    assert (entry.status, entry.npu.chip) == ("held-on-npu", "910B2")


def test_archive_merged_again_changes_nothing(archived: Path, into: Path) -> None:
    merging.merge(archived, into)
    first = into.read_bytes()

    done = merging.merge(archived, into)

    assert done.changed == []
    assert set(DECIDED) <= set(done.known)
    assert into.read_bytes() == first


def test_failed_checkpoint_makes_its_claim_refuted(tmp_path: Path, into: Path) -> None:
    done = merging.merge(packed(tmp_path, _with_failed_no_flag), into)

    assert entries(into)["A2"]["status"] == "refuted-on-npu"
    assert {one.id: one.verdict for one in done.changed}["A2"] == "refuted"


def _with_failed_no_flag(cells: dict[str, Any]) -> None:
    as_on_npu(cells)
    if any(one["step"] == "no_flag" for one in checkpoints(cells)):
        step(cells, "no_flag").update(status="fail", ok=False, reason="out of memory")


def test_claim_that_was_held_and_is_refuted_is_told_and_stays(
    tmp_path: Path, archived: Path, into: Path
) -> None:
    merging.merge(archived, into)

    done = merging.merge(packed(tmp_path / "later", _with_failed_no_flag), into)

    assert [one.id for one in done.contradicted] == ["A2"]
    assert entries(into)["A2"]["status"] == "held-on-npu"


def test_archive_of_the_cpu_engine_is_refused(tmp_path: Path, into: Path) -> None:
    path = packed(tmp_path, lambda cells: None, cpu_machine())

    error = refused(path, into)

    assert isinstance(error, NotOnNpu)
    assert "cpu" in error.told("en")


def test_archive_of_a_stand_in_on_an_npu_is_refused(tmp_path: Path, into: Path) -> None:
    def change(cells: dict[str, Any]) -> None:
        as_on_npu(cells)
        for record in checkpoints(cells):
            record["stand_in"] = True

    assert isinstance(refused(packed(tmp_path, change), into), NotOnNpu)


def test_claims_that_an_archive_asserts_are_not_believed(tmp_path: Path, into: Path) -> None:
    path = packed(tmp_path, lambda cells: None, cpu_machine())
    _rewrite(path, lambda head: [one.update(verdict="held") for one in head["claims"]])

    assert isinstance(refused(path, into), NotOnNpu)


def test_line_without_its_text_is_not_believed(archived: Path, into: Path) -> None:
    _rewrite(archived, lambda head: [one.update(line="something else") for one in head["lines"]])

    done = merging.merge(archived, into)

    assert {one.id: one.verdict for one in done.changed}["A23"] == "refuted"


def test_archive_of_other_labs_is_refused(archived: Path, into: Path) -> None:
    _rewrite(archived, lambda head: head["labs"][0].update(code="0" * 64))

    error = refused(archived, into)

    assert isinstance(error, OtherLabs)
    assert "01_minicpm_v en" in error.told("en")


def test_archive_that_names_no_hash_of_a_lab_is_refused(archived: Path, into: Path) -> None:
    _rewrite(archived, lambda head: head["labs"].pop())

    assert isinstance(refused(archived, into), OtherLabs)


def _rewrite(path: Path, change: Any) -> None:
    """Change the head of an archive."""
    with zipfile.ZipFile(path) as file:
        data = {name: file.read(name) for name in file.namelist()}
    head = json.loads(data[archive.HEAD])
    change(head)
    archive.write(path, data | {archive.HEAD: archive.dumps(head)})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"npu_smi": doctor.Machine().npu_smi}, "no chip"),
        ({"engine": None}, "None"),
    ],
)
def test_archive_whose_machine_has_no_npu_is_refused(
    changes: dict[str, Any],
    said: str,
    tmp_path: Path,
    into: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LAB_LANGUAGE", "en")

    error = refused(packed(tmp_path, machine=changed_machine(**changes)), into)

    assert isinstance(error, DoesNotAddUp)
    assert said in error.told("en")


def test_archive_whose_versions_differ_from_its_checkpoints_is_refused(
    tmp_path: Path, into: Path
) -> None:
    def change(cells: dict[str, Any]) -> None:
        as_on_npu(cells)
        checkpoints(cells)[-1]["versions"] = {"vllm-ascend": "0.18.0"}

    error = refused(packed(tmp_path, change), into)

    assert isinstance(error, DoesNotAddUp)
    assert "0.18.0" in error.told("en")


def test_unverified_entries_are_written_so_that_their_status_can_be_changed() -> None:
    assert len(re.findall(r"^    status: unverified-on-npu$", TEXT, flags=re.M)) == len(UNVERIFIED)
    assert re.findall(r"^  - id: (\w+)$", TEXT, flags=re.M) == [one["id"] for one in ENTRIES]


@pytest.mark.parametrize("claim", [UNVERIFIED[0], UNVERIFIED[-1]])
def test_status_of_an_unverified_entry_is_changed_and_nothing_else(claim: str) -> None:
    changed = register.with_status(TEXT, claim, "held-on-npu", WHERE)

    assert len(changed.splitlines()) == len(TEXT.splitlines()) + 1
    assert changed.replace(f"held-on-npu\n    npu: {json.dumps(WHERE)}", register.OPEN) == TEXT


@pytest.mark.parametrize("claim", ["A1", "Z9"])
def test_entry_that_is_not_unverified_is_not_changed(claim: str) -> None:
    with pytest.raises(RegisterStrange):
        register.with_status(TEXT, claim, "held-on-npu", WHERE)


def test_entry_written_in_another_way_is_left_to_people() -> None:
    text = "claims:\n  - id: A2\n    truth: >-\n      text\n    status: unverified-on-npu\n    status: x\n"

    with pytest.raises(RegisterStrange):
        register.with_status(text, "A2", "held-on-npu", WHERE)


def test_commands_pack_and_refuse_a_run_of_the_cpu_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "examine", cpu_machine)
    place, target = folder(tmp_path / "run"), tmp_path / "a.zip"

    said = ["--language", "en", "evidence"]
    done = CliRunner().invoke(cli.main, [*said, "pack", str(place), "-o", str(target)])
    refusal = CliRunner().invoke(cli.main, [*said, "merge", str(target)])

    assert done.exit_code == 0, done.output
    assert "claims decided by this run: 0" in done.output
    assert refusal.exit_code == 1
    assert "evidence.not_on_npu" in refusal.output
