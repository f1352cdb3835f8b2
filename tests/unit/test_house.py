"""The house: workflows against their schema, make's targets against what the READMEs name, the CI script."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import paths

WORKFLOWS = sorted((paths.ROOT / ".github" / "workflows").glob("*.yml"))


def checked(path: Path) -> int:
    """Return the exit status of the vendored schema's check of a workflow."""
    command = [
        sys.executable,
        "-m",
        "check_jsonschema",
        "--builtin-schema",
        "vendor.github-workflows",
    ]
    return subprocess.run([*command, str(path)], capture_output=True, check=False).returncode


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflow_fits_its_schema(path: Path) -> None:
    assert checked(path) == 0


def test_workflow_with_an_unknown_key_is_refused(tmp_path: Path) -> None:
    spoilt = tmp_path / "ci.yml"
    spoilt.write_text(WORKFLOWS[0].read_text(encoding="utf-8").replace("runs-on:", "runs-at:"))

    assert checked(spoilt) != 0


@pytest.mark.parametrize("readme", ["README.md", "README.zh.md"])
def test_readme_names_only_targets_that_exist(readme: str) -> None:
    makefile = (paths.ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][\w-]*):", makefile, flags=re.M))

    named = set(
        re.findall(r"\bmake ([a-z][\w-]*)", (paths.ROOT / readme).read_text(encoding="utf-8"))
    )

    assert {"run", "test"} <= named <= targets


@pytest.mark.parametrize("readme", ["README.md", "README.zh.md"])
def test_readme_links_lead_somewhere(readme: str) -> None:
    text = (paths.ROOT / readme).read_text(encoding="utf-8")

    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert target.startswith("http") or (paths.ROOT / target).is_file(), target


def test_ci_script_runs_the_readmes_test_command() -> None:
    script = paths.ROOT / ".ci" / "run"

    assert os.access(script, os.X_OK)
    assert script.read_text(encoding="utf-8").splitlines()[-1] == "exec make test"
