"""Whatever a tool prints, the doctor answers: recordings with bytes, lines and words changed."""

from __future__ import annotations

from pathlib import Path

import doctor_machines as machines
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers import doctor
from helpers.doctor import (
    collect_env,
    npu_failures,
    npu_smi,
    npu_topics,
    packages,
    version_files,
)
from helpers.doctor.machine import Machine, Tool
from helpers.doctor.schemas import DoctorForm

RECORDED = machines.FIXTURES / "recorded"
TEXTS = [p.read_text("utf-8") for p in sorted(RECORDED.rglob("*.*")) if p.name != "INDEX.yml"]
TABLES = [p.read_text("utf-8") for p in sorted((RECORDED / "npu_smi").glob("*.txt"))]
BASE = machines.load("ok_a2_image_023").machine
JUNK = [
    "|",
    "/",
    "\x00",
    "NA",
    "-",
    "65536",
    "| 0 |",
    "│",
    "：",
    "No running processes found in NPU",
    "\r",
]
QUICK = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


@st.composite
def mutated(draw: st.DrawFn, texts: list[str]) -> str:
    """Return a recording with lines dropped, doubled, cut, and junk put in."""
    lines = draw(st.sampled_from(texts)).splitlines()
    for _ in range(draw(st.integers(1, 6))):
        if not lines:
            break
        at = draw(st.integers(0, len(lines) - 1))
        change = draw(st.sampled_from(["drop", "double", "cut", "junk", "end"]))
        if change == "drop":
            del lines[at]
        elif change == "double":
            lines.insert(at, lines[at])
        elif change == "cut":
            lines[at] = lines[at][: draw(st.integers(0, len(lines[at])))]
        elif change == "junk":
            where = draw(st.integers(0, len(lines[at])))
            lines[at] = lines[at][:where] + draw(st.sampled_from(JUNK)) + lines[at][where:]
        else:
            lines = lines[:at]
    return "\n".join(lines)


def report_with(output: str) -> doctor.Report:
    tool = Tool(state="ran", output=output, returncode=0)
    return doctor.report_on(BASE.model_copy(update={"npu_smi": tool}))


@QUICK
@given(mutated(TABLES))
def test_report_on_a_mutated_table_is_complete_and_never_ok_without_chips(output: str) -> None:
    report = report_with(output)

    form = DoctorForm.model_validate(report.as_json())
    status = {one.id: one.status for one in form.findings}
    seen = npu_smi.table(output).chips
    assert ("npu.health" in status) == bool(seen)
    assert status.get("npu.health") != "ok" or {chip.health for chip in seen} == {"OK"}
    assert seen or form.verdict.engine != "ascend"


@QUICK
@given(mutated(TEXTS))
def test_readers_of_mutated_text_return(text: str) -> None:
    table = npu_smi.table(text)

    assert all(chip.used_mb is None or chip.used_mb >= 0 for chip in table.chips)
    for reader in (
        npu_failures.failure,
        npu_topics.topic,
        version_files.read,
        packages.pip_list,
        packages.conflicts,
        collect_env.read,
    ):
        reader(text)


@QUICK
@given(st.text(max_size=400))
def test_report_on_any_text_never_says_that_chips_are_well(text: str) -> None:
    report = report_with(text)

    assert "npu.health" not in {one.id for one in report.of("ok")}


@QUICK
@given(
    st.dictionaries(
        st.sampled_from(
            ["ASCEND_RT_VISIBLE_DEVICES", "TASK_QUEUE_ENABLE", "http_proxy", "NO_PROXY", "HF_HOME"]
            + ["ASCEND_HOME_PATH", "VLLM_PLUGINS", "ASCEND_LAUNCH_BLOCKING", "PIP_INDEX_URL"]
        ),
        st.text(max_size=20),
    )
)
def test_report_on_any_variables_is_complete(environ: dict[str, str]) -> None:
    report = doctor.report_on(BASE.model_copy(update={"environ": environ}))

    assert DoctorForm.model_validate(report.as_json()).findings


@QUICK
@given(
    st.dictionaries(
        st.sampled_from(["vllm", "vllm-ascend", "torch", "torch-npu", "python", "numpy"]),
        st.text(max_size=12),
    ),
    mutated([text for text in TEXTS if "version" in text.lower()]),
)
def test_report_on_any_versions_is_complete(versions: dict[str, str], text: str) -> None:
    assert BASE.engine is not None
    engine = BASE.engine.model_copy(update={"versions": versions})
    texts = dict.fromkeys(BASE.version_texts, text)

    report = doctor.report_on(BASE.model_copy(update={"engine": engine, "version_texts": texts}))

    assert DoctorForm.model_validate(report.as_json()).findings


@pytest.mark.parametrize("path", sorted((RECORDED / "npu_smi").glob("*.txt")), ids=lambda p: p.stem)
def test_report_on_every_recorded_table_is_complete(path: Path) -> None:
    report = report_with(path.read_text("utf-8"))

    assert DoctorForm.model_validate(report.as_json()).findings
    assert "npu.health" in {one.id for one in report.findings}


def test_report_on_an_empty_machine_is_complete() -> None:
    report = doctor.report_on(Machine())

    assert report.verdict.engine == "cpu"
    assert DoctorForm.model_validate(report.as_json()).findings
