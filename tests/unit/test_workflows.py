"""The workflows for runners with an NPU: images from the version table, steps that exist, nothing that leaks.

GitHub's schema is checked in test_house.py; for AtomGit's pipelines no schema is published, so what we use of them is
held here against the platform's documents (docs.gitcode.com, pipeline, as of 2026-07-20).
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from helpers import catalog, paths
from helpers.cli import main as cli
from helpers.doctor import install, places, stacks

GITHUB = paths.ROOT / ".github" / "workflows"
ATOMGIT = paths.ROOT / ".gitcode" / "workflows"
SCRIPT = paths.ROOT / ".gitcode" / "npu.sh"
WEIGHTS = paths.ROOT / ".github" / "npu_weights.sh"
FILES = sorted([*GITHUB.glob("*.yml"), *ATOMGIT.glob("*.yml")])
TARGETS = re.findall(r"^([a-z][\w-]*):", (paths.ROOT / "Makefile").read_text("utf-8"), flags=re.M)
SHELL = "bash -el {0}"
DEVICE = ("npu-smi info",)
"""What only a runner with an NPU can do."""

PLUMBING = (
    r'image="\$\(python3 \.github/npu_image\.py "\$CHIPS" "\$STACK"\)"',
    r'echo "image=\$image" >> "\$GITHUB_OUTPUT"',
    r"command -v make \|\| \{ apt-get update && apt-get install -y make; \}",
)
"""Lines of a step that are neither a target nor a script."""


def load(path: Path) -> dict[str, Any]:
    """Return a workflow; YAML reads its `on` as a truth value."""
    data: dict[Any, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {("on" if key is True else key): value for key, value in data.items()}


def jobs(path: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = load(path)["jobs"]
    return found


def steps(path: Path) -> list[dict[str, Any]]:
    """Return the steps of all jobs."""
    return [step for job in jobs(path).values() for step in job["steps"]]


def lines(path: Path) -> list[str]:
    """Return the command lines of all steps."""
    runs = [step["run"] for step in steps(path) if "run" in step]
    return [line.strip() for run in runs for line in run.splitlines() if line.strip()]


def exists(line: str) -> bool:
    """Return True for a command line that runs a target, a script or a command of this checkout."""
    words = line.removeprefix("bash .gitcode/npu.sh ").split()
    if words[0] == "make":
        return len(words) == 2 and words[1] in TARGETS
    if words[:3] == ["python3", "-m", "helpers"]:
        return cli.get_command(None, words[3]) is not None  # type: ignore[arg-type]
    if words[0] == "bash":
        return (paths.ROOT / words[1]).is_file()
    return line in DEVICE or any(re.fullmatch(one, line) for one in PLUMBING)


def test_workflows_are_found_on_both_platforms() -> None:
    found = [f"{path.parent.parent.name}/{path.name}" for path in FILES]

    assert found == [".gitcode/npu.yml", ".github/ci.yml", ".github/npu.yml"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.parent.name}-{path.stem}")
def test_step_runs_a_target_or_a_script_that_exists(path: Path) -> None:
    assert [line for line in lines(path) if not exists(line)] == []


@pytest.mark.parametrize(
    "line", ["make nothing", "python3 -m helpers nothing", "bash no.sh", "rm x"]
)
def test_line_that_runs_nothing_of_this_checkout_is_found(line: str) -> None:
    assert not exists(line)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.parent.name}-{path.stem}")
def test_workflow_uses_no_secret_and_no_expression_inside_a_command(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert "secrets" not in text
    assert [line for line in lines(path) if "${{" in line] == []
    assert not re.search(r"quay\.io|vllm-ascend:v", text), "a tag that versions.yml should have"


@pytest.mark.parametrize("path", sorted(GITHUB.glob("*.yml")), ids=lambda path: path.name)
def test_github_workflow_may_only_read(path: Path) -> None:
    workflow = load(path)

    assert workflow["permissions"] == {"contents": "read"}
    assert all("permissions" not in job for job in workflow["jobs"].values())
    assert all(job["timeout-minutes"] <= 240 for job in workflow["jobs"].values())


def on_npu() -> dict[str, dict[str, Any]]:
    """Return the jobs of GitHub's workflow that run on an NPU, by form."""
    return {name: job for name, job in jobs(GITHUB / "npu.yml").items() if "container" in job}


def test_jobs_on_an_npu_are_two_forms_with_the_same_steps() -> None:
    found = on_npu()

    assert list(found) == ["docker", "kubernetes"]
    assert found["docker"]["steps"] == found["kubernetes"]["steps"]


@pytest.mark.parametrize("form", ["docker", "kubernetes"])
def test_job_on_an_npu_looks_at_the_device_first_and_shows_what_it_left_last(form: str) -> None:
    job = on_npu()[form]
    named = [step.get("run", step.get("uses")) for step in job["steps"]]

    assert job["defaults"]["run"]["shell"] == SHELL
    assert named[1] == "npu-smi info"
    assert [one for one in named if str(one).startswith("make ")] == [
        "make run",
        "make nbval-npu",
        "make evidence",
    ]
    bundle, upload = job["steps"][-2:]
    assert (bundle["if"], upload["if"]) == ("failure()", "always()")
    assert "report-bundle" in bundle["run"]
    assert {"build/run-*/", "build/evidence-*.zip"} <= set(upload["with"]["path"].split())


def test_checkout_on_an_npu_keeps_no_credentials() -> None:
    checkouts = [step for step in steps(GITHUB / "npu.yml") if "checkout" in step.get("uses", "")]

    assert len(checkouts) == 3
    assert all(step["with"] == {"persist-credentials": False} for step in checkouts)


