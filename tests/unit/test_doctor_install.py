"""Tests of the commands that install an engine: composed for the machine, from versions.yml alone."""

from __future__ import annotations

import shlex
import subprocess

import doctor_machines as machines
import pytest

from helpers import doctor, messages
from helpers.doctor import install, stacks


def plan_for(name: str, **changes: object) -> install.Plan:
    machine = machines.load(name).machine.model_copy(update=changes)
    return install.plan(machine, doctor.report_on(machine).findings)


def words_of(plan: install.Plan) -> list[str]:
    (command,) = plan.commands
    return shlex.split(command.replace("\\\n", " "))


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("ok_a2_image_023", "ready"),
        ("ok_cpu_laptop", "ready"),
        ("ok_cpu_no_engine_yet", "cpu"),
        ("ok_mac", "remote"),
        ("host_with_docker", "docker"),
        ("no_plugin", "pip"),
        ("old_image", "platform"),
        ("chip_910b_first_generation", "cpu"),
    ],
)
def test_plan_is_the_way_that_fits_the_machine(name: str, way: str) -> None:
    assert plan_for(name).way == way


def test_docker_command_has_every_device_mount_and_the_image() -> None:
    words = words_of(plan_for("host_with_docker"))

    devices = [words[i + 1] for i, word in enumerate(words) if word == "--device"]
    mounts = [words[i + 1] for i, word in enumerate(words) if word == "-v"]
    assert devices == [f"/dev/davinci{n}" for n in range(8)] + [
        "/dev/davinci_manager",
        "/dev/devmm_svm",
        "/dev/hisi_hdc",
    ]
    assert {f"{place}:{place}" for place in install.MOUNTS} <= set(mounts)
    assert words[-2:] == ["quay.io/ascend/vllm-ascend:v0.23.0", "bash"]
    assert "--shm-size=1g" in words


@pytest.mark.parametrize(
    ("name", "image", "cards"),
    [
        ("ok_a3_two_chips_a_card", "v0.23.0-a3", 16),
        ("ok_310p_duo", "v0.23.0-310p-openeuler", 2),
        ("ok_openeuler_mirror", "v0.23.0-openeuler", 8),
        ("chip_alarm_a5", "v0.23.0-a5", 3),
    ],
)
def test_docker_command_follows_the_chips(name: str, image: str, cards: int) -> None:
    words = words_of(install.docker(machines.load(name).machine))

    assert words[-2] == f"quay.io/ascend/vllm-ascend:{image}"
    assert sum(word.startswith("/dev/davinci") for word in words) == cards + 1


def test_docker_command_of_a_950_mounts_the_whole_driver() -> None:
    words = words_of(install.docker(machines.load("chip_alarm_a5").machine))

    assert "/usr/local/Ascend/driver:/usr/local/Ascend/driver" in words
    assert not any("driver/lib64" in word for word in words)


def test_docker_command_for_chosen_devices_has_only_those() -> None:
    machine = machines.load("host_with_docker").machine

    words = words_of(install.docker(machine, [2, 3]))

    assert [word for word in words if word[:-1] == "/dev/davinci"] == [
        "/dev/davinci2",
        "/dev/davinci3",
    ]


def test_docker_command_leaves_out_mounts_that_are_not_there() -> None:
    machine = machines.load("host_with_docker").machine

    words = words_of(install.docker(machine, exists=lambda place: "dcmi" not in place))

    assert not any("dcmi" in word for word in words)
    assert any("npu-smi" in word for word in words)


def test_docker_command_for_devices_that_are_not_there_is_refused() -> None:
    machine = machines.load("cards_4_5").machine

    with pytest.raises(install.BadDevices, match=r"\[4, 5\]"):
        install.docker(machine, [0])


def test_docker_command_for_chips_without_an_image_is_refused() -> None:
    machine = machines.load("chip_910b_first_generation").machine

    with pytest.raises(install.NoImage, match="910"):
        install.docker(machine)


@pytest.mark.parametrize("stack_id", ["ascend-0.23", "ascend-0.18"])
def test_pip_installs_vllm_before_its_plugin_in_two_commands(stack_id: str) -> None:
    stack = stacks.named(stack_id)

    plan = install.pip(stack)

    installs = [command for command in plan.commands if command.startswith("pip install")]
    version = stack["vllm"]["value"]
    assert len(installs) == 2
    assert installs[0] == f"pip install vllm=={version}"
    assert installs[1].endswith(f" vllm-ascend=={version}")
    assert plan.commands[0].startswith("source ")


def test_pip_on_x86_adds_the_cpu_index_of_pytorch() -> None:
    stack = stacks.named("ascend-0.18")

    assert any("whl/cpu" in command for command in install.pip(stack, "x86_64").commands)
    assert not any("whl/cpu" in command for command in install.pip(stack, "aarch64").commands)


@pytest.mark.parametrize(
    ("name", "stack"),
    [("ok_a2_image_023", "ascend-0.23"), ("ok_a2_image_018", "ascend-0.18"), ("old_image", None)],
)
def test_fitting_stack_is_the_one_of_the_cann_that_is_there(name: str, stack: str | None) -> None:
    found = install.fitting(machines.load(name).machine)

    assert (found["id"] if found else None) == stack


@pytest.mark.parametrize("way", install.WAYS)
@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_every_plan_is_a_script_that_a_shell_can_read(way: str, language: str) -> None:
    messages.use(language)
    text = str(install.by_name(way, machines.load("ok_a2_image_023").machine))

    done = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    assert text.splitlines()[0].startswith("# ")
