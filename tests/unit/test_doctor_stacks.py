"""Tests of comparing versions with course/versions.yml, and of telling chips apart by their names."""

from __future__ import annotations

import re

import doctor_machines as machines
import pytest

from helpers.doctor import chips, npu_smi, stacks
from helpers.doctor.npu_smi import Chip

ASCEND = [stack for stack in stacks.all_stacks() if stack["engine"] == "ascend"]
OBSERVED = {
    # chip names that vllm-ascend's setup.py@v0.23.0 and recordings have → generation
    **dict.fromkeys(["910B1", "910B2", "910B2C", "910B3", "910B4", "910B4-1", "A2G3"], "A2"),
    **dict.fromkeys(["Ascend910", "910_9391", "910C"], "A3"),
    **dict.fromkeys(["310P1", "310P3", "310P5", "310P7"], "310P"),
    **dict.fromkeys(["Ascend950PR", "Ascend950DT"], "A5"),
    **dict.fromkeys(["910A", "910B", "910ProB", "910PremiumA", "Ascend 910A"], "910"),
    **dict.fromkeys(["310B1", "310B4"], "310B"),
    "310": "310",
    "xxx": None,
    "": None,
    "910B3 NPU": None,
}


@pytest.mark.parametrize(
    ("have", "wanted", "fit"),
    [
        ("2.10.0+cpu", "2.10.0", "exact"),
        ("0.23.0+empty", "0.23.0", "exact"),
        ("2.10.0.post2", "2.10.0.post4", "near"),
        ("0.23.0rc1", "0.23.0", "near"),
        ("2.11.0", "2.10.0", "other"),
        ("8.3.RC1", "9.1.0", "other"),
        ("9.1.T63", "9.1.0", "unknown"),
        ("7.0.T10", "9.1.0", "other"),
        ("3.12.13", ">=3.10,<3.13", "exact"),
        ("3.13.0", ">=3.10,<3.13", "other"),
        ("3.13.0rc1", ">=3.10,<3.13", "other"),
        ("1.26.4", None, "exact"),
        ("", "2.10.0", "unknown"),
        ("main", "2.10.0", "unknown"),
    ],
)
def test_fit_of_a_version(have: str, wanted: str | None, fit: str) -> None:
    assert stacks.fit(have, wanted) == fit


@pytest.mark.parametrize(
    ("vllm", "plugin", "fit"),
    [
        ("0.23.0+empty", "0.23.0", "exact"),
        ("0.23.0", "0.23.0rc1", "near"),
        ("0.14.1", "0.14.0rc1", "near"),
        ("0.22.1", "0.23.0", "other"),
        ("0.14.1", "0.14.0", "other"),
        ("0.9.1", "0.9.2rc2.dev255+gcf96366.d20250830", "near"),
        ("0.16.0rc2.dev55+g65bb4942b.empty", "0.14.0rc2", "other"),
        ("main", "0.23.0", "unknown"),
    ],
)
def test_pair_of_vllm_and_plugin(vllm: str, plugin: str, fit: str) -> None:
    assert stacks.pair(vllm, plugin) == fit


@pytest.mark.parametrize("stack", ASCEND, ids=lambda stack: stack["id"])
def test_engine_with_the_versions_of_a_stack_is_that_stack(stack: dict[str, object]) -> None:
    versions = {"vllm-ascend": str(stack["vllm_ascend"]["value"])}  # type: ignore[index]

    found = stacks.of_engine(versions)

    assert found is not None
    assert found["id"] == stack["id"]


def test_engine_of_another_release_is_no_stack() -> None:
    assert stacks.of_engine({"vllm-ascend": "0.13.0"}) is None
    assert stacks.of_engine({"vllm": "0.28.0"}) is None
    assert stacks.of_engine({}) is None


@pytest.mark.parametrize("stack", ASCEND, ids=lambda stack: stack["id"])
@pytest.mark.parametrize("kind", ["A2", "A3", "310P"])
@pytest.mark.parametrize(
    "system", ["Ubuntu 22.04.5 LTS", "openEuler 24.03 (LTS-SP3)", "EulerOS 2.0"]
)
def test_image_of_every_chip_and_system_is_of_the_stacks_version(
    stack: dict[str, object], kind: str, system: str
) -> None:
    entry = stacks.image_entry(stack, kind, system)

    assert entry is not None
    version = stack["vllm_ascend"]["value"]  # type: ignore[index]
    assert re.fullmatch(rf"quay\.io/ascend/vllm-ascend:v{version}[\w-]*", entry["value"])
    assert ("openeuler" in entry["value"]) == ("Euler" in system)
    assert (f"-{kind.lower()}" in entry["value"]) == (kind != "A2")
    cann = stack["cann"]["value"]  # type: ignore[index]
    assert entry["cann_image"].startswith(f"quay.io/ascend/cann:{cann}-")
    assert entry["source"]


def test_image_of_a_chip_that_a_stack_does_not_have_is_none() -> None:
    assert stacks.image(stacks.named("ascend-0.18"), "A5", None) is None
    assert stacks.image(stacks.default(), "910", None) is None


@pytest.mark.parametrize(("name", "kind"), OBSERVED.items())
def test_generation_of_a_name(name: str, kind: str | None) -> None:
    assert chips.generation(Chip(0, name=name)) == kind


@pytest.mark.parametrize(
    ("chip", "kind"),
    [
        (Chip(0, name="910", phy_or_device_id=0), "A3"),
        (Chip(0, name="910", ddr_total_mb=15038), "910"),
        (Chip(0, name="910"), None),
    ],
)
def test_generation_of_a_bare_910_follows_from_the_table(chip: Chip, kind: str | None) -> None:
    assert chips.generation(chip) == kind


def test_generation_of_a_controller_is_none() -> None:
    assert chips.generation(Chip(0, name="Mcu")) is None


@pytest.mark.parametrize(
    "path", sorted((machines.FIXTURES / "recorded" / "npu_smi").glob("*.txt")), ids=lambda p: p.stem
)
def test_idle_recordings_are_below_the_limit_of_an_idle_chip(path: object) -> None:
    table = npu_smi.table(path.read_text("utf-8"))  # type: ignore[attr-defined]
    busy = "busy" in path.stem or table.processes or "950pr" in path.stem or "910b2c" in path.stem  # type: ignore[attr-defined]

    over = [c for c in table.chips if c.used_mb is not None and c.used_mb > chips.idle_limit_mb(c)]

    assert bool(over) <= bool(busy)


def test_table_of_stacks_shows_the_parts_that_were_asked_for() -> None:
    table = stacks.table("vllm", "cann")

    assert [row[0] for row in table.rows] == ["vllm", "cann"]
    assert table.rows[1][1:] == tuple(
        stack["cann"]["value"] or "-" for stack in stacks.all_stacks()
    )
