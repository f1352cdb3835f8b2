"""Packing evidence: an archive has what a maintainer needs, and nothing that is not the course's to send."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from evidence_runs import as_on_npu, checkpoints, cpu_machine, folder, npu_machine, step

from helpers.evidence import archive, packing
from helpers.evidence.errors import NothingToPack
from helpers.report import ReportMissing


def verdicts(path: Path) -> dict[str, str]:
    """Return what an archive says of each claim."""
    return {one.id: one.verdict for one in archive.read(path).head.claims}


def test_run_on_the_cpu_engine_packs_and_decides_no_claim(tmp_path: Path) -> None:
    path = packing.pack(folder(tmp_path / "run"), examined=cpu_machine())

    contents = archive.read(path)
    assert path == tmp_path / "evidence-run.zip"
    assert contents.head.machine.chip is None
    assert {run.engine for run in contents.report.runs} == {"cpu"}
    assert set(verdicts(path).values()) == {"unseen"}


def test_run_on_an_npu_decides_the_claims_that_its_checkpoints_show(tmp_path: Path) -> None:
    path = packing.pack(folder(tmp_path / "run", as_on_npu), examined=npu_machine())

    head, told = archive.read(path).head, verdicts(path)
    assert {claim: told[claim] for claim in ("A2", "A5", "A23", "B1", "B3")} == dict.fromkeys(
        ("A2", "A5", "A23", "B1", "B3"), "held"
    )
    assert told["D5"] == "unseen"  # lab 00 runs nothing on the device
    assert (head.machine.chip, head.machine.versions["vllm-ascend"]) == ("910B2", "0.23.0")


def test_stand_in_on_an_npu_decides_no_claim(tmp_path: Path) -> None:
    def change(cells: dict[str, Any]) -> None:
        as_on_npu(cells)
        for record in checkpoints(cells):
            record["stand_in"] = True

    path = packing.pack(folder(tmp_path / "run", change), examined=npu_machine())

    assert set(verdicts(path).values()) == {"unseen"}


def test_failed_checkpoint_refutes_its_claim(tmp_path: Path) -> None:
    def change(cells: dict[str, Any]) -> None:
        as_on_npu(cells)
        if cells["cells"] and any(one["step"] == "no_flag" for one in checkpoints(cells)):
            step(cells, "no_flag").update(status="fail", ok=False, reason="out of memory")

    path = packing.pack(folder(tmp_path / "run", change), examined=npu_machine())

    (judged,) = [one for one in archive.read(path).head.claims if one.id == "A2"]
    assert judged.verdict == "refuted"
    assert "out of memory" in judged.because


def test_text_that_was_not_printed_refutes_and_a_skipped_step_decides_nothing(
    tmp_path: Path,
) -> None:
    def change(cells: dict[str, Any]) -> None:
        for record in checkpoints(cells):
            record.update(engine="ascend", stand_in=False)
            if record["step"] == "no_flag":
                record.update(status="skipped", reason="KEEP_SERVER")

    told = verdicts(packing.pack(folder(tmp_path / "run", change), examined=npu_machine()))

    assert (told["A23"], told["B3"], told["B1"]) == ("refuted", "refuted", "held")
    assert told["A2"] == "unseen"


def test_notebook_that_is_not_the_labs_is_left_out(tmp_path: Path) -> None:
    def change(cells: dict[str, Any]) -> None:
        if any(one["step"] == "no_flag" for one in checkpoints(cells)):
            cells["cells"].append(
                {"cell_type": "code", "source": "mine()", "metadata": {}, "outputs": []}
            )

    path = packing.pack(folder(tmp_path / "run", change), examined=cpu_machine())

    contents = archive.read(path)
    assert contents.head.left_out == ["01_minicpm_v en"]
    assert [run.lab for run in contents.report.runs] == ["02_minicpm5"]


def test_run_of_nothing_but_other_notebooks_is_told(tmp_path: Path) -> None:
    def change(cells: dict[str, Any]) -> None:
        cells["cells"][-1]["source"] = "other()"
        cells["cells"][-1]["cell_type"] = "code"

    with pytest.raises(NothingToPack) as caught:
        packing.pack(folder(tmp_path / "run", change), examined=cpu_machine())

    assert "01_minicpm_v en, 02_minicpm5 en" in caught.value.told("en")


def test_folder_without_a_report_is_told(tmp_path: Path) -> None:
    with pytest.raises(ReportMissing):
        packing.pack(tmp_path, examined=cpu_machine())


def test_archive_has_no_secret_no_address_and_no_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = {
        "LAB_API_KEY": "sk-0123456789",
        "SOME_PASSWORD": "correct-horse",
    }
    for name, value in private.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", "/home/someone-real")
    monkeypatch.setattr("socket.gethostname", lambda: "class-room-7.example.org")
    said = (
        "http://user:pass@intra.example.org/x?sig=1 sk-0123456789 correct-horse "
        "/home/someone-real/w on class-room-7"
    )

    def change(cells: dict[str, Any]) -> None:
        checkpoints(cells)[0]["detail"] |= {"said": [{"deep": said}], "api_key": "qwopq"}

    place = folder(
        tmp_path / "run", change, parameters={"IMAGE_URL": "http://mine/p.png", "PORT": 0}
    )
    path = packing.pack(place, examined=cpu_machine())

    with zipfile.ZipFile(path) as file:
        whole = "".join(file.read(name).decode() for name in archive.MEMBERS)
    for word in (
        "sk-01",
        "correct-horse",
        "user:pass",
        "intra.example",
        "sig=1",
        "someone-real",
        "qwopq",
    ):
        assert word not in whole
    assert "class-room-7" not in whole
    assert "http://mine" not in whole
    run = json.loads(_member(path, "report.json"))["runs"][0]
    assert run["parameters"] == {"IMAGE_URL": "…", "PORT": 0}
    assert "http://" in run["checkpoints"][0]["detail"]["said"][0]["deep"]


def _member(path: Path, name: str) -> bytes:
    with zipfile.ZipFile(path) as file:
        return file.read(name)


def test_archive_of_the_same_run_has_the_same_hashes(tmp_path: Path) -> None:
    place = folder(tmp_path / "run")

    first, second = (
        archive.read(packing.pack(place, tmp_path / name, cpu_machine())).head.files
        for name in ("a.zip", "b.zip")
    )

    assert first == second
