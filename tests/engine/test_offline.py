"""Offline batch inference on the real engine: a script in its own Python holds the device."""

from __future__ import annotations

import os

import pytest

from helpers import offline, paths, server
from helpers.engines import Cpu
from helpers.errors import DeviceBusy, OfflineFailed
from helpers.models import Model
from helpers.options import Options
from helpers.server import Server, ledger

PROMPTS = ["What is the capital of France?", "Which river flows through Cairo?", "Say hello."]

BATCH = """
import json, sys
from vllm import LLM, SamplingParams

if __name__ == "__main__":
    llm = LLM(**json.loads(sys.argv[1]))
    turns = [[{"role": "user", "content": prompt}] for prompt in json.loads(sys.argv[3])]
    sampling = SamplingParams(temperature=0.0, max_tokens=16)
    out = llm.chat(turns, sampling, chat_template_kwargs={"enable_thinking": False})
    counted = [len(one.outputs[0].token_ids) for one in out]
    json.dump({"prompts": [one.prompt for one in out], "tokens": counted}, open(sys.argv[2], "w"))
"""
RAISES = "print('before the fault')\nraise ValueError('seeded fault')\n"
SILENT = "print('nothing written')\n"
HANGS = "import time\nprint('waiting', flush=True)\ntime.sleep(600)\n"


def _failed(
    engine: Cpu, model: Model, options: Options, script: str, **more: float
) -> OfflineFailed:
    with pytest.raises(OfflineFailed) as caught:
        offline.run(engine, model, options, script, **more)
    assert server.status() == []
    return caught.value


def test_offline_while_a_server_runs_is_refused_without_a_start(
    served: Server, engine: Cpu, model: Model, options: Options
) -> None:
    run = os.environ["LAB_RUN"]
    before = ledger.count(run), sorted((paths.state_dir() / "logs").iterdir())

    with pytest.raises(DeviceBusy) as caught:
        offline.run(engine, model, options, BATCH, PROMPTS)

    assert caught.value.values["pid"] == served.pid
    assert (ledger.count(run), sorted((paths.state_dir() / "logs").iterdir())) == before
    assert served.is_ready


def test_offline_batch_answers_every_prompt_in_order(
    device: Cpu, model: Model, options: Options
) -> None:
    """Starts its own: the engine runs inside the script, and the device must be free."""
    result = offline.run(device, model, options, BATCH, PROMPTS, timeout=300)

    assert result.returncode == 0
    pairs = zip(PROMPTS, result.output["prompts"], strict=True)
    assert all(asked in seen for asked, seen in pairs)
    assert all(0 < count <= 16 for count in result.output["tokens"])
    # Success is told by exit code and output; what the engine says while it ends is in the log.
    assert result.find_in_log(r"Initializing a V1 LLM engine")
    assert result.find_in_log(r"(?i)shut(ting)? ?down|leaked|died")
    assert server.status() == []


def test_offline_script_that_raises_is_told_with_its_own_words(
    device: Cpu, model: Model, options: Options
) -> None:
    """Starts its own: a script holds the device even where it loads no model."""
    error = _failed(device, model, options, RAISES)

    assert error.values["ended"] == "exit code 1"
    assert "ValueError: seeded fault" in error.evidence
    assert "before the fault" in error.evidence
    assert error.original == "ValueError: seeded fault"


def test_offline_script_without_output_is_no_success(
    device: Cpu, model: Model, options: Options
) -> None:
    """Starts its own: see above."""
    error = _failed(device, model, options, SILENT)

    assert error.values["ended"] == "exit code 0"
    assert "nothing written" in error.evidence


def test_offline_script_that_takes_too_long_is_ended(
    device: Cpu, model: Model, options: Options
) -> None:
    """Starts its own: see above."""
    error = _failed(device, model, options, HANGS, timeout=1.0)

    assert "waiting" in error.evidence
