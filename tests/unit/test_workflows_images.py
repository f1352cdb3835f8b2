"""The image that a runner takes is the version table's, read without any package."""

from __future__ import annotations

import ast
import runpy
import subprocess
import sys

import pytest

from helpers import paths
from helpers.doctor import stacks

IMAGE = runpy.run_path(str(paths.ROOT / ".github" / "npu_image.py"))["image"]
CHIPS = ("A2", "A3", "310P", "A5")


@pytest.mark.parametrize("stack", [one["id"] for one in stacks.all_stacks()])
@pytest.mark.parametrize("chips", CHIPS)
def test_image_of_a_runner_is_the_version_tables(stack: str, chips: str) -> None:
    named = stacks.image(stacks.named(stack), chips, "Ubuntu")

    if named is None:
        with pytest.raises(LookupError, match=f"chips {chips} of stack {stack}"):
            IMAGE(chips, stack)
    else:
        assert IMAGE(chips, stack) == named


def test_image_without_a_wish_is_that_of_the_recommended_stack_on_a2() -> None:
    assert IMAGE() == stacks.image(stacks.default(), "A2", "Ubuntu")


def test_image_that_the_table_does_not_have_ends_the_script_with_its_choices() -> None:
    command = [sys.executable, str(paths.ROOT / ".github" / "npu_image.py"), "A9"]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert "A2, A3" in done.stderr


@pytest.mark.parametrize("script", ["npu_image.py"])
def test_script_for_a_new_runner_needs_the_standard_library_only(script: str) -> None:
    tree = ast.parse((paths.ROOT / ".github" / script).read_text(encoding="utf-8"))
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [a.name for a in node.names]
        )
    }

    assert imported <= set(sys.stdlib_module_names)
