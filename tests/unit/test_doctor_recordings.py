"""Every recording of Ascend's tools is read as its INDEX.yml says; sources stand there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from helpers.doctor import (
    collect_env,
    npu_failures,
    npu_smi,
    npu_topics,
    packages,
    version_files,
)

FOLDER = Path(__file__).parents[1] / "fixtures" / "ascend" / "recorded"
INDEX = yaml.safe_load((FOLDER / "INDEX.yml").read_text("utf-8"))["recordings"]
CAUSES = {
    "dcmi_8005_plain": "driver",
    "dcmi_8005_g_conLogLevel": "driver",
    "dcmi_8020_device_used": "device_used",
    "dcmi_8020_with_toolkit_info_and_collect_env_noise": "device_used",
    "libc_sec_so_missing": "library",
    "libdrvdsmi_host_so_missing": "library",
    "command_not_found_ci_log": "missing",
    "invalid_card_id_t_board": "no_such_card",
}
TABLE_KEYS = {"npu_smi_version", "driver_version"}
CANN_KEYS = {"cann_version", "arch", "install_path"}
SIZES = ("hbm_total_mb", "memory_total_mb", "ddr_total_mb")


def entries(*groups: str) -> list[Any]:
    """Return the entries of some folders as parameters named by their file."""
    found = [entry for entry in INDEX if entry["file"].split("/")[0] in groups]
    assert found
    return [pytest.param(entry, id=entry["file"]) for entry in found]


def text_of(entry: dict[str, Any]) -> str:
    return (FOLDER / entry["file"]).read_text("utf-8")


def without_values(entry: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in entry["extract"].items() if name in names}


def test_index_names_every_file_and_no_other() -> None:
    files = {str(p.relative_to(FOLDER)) for p in FOLDER.rglob("*.*") if p.name != "INDEX.yml"}

    assert {entry["file"] for entry in INDEX} == files


@pytest.mark.parametrize("entry", entries("npu_smi", "collect_env"))
def test_table_gives_versions_chips_and_processes(entry: dict[str, Any]) -> None:
    wanted = entry["extract"]

    found = npu_smi.table(text_of(entry))

    for name in TABLE_KEYS & set(wanted):
        assert getattr(found, name) == wanted[name]
    if wanted.get("chips") is None:
        return
    assert [
        {name: getattr(chip, name) for name in want}
        for chip, want in zip(found.chips, wanted["chips"], strict=True)
    ] == wanted["chips"]
    assert [[getattr(chip, size) for size in SIZES] for chip in found.chips] == [
        [want.get(size) for size in SIZES] for want in wanted["chips"]
    ]
    assert [vars(one) for one in found.processes] == wanted["processes"]
    assert list(found.idle) == wanted.get("npus_reported_idle", [])


def test_table_of_a_retyped_paste_has_a_health_that_nobody_knows() -> None:
    text = (FOLDER / "npu_smi" / "310p3_25.0.rc1.1_mangled_0K_paste.txt").read_text("utf-8")

    found = npu_smi.table(text).chips

    assert {chip.health for chip in found} & npu_smi.KNOWN_HEALTH == set()


@pytest.mark.parametrize("entry", entries("npu_smi_t"))
def test_topic_gives_what_the_index_says(entry: dict[str, Any]) -> None:
    wanted = dict(entry["extract"])
    listed = {"chips": wanted.pop("chips", []), "processes": wanted.pop("processes", [])}
    codes = tuple(wanted.pop("error_codes", ()))

    found = npu_topics.topic(text_of(entry))

    assert {name: getattr(found, name) for name in wanted} == wanted
    assert found.error_codes == codes
    if listed["chips"]:
        assert [vars(one) for one in found.chips] == listed["chips"]
    assert [
        {name: getattr(one, name) for name in want}
        for one, want in zip(found.processes, listed["processes"], strict=True)
    ] == listed["processes"]


@pytest.mark.parametrize("entry", entries("npu_smi_errors"))
def test_failure_names_cause_code_and_library(entry: dict[str, Any]) -> None:
    found = npu_failures.failure(text_of(entry))

    assert found is not None
    assert found.cause == CAUSES[Path(entry["file"]).stem]
    assert found.code == entry["extract"].get("error_code")
    assert found.library == entry["extract"].get("missing_library")
    assert found.line in text_of(entry)


@pytest.mark.parametrize("entry", entries("npu_smi"))
def test_failure_of_a_working_table_is_none(entry: dict[str, Any]) -> None:
    assert npu_failures.failure(text_of(entry)) is None


@pytest.mark.parametrize("entry", entries("versions"))
def test_version_file_gives_what_the_index_says_and_nothing_else(entry: dict[str, Any]) -> None:
    names = CANN_KEYS | {"driver_version", "firmware_version", "nnal_version"}

    found = version_files.read(text_of(entry))

    wanted = {name: entry["extract"].get(name) for name in names}
    assert {name: getattr(found, name) for name in names} == wanted
    assert found.driver_install_path == entry["extract"].get("driver_install_path")


def test_version_files_give_the_ranges_that_driver_and_firmware_accept() -> None:
    driver = version_files.read(
        (FOLDER / "versions" / "driver_version.info_25.0.rc1.1.txt").read_text("utf-8")
    )
    firmware = version_files.read(
        (FOLDER / "versions" / "firmware_version.info_7.1.0.11.220.txt").read_text("utf-8")
    )

    assert driver.compatible_firmware == ("7.0.0", "7.7.99")
    assert firmware.compatible_drivers == (("23.0.rc3", "23.0.rc3."), ("23.0.0", "23.0.0."))


@pytest.mark.parametrize("entry", entries("pip"))
def test_pip_output_gives_packages_and_conflicts(entry: dict[str, Any]) -> None:
    wanted = entry["extract"]

    found, complaints = packages.pip_list(text_of(entry)), packages.conflicts(text_of(entry))

    listed = wanted.get("packages", {})
    assert {name: found.get(packages.normal(name)) for name in listed} == listed
    assert len(complaints) == wanted.get("conflicts", 0)


def test_pip_list_reads_the_row_of_its_longest_name_and_no_sentence() -> None:
    text = "Package Version\nopencv-python-headless 4.11.0.86\nvllm                   0.23.0+empty /src\nPython 3 is here"

    assert packages.pip_list(text) == {
        "opencv-python-headless": "4.11.0.86",
        "vllm": "0.23.0+empty",
    }


def test_conflict_with_something_missing_has_no_version_found() -> None:
    text = (FOLDER / "pip" / "pip_conflicts_vllm0.18.0_ascend0.18.0rc1.txt").read_text("utf-8")

    first, second = packages.conflicts(text)[:2]

    assert (first.package, first.requirement, first.found) == ("te", "ml-dtypes", None)
    assert (second.requirement, second.found) == ("opencv-python-headless>=4.13.0", "4.11.0.86")


@pytest.mark.parametrize("entry", entries("collect_env"))
def test_report_gives_versions_cann_errors_and_platform(entry: dict[str, Any]) -> None:
    wanted = entry["extract"]
    versions = {name: value for name, value in wanted.items() if name.endswith("_version")}
    ours = {name for name in versions if name not in TABLE_KEYS | CANN_KEYS}

    found = collect_env.read(text_of(entry))

    assert {name: getattr(found, name) for name in ours} == {name: versions[name] for name in ours}
    for name in CANN_KEYS & set(wanted):
        assert getattr(found.cann, name) == wanted[name]
    assert (found.error, found.platform) == (
        wanted.get("error"),
        wanted.get("platform") or found.platform,
    )


def test_report_gives_the_environment_of_the_machine() -> None:
    text = (FOLDER / "collect_env" / "310p3_duo_vllm0.11.0_ascend0.11.0rc1.txt").read_text("utf-8")

    found = collect_env.read(text)

    assert found.environment["ASCEND_VISIBLE_DEVICES"] == "0-3"
    assert found.libc_version == "2.35"
    assert found.packages["torch-npu"] == "2.7.1"
