"""Tests of the memory formula against published figures and real logs, and of the advice from it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import doctor_machines as machines
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import image_tokens, models, paths
from helpers.doctor import known_models, memory, preflight
from helpers.doctor.findings import Finding
from helpers.options import Options

GIB = 2**30
LOGS = Path(__file__).parents[1] / "fixtures" / "recorded" / "serve"
KNOWN = {one.name: one for one in known_models.all_known()}
MINICPM5, MINICPM_V = KNOWN["MiniCPM5-2B"].shape, KNOWN["MiniCPM-V-4_5"].shape
A2 = int(65536 * 2**20 * memory.USABLE_SHARE)
OPTIONS = Options("m", max_model_len=32768, gpu_memory_utilization=0.85, tensor_parallel_size=1)

QWEN3_8B = {  # Qwen/Qwen3-VL-8B-Instruct, text part of its config.json
    "hidden_size": 4096,
    "intermediate_size": 12288,
    "num_hidden_layers": 36,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 151936,
}


def log_numbers(name: str, *patterns: str) -> list[float]:
    """Return the first number that each pattern finds in a recorded log."""
    text = (LOGS / name).read_text("utf-8")
    found = [re.search(pattern, text) for pattern in patterns]
    return [float(one[1].replace(",", "")) for one in found if one]


def by_id(advice: preflight.Advice) -> dict[str, Finding]:
    return {one.id: one for one in advice.findings}


def test_minicpm5_has_the_published_parameters_and_size() -> None:
    config: dict[str, Any] = {
        "hidden_size": 2048,
        "intermediate_size": 6144,
        "num_hidden_layers": 42,
        "num_attention_heads": 16,
        "num_key_value_heads": 2,
        "head_dim": 128,
        "vocab_size": 130560,
    }

    shape = memory.shape_of(config)

    assert memory.parameters(config) == pytest.approx(2.517e9, rel=0.001)
    assert shape.weight_bytes == pytest.approx(5.03e9, rel=0.001)


@pytest.mark.parametrize(("tokens", "gib"), [(32_768, 1.31), (131_072, 5.25)])
def test_minicpm5_cache_of_a_context_takes_the_published_memory(tokens: int, gib: float) -> None:
    assert memory.token_bytes(MINICPM5) == 43_008
    assert tokens * memory.token_bytes(MINICPM5) / GIB == pytest.approx(gib, abs=0.005)


def test_cache_tokens_agree_with_a_log_of_qwen3_vl_on_an_a2() -> None:
    gib, tokens = log_numbers(
        "vllm0.18.0_qwen3_vl_8b_a2_tp1_full.txt",
        r"Available KV cache memory: ([\d.]+) GiB",
        r"KV cache size: ([\d,]+) tokens",
    )

    found = memory.cached_tokens(int(gib * GIB), memory.shape_of(QWEN3_8B))

    assert found == pytest.approx(tokens, rel=0.02)


def test_budget_is_on_the_safe_side_of_that_log_and_near_it() -> None:
    weights, gib = log_numbers(
        "vllm0.18.0_qwen3_vl_8b_a2_tp1_full.txt",
        r"Loading model weights took ([\d.]+) GB",
        r"Available KV cache memory: ([\d.]+) GiB",
    )
    config = {**QWEN3_8B, "vision_config": {}}

    terms = memory.budget(
        memory.shape_of(config, int(weights * GIB)),
        A2,
        gpu_memory_utilization=0.9,
        max_num_batched_tokens=16384,
    )

    assert gib * 0.95 <= terms.kv_cache / GIB <= gib


def test_usable_share_is_what_torch_saw_of_a_64_gb_chip() -> None:
    (total,) = log_numbers("dp_tp4_available_memory_kv_2025_08.txt", r"total memory: (\d+)")

    assert pytest.approx(total, rel=0.01) == A2


def test_tensor_parallelism_never_splits_a_key_value_head() -> None:
    assert memory.token_bytes(MINICPM5, 2) * 2 == memory.token_bytes(MINICPM5)
    assert memory.token_bytes(MINICPM5, 4) == memory.token_bytes(MINICPM5, 2)


def test_shape_of_the_stand_in_on_disk_has_the_size_of_its_files() -> None:
    folder = paths.STANDINS / "minicpm5"

    shape = known_models.shape_in(folder)

    assert shape.weight_bytes == models.inspect(folder, "x").bytes
    assert memory.token_bytes(shape) == 2 * 3 * 2 * 64 * 2


def test_shape_of_a_config_that_says_too_little_is_an_error() -> None:
    with pytest.raises(KeyError):
        memory.shape_of({"hidden_size": 1})


def test_start_of_minicpm5_on_an_a2_fits_and_says_how_often() -> None:
    advice = preflight.before_start(MINICPM5, OPTIONS, usable=A2)

    assert advice.ok
    assert float(by_id(advice)["preflight.memory"].values["times"]) > 10


def test_start_on_a_chip_in_use_says_which_share_is_possible() -> None:
    advice = preflight.before_start(MINICPM5, OPTIONS, usable=A2, free=A2 // 2)

    found = by_id(advice)["preflight.start"]
    assert (found.status, found.values["possible"]) == ("problem", 0.49)


def test_start_with_a_full_share_warns_of_graph_capture_and_eager_mode_does_not() -> None:
    full = OPTIONS.with_values(gpu_memory_utilization=1.0)

    graphs = preflight.before_start(MINICPM5, full, usable=A2)
    eager = preflight.before_start(MINICPM5, full.with_values(enforce_eager=True), usable=A2)

    assert by_id(graphs)["preflight.start"].status == "warning"
    assert by_id(eager)["preflight.start"].status == "ok"


def test_start_beyond_the_models_context_is_a_problem() -> None:
    advice = preflight.before_start(MINICPM5, OPTIONS.with_values(max_model_len=200_000), usable=A2)

    assert by_id(advice)["preflight.context"].values["longest"] == 131_072


def test_start_of_minicpm_v_on_a_24_gb_chip_does_not_fit() -> None:
    advice = preflight.before_start(
        MINICPM_V, OPTIONS.with_values(max_model_len=8192), usable=int(21534 * 2**20 * 0.95)
    )

    found = by_id(advice)["preflight.memory"]
    assert (found.status, found.advice_code) == ("problem", "doctor.preflight.memory.weights")


@pytest.mark.parametrize(
    ("length", "limit", "status"),
    [(2048, {"image": 10}, "warning"), (8192, {"image": 10}, "ok"), (2048, {"image": 2}, "ok")],
)
def test_pictures_are_held_against_the_context(
    length: int, limit: dict[str, int], status: str
) -> None:
    options = Options("m", max_model_len=length, limit_mm_per_prompt=limit)

    found = by_id(preflight.before_start(MINICPM_V, options, usable=A2))["preflight.images"]

    assert found.status == status
    if status == "warning":
        assert found.values == {"needed": 7424, "fits": 2}


def test_large_picture_costs_the_most_of_the_slicing_rule() -> None:
    most = image_tokens.Slicing().cost(None)

    assert most.total == memory.LARGE_IMAGE_TOKENS


def test_pictures_with_options_of_their_own_are_counted() -> None:
    options = Options("m", max_model_len=2048, limit_mm_per_prompt={"image": {"count": 9}})

    found = by_id(preflight.before_start(MINICPM_V, options, usable=A2))["preflight.images"]

    assert found.status == "warning"


@pytest.mark.parametrize(
    ("size", "devices", "advice", "best"),
    [(4, 2, "doctor.preflight.parallel.devices", 2), (3, 4, "doctor.preflight.parallel.heads", 4)],
)
def test_tensor_parallelism_that_cannot_be_gets_the_largest_that_can(
    size: int, devices: int, advice: str, best: int
) -> None:
    options = OPTIONS.with_values(tensor_parallel_size=size)

    found = by_id(preflight.before_start(MINICPM5, options, usable=A2, devices=devices))

    assert found["preflight.parallel"].advice_code == advice
    assert found["preflight.parallel"].values == {"best": best}


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    st.integers(6 * GIB, 70 * GIB),
    st.sampled_from([0.5, 0.7, 0.85, 0.9]),
    st.integers(1024, 131_072),
)
def test_following_the_advice_makes_the_problem_go_away(
    usable: int, share: float, length: int
) -> None:
    options = Options("m", max_model_len=length, gpu_memory_utilization=share)
    found = by_id(preflight.before_start(MINICPM5, options, usable=usable))["preflight.memory"]
    if found.status == "ok" or found.advice_code == "doctor.preflight.memory.weights":
        return

    ways = [{"max_model_len": found.values["shorter"]}]
    if "raised" in found.values:
        ways.append({"gpu_memory_utilization": found.values["raised"]})

    for way in ways:
        again = preflight.before_start(MINICPM5, options.with_values(**way), usable=usable)
        assert by_id(again)["preflight.memory"].status == "ok", way


def test_start_on_a_machine_takes_the_fullest_of_the_chips_that_it_gets() -> None:
    busy = machines.load("busy_one_of_eight").machine

    everywhere = preflight.on_machine(MINICPM5, OPTIONS, busy)
    elsewhere = preflight.on_machine(MINICPM5, OPTIONS.with_values(devices=(0,)), busy)

    assert by_id(everywhere)["preflight.start"].status == "problem"
    assert by_id(elsewhere)["preflight.start"].status == "ok"
    assert elsewhere.budget is not None
    assert elsewhere.budget.free == pytest.approx(elsewhere.budget.usable, rel=0.01)


def test_start_on_a_machine_counts_only_the_devices_that_are_visible() -> None:
    machine = machines.load("ok_a2_one_visible").machine

    found = by_id(
        preflight.on_machine(MINICPM5, OPTIONS.with_values(tensor_parallel_size=2), machine)
    )

    assert found["preflight.parallel"].values == {"best": 1}


def test_start_on_a_machine_without_an_npu_judges_no_memory() -> None:
    advice = preflight.on_machine(MINICPM5, OPTIONS, machines.load("ok_cpu_laptop").machine)

    assert advice.budget is None
    assert advice.ok


def test_start_where_the_memory_is_unknown_still_checks_the_rest() -> None:
    advice = preflight.before_start(MINICPM5, OPTIONS, usable=None)

    assert advice.budget is None
    assert set(by_id(advice)) == {"preflight.parallel", "preflight.context"}


@pytest.mark.parametrize(("free", "ok"), [(6 * GIB, True), (5 * GIB, False)])
def test_download_wants_a_tenth_more_than_the_files(free: int, ok: bool) -> None:
    advice = preflight.before_download(KNOWN["MiniCPM5-2B"].download_bytes, free, "~/work")

    assert advice.ok is ok
    assert "~/work" in str(advice)


def test_advice_as_text_has_the_terms_and_what_to_do() -> None:
    advice = preflight.before_start(MINICPM5, OPTIONS, usable=A2, free=GIB)

    text = str(advice)

    assert "43,008 B" in text
    assert by_id(advice)["preflight.start"].advice in text