def test_pull_request_reaches_the_runner_by_a_label_only() -> None:
    on = load(GITHUB / "npu.yml")["on"]

    assert on["pull_request"] == {"types": ["labeled"]}
    assert "pull_request_target" not in on
    assert "github.event.label.name == 'npu'" in jobs(GITHUB / "npu.yml")["image"]["if"]
    assert all(job["needs"] == "image" for job in on_npu().values())
    assert len(on["schedule"]) == 1


def test_choices_of_a_run_by_hand_are_those_of_the_version_table() -> None:
    inputs = load(GITHUB / "npu.yml")["on"]["workflow_dispatch"]["inputs"]
    ascend = [one for one in stacks.all_stacks() if one["engine"] == "ascend"]

    assert inputs["stack"]["options"] == [one["id"] for one in ascend]
    assert inputs["stack"]["default"] == stacks.default()["id"]
    assert set(inputs["chips"]["options"]) == {e["chips"] for one in ascend for e in one["images"]}


def wanted_devices() -> list[str]:
    return [f"/dev/{name}" for name in places.MANAGERS]


def test_plain_docker_form_has_the_devices_and_mounts_of_the_install_command() -> None:
    container = on_npu()["docker"]["container"]
    devices = re.findall(r"--device (\S+)", re.sub(r"\$\{\{.*?\}\}", "N", container["options"]))
    mounts = [one.split(":")[0] for one in container["volumes"]]

    assert devices == ["/dev/davinciN", *wanted_devices()]
    assert mounts[:-1] == list(install.MOUNTS)
    assert container["volumes"][-1].endswith(":/root/.cache")
    assert on_npu()["docker"]["env"]["NPU_STORE"].startswith("/root/.cache/")


# AtomGit: its own contexts, actions and conditions.


def test_atomgit_pipeline_uses_what_the_platform_documents_and_nothing_of_githubs() -> None:
    text = (ATOMGIT / "npu.yml").read_text(encoding="utf-8")
    used = {step["uses"] for step in steps(ATOMGIT / "npu.yml") if "uses" in step}
    conditions = {step["if"] for step in steps(ATOMGIT / "npu.yml") if "if" in step}
    contexts = set(re.findall(r"\$\{\{ *(\w+)", text))

    assert used == {"checkout", "upload-artifact"}
    assert conditions <= {"${{ always }}", "${{ failed }}"}
    assert contexts <= {"always", "failed", "inputs", "atomgit"}
    assert set(load(ATOMGIT / "npu.yml")["on"]) <= {"schedule", "workflow_dispatch"}
    assert all("container" not in job for job in jobs(ATOMGIT / "npu.yml").values())


def test_atomgit_job_takes_a_runner_of_ones_own_and_the_same_steps() -> None:
    (job,) = jobs(ATOMGIT / "npu.yml").values()
    inside = [line.removeprefix("bash .gitcode/npu.sh ") for line in lines(ATOMGIT / "npu.yml")]
    github = [step["run"].splitlines()[-1] for step in on_npu()["docker"]["steps"] if "run" in step]

    assert job["runs-on"]["type"] == "self-hosted"
    assert inside == github


@pytest.fixture
def docker(tmp_path: Path) -> Path:
    """Return a program that prints the arguments it is given, one a line, in docker's place."""
    path = tmp_path / "docker"
    path.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    return path


def test_script_composes_the_docker_command_of_the_install_command(docker: Path) -> None:
    env = os.environ | {"DOCKER": str(docker), "NPU_DEVICE": "3", "NPU_CACHE": "/data"}
    env |= {"NPU_CHIPS": "A3", "NPU_STACK": ""}

    done = subprocess.run(
        ["bash", str(SCRIPT), "make", "run"], env=env, capture_output=True, text=True, check=True
    )

    words = done.stdout.splitlines()
    given = [words[n + 1] for n, word in enumerate(words) if word == "--device"]
    mounts = [words[n + 1] for n, word in enumerate(words) if word == "-v"]
    assert given == ["/dev/davinci3", *wanted_devices()]
    assert mounts[: len(install.MOUNTS)] == [f"{one}:{one}" for one in install.MOUNTS]
    assert mounts[-2:] == ["/data:/root/.cache", f"{paths.ROOT}:/workspace/labs"]
    assert stacks.image(stacks.default(), "A3", "Ubuntu") in words
    assert words[-3:] == ["npu", "make", "run"]
    assert words[-5:-3][0] == "-c"


def test_weights_of_a_runner_are_fetched_into_the_store_and_found_by_the_labs(
    tmp_path: Path,
) -> None:
    python = tmp_path / "bin" / "python3"
    python.parent.mkdir()
    python.write_text('#!/bin/sh\necho "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    home, store = tmp_path / "home", tmp_path / "volume"
    env = {"PATH": f"{python.parent}:{os.environ['PATH']}", "HOME": str(home)}

    for _ in range(2):  # a second job finds the link of the first
        done = subprocess.run(
            ["bash", str(WEIGHTS)],
            env=env | {"NPU_STORE": str(store)},
            capture_output=True,
            text=True,
            check=True,
        )

    models = home / ".cache" / "minicpm-labs" / "models"
    assert models.resolve() == store.resolve()
    told = [line.split() for line in done.stdout.splitlines()]
    assert [words[3] for words in told] == ["OpenBMB/MiniCPM-V-4_5", "OpenBMB/MiniCPM5-2B"]
    for words in told:
        place = words[4].replace(str(home), "~")
        assert any(place in lab["model_dirs"].get("ascend", []) for lab in catalog.labs().values())
