"""Stored outputs are kept as long as the stand-in that the lab serves is the same; another lab's may change."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import ModuleType

import pytest

from helpers import paths

LABS = {"01_minicpm_v": "minicpm_v", "02_minicpm5": "minicpm5"}


def marks(build: ModuleType) -> dict[str, str]:
    """Return the fingerprint of each lab of LABS."""
    return {lab: build.fingerprint(build.learner(build.read(lab, "zh")), lab) for lab in LABS}


@pytest.mark.parametrize("lab", LABS)
@pytest.mark.parametrize("name", ["model.safetensors", "chat_template.jinja"])
def test_fingerprint_changes_with_the_files_of_the_labs_own_stand_in_only(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lab: str, name: str
) -> None:
    for folder in LABS.values():
        shutil.copytree(paths.STANDINS / folder, tmp_path / folder)
    monkeypatch.setattr(paths, "STANDINS", tmp_path)
    before = marks(build)

    with (tmp_path / LABS[lab] / name).open("ab") as file:
        file.write(b"\n")

    after = marks(build)
    assert [one for one in LABS if before[one] != after[one]] == [lab]


def test_fingerprint_of_a_lab_without_a_model_depends_on_no_stand_in(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = "00_check_environment"
    notebook = build.learner(build.read(lab, "zh"))
    before = build.fingerprint(notebook, lab)

    monkeypatch.setattr(paths, "STANDINS", tmp_path)

    assert build.fingerprint(notebook, lab) == before
