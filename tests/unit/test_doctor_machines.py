"""Composed machines around real recordings: the verdict and the findings are the expected ones."""

from __future__ import annotations

from collections import defaultdict

import doctor_machines as machines
import pytest

from helpers import doctor, messages
from helpers.doctor.schemas import DoctorForm

NAMES = machines.names()
HEALTHY = [name for name in NAMES if machines.load(name).healthy]
INFORMING = {"npu.present", "npu.two_chips", "npu_smi.answer"}
"""Findings that only inform: they are listed or not, and never a complaint."""


def found_on(name: str) -> dict[str, object]:
    """Return verdict and findings in the form of a machine's `expect`."""
    report = doctor.report_on(machines.load(name).machine)
    found: dict[str, object] = {"engine": report.verdict.engine, "stack": report.verdict.stack}
    for status in ("problem", "warning", "unknown"):
        ids = sorted(one.id for one in report.findings if one.status == status)
        if ids:
            found[status] = ids
    return found


@pytest.mark.parametrize("name", NAMES)
def test_machine_gets_its_verdict_and_its_findings(name: str) -> None:
    assert found_on(name) == machines.load(name).expect


def test_machines_are_at_least_forty_and_healthy_ones_ten() -> None:
    assert len(NAMES) >= 40
    assert len(HEALTHY) >= 10


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_machine_has_no_problem_and_nothing_unknown(name: str) -> None:
    report = doctor.report_on(machines.load(name).machine)

    assert report.ok
    assert report.of("problem", "unknown") == []


def test_no_two_machines_have_the_same_findings() -> None:
    same = defaultdict(list)
    for name in NAMES:
        report = doctor.report_on(machines.load(name).machine)
        same[frozenset((one.id, one.status) for one in report.findings)].append(name)

    assert [twins for twins in same.values() if len(twins) > 1] == []


def test_every_finding_is_raised_on_one_machine_and_not_on_another() -> None:
    raised: dict[str, set[str]] = defaultdict(set)
    for name in NAMES:
        for one in doctor.report_on(machines.load(name).machine).findings:
            if one.status != "ok" or one.id in INFORMING:
                raised[one.id].add(name)
            else:
                raised.setdefault(one.id, set())

    assert [one for one, where in raised.items() if not 0 < len(where) < len(NAMES)] == []


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_every_report_is_told_in_both_languages_and_fits_the_fixed_form(language: str) -> None:
    messages.use(language)
    for name in NAMES:
        report = doctor.report_on(machines.load(name).machine)

        form = DoctorForm.model_validate(report.as_json())

        assert form.ok is report.ok
        assert all(one.advice for one in form.findings if one.status != "ok"), name
        assert report.verdict.advice
        assert all(one.name for one in report.findings)


def test_text_of_a_report_leaves_out_what_is_well_unless_asked() -> None:
    report = doctor.report_on(machines.load("busy_one_of_eight").machine)

    assert report.verdict.advice in report.text(width=500)
    assert "devices.busy" in report.text(width=140)
    assert "versions.torch" not in report.text(width=140)
    assert "versions.torch" in report.text(width=140, everything=True)


@pytest.mark.parametrize("width", [60, 100, 160])
def test_text_of_a_report_keeps_to_the_width(width: int) -> None:
    from helpers.tables import width as columns

    text = doctor.report_on(machines.load("original_course_pair").machine).text(width=width)

    assert max(columns(line) for line in text.splitlines()) <= width


def test_html_of_a_report_lists_the_worst_first_and_escapes() -> None:
    report = doctor.report_on(machines.load("smi_garbage").machine)

    html = report._repr_html_()

    assert html.index("npu_smi.unreadable") < html.index("versions.torch")
    assert "<script" not in html
    assert "&lt;" not in report.verdict.advice


@pytest.mark.parametrize(
    ("name", "image"),
    [
        ("old_image", "quay.io/ascend/vllm-ascend:v0.23.0"),
        ("off_torch", "quay.io/ascend/vllm-ascend:v0.23.0"),
        ("310p_with_triton", None),
    ],
)
def test_verdict_names_the_image_where_versions_are_in_the_way(
    name: str, image: str | None
) -> None:
    verdict = doctor.report_on(machines.load(name).machine).verdict

    assert (image is None) or (image in verdict.advice)
    assert verdict.missing
    assert all(one in verdict.advice for one in verdict.missing)


def test_verdict_on_unsupported_chips_does_not_promise_an_image() -> None:
    verdict = doctor.report_on(machines.load("chip_910b_first_generation").machine).verdict

    assert "quay.io" not in verdict.advice
    assert "910" in verdict.advice
