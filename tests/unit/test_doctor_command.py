"""Tests of `python -m helpers doctor` and `install-command`: what is printed, and the exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import doctor_machines as machines
import pytest
from click.testing import CliRunner

from helpers import doctor
from helpers.cli import main
from helpers.doctor.schemas import DoctorForm

pytestmark = pytest.mark.usefixtures("own_state")


@pytest.fixture
def inside(kept_environ: None) -> CliRunner:
    """Return click's runner."""
    return CliRunner()


def on(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Let the commands see a composed machine."""
    machine = machines.load(name).machine
    monkeypatch.setattr(doctor, "examine", lambda **_: doctor.report_on(machine))


@pytest.mark.parametrize(("name", "status"), [("ok_a2_image_023", 0), ("off_torch", 1)])
def test_doctor_ends_with_1_only_where_there_is_a_problem(
    inside: CliRunner, monkeypatch: pytest.MonkeyPatch, name: str, status: int
) -> None:
    on(monkeypatch, name)

    assert inside.invoke(main, ["doctor"]).exit_code == status


@pytest.mark.parametrize("name", ["smi_hangs", "original_course_pair"])
def test_doctor_ends_with_0_where_something_is_unknown_or_odd(
    inside: CliRunner, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    on(monkeypatch, name)

    assert inside.invoke(main, ["doctor"]).exit_code == 0


def test_doctor_as_json_prints_the_fixed_form_and_nothing_else(
    inside: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    on(monkeypatch, "off_cann")

    done = inside.invoke(main, ["--language", "en", "doctor", "--json"])

    form = DoctorForm.model_validate(json.loads(done.stdout))
    raw = json.loads(done.stdout)
    assert (form.ok, raw["schema"], set(raw)) == (False, 1, {"schema", "ok", "verdict", "findings"})
    assert set(raw["verdict"]) == {"engine", "stack", "advice"}
    assert set(raw["findings"][0]) == {"id", "status", "evidence", "why", "advice"}


def test_doctor_with_all_lists_what_is_well(
    inside: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    on(monkeypatch, "ok_a2_image_023")

    assert "versions.torch" not in inside.invoke(main, ["doctor"]).stdout
    assert "versions.torch" in inside.invoke(main, ["doctor", "--all"]).stdout


def test_doctor_on_this_machine_prints_its_verdict(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "helpers", "--language", "en", "doctor", "--json"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
    )

    form = DoctorForm.model_validate(json.loads(done.stdout))
    assert done.returncode == (0 if form.ok else 1)
    assert list(tmp_path.iterdir()) == []


def test_install_command_prints_the_plan_of_the_machine(
    inside: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    on(monkeypatch, "host_with_docker")

    done = inside.invoke(main, ["install-command", "--devices", "1"])

    assert done.exit_code == 0
    assert "--device /dev/davinci1 " in done.stdout
    assert "--device /dev/davinci2 " not in done.stdout


def test_install_command_of_an_older_stack_has_its_image(
    inside: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    on(monkeypatch, "ok_a3_two_chips_a_card")

    done = inside.invoke(main, ["install-command", "--stack", "ascend-0.18"])

    assert "vllm-ascend:v0.18.0-a3 bash" in done.stdout


@pytest.mark.parametrize(
    "words", [["--stack", "ascend-9"], ["--devices", "x"], ["--devices", "-1"], ["--way", "magic"]]
)
def test_install_command_with_a_bad_value_is_a_usage_error(
    inside: CliRunner, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    on(monkeypatch, "host_with_docker")

    assert inside.invoke(main, ["install-command", *words]).exit_code == 2


def test_install_command_for_devices_that_are_not_there_is_a_message(
    inside: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    on(monkeypatch, "host_with_docker")

    done = inside.invoke(main, ["install-command", "--devices", "9"])

    assert done.exit_code == 1
    assert "doctor.install.bad_devices" in done.stderr
