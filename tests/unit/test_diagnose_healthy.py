"""Logs of real runs: healthy ones report no fault, failed ones their cause, recordings what their index says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from diagnose_logs import DISTURBED, FAULTS, HEALTHY, LOGS, unpacked

from helpers import diagnose

INDEX = yaml.safe_load((LOGS / "recorded" / "INDEX.yml").read_text("utf-8"))
SAID = [item for item in INDEX if item["says"]]
MEANING = {
    "started": ("healthy", "serving"),
    "serving": ("healthy", "serving"),
    "loading, not yet started": ("healthy", "loading"),
    "stopped on request": ("healthy", "shutdown"),
    "finished well": ("healthy", "finished"),
    "failed": ("fault", "loading"),
    "serving with failing requests": ("fault", "serving"),
}
CAUSES = {
    "auto_without_parser": "tool_choice_without_parser",
    "bad_arch": "architecture_unknown_to_vllm",
    "bad_dtype": "argument_value_invalid",
    "bad_json": "config_not_json",
    "bad_repo": "model_not_downloaded",
    "bad_type": "architecture_unknown_to_transformers",
    "batched_tokens": "batched_tokens_too_few",
    "chat_template_missing": "chat_template_file_missing",
    "client_badjson": "request_not_valid",
    "client_image": "model_takes_no_images",
    "client_too_long": "context_exceeded",
    "client_tools": "tools_without_flags",
    "client_wrong_model": "model_name_unknown",
    "custom_code": "remote_code_not_trusted",
    "empty_dir": "model_path_wrong",
    "engine_killed": "engine_died",
    "env_validation": "variable_unknown",
    "kv_small0": "value_not_a_number",
    "lfs_pointer": "weights_damaged",
    "limit_mm_legacy": "limit_mm_old_syntax",
    "lora_bad": "lora_not_fitting",
    "max_len_over": "context_longer_than_the_model",
    "missing_dir": "model_path_wrong",
    "no_tokenizer": "tokenizer_not_loadable",
    "no_weights": "weights_missing",
    "parser_unknown": "tool_parser_unknown",
    "port_held": "port_in_use",
    "quant_awq": "quantization_config_missing",
    "quant_bnb": "quantization_unknown",
    "reasoning_unknown": "reasoning_parser_unknown",
    "shape_mismatch": "weights_do_not_fit_the_configuration",
    "spec_bad": "model_path_wrong",
    "tp_too_big": "heads_not_divisible",
    "truncated": "weights_damaged",
    "unknown_flag": "flag_unknown",
}


def test_healthy_logs_are_thirty_or_more() -> None:
    assert len(HEALTHY) >= 30


@pytest.mark.parametrize("path", HEALTHY, ids=lambda path: path.name)
def test_healthy_log_reports_no_fault_and_its_stage(path: Path) -> None:
    found = diagnose.read_text(unpacked(path))

    assert (found.verdict, found.stage) == ("healthy", path.name.split("_")[2].split(".")[0])


@pytest.mark.parametrize("disturbed", DISTURBED.values(), ids=DISTURBED)
def test_healthy_logs_disturbed_report_no_fault(disturbed: Callable[[str], str]) -> None:
    verdicts = {p.name: diagnose.read_text(disturbed(unpacked(p))).verdict for p in HEALTHY}

    assert {name for name, verdict in verdicts.items() if verdict != "healthy"} == set()


@pytest.mark.parametrize("item", SAID, ids=lambda item: item["file"])
def test_recording_is_read_as_its_index_says(item: dict[str, str]) -> None:
    found = diagnose.read(LOGS / "recorded" / item["file"])

    assert (found.verdict, found.stage) == MEANING[item["says"]]


@pytest.mark.parametrize("item", [i for i in INDEX if i["healthy"]], ids=lambda item: item["file"])
def test_healthy_recording_of_any_tool_reports_no_fault(item: dict[str, str]) -> None:
    assert diagnose.read(LOGS / "recorded" / item["file"]).verdict != "fault"


@pytest.mark.parametrize("path", FAULTS, ids=lambda path: path.name)
def test_real_failure_on_the_cpu_engine_gives_its_cause(path: Path) -> None:
    found = diagnose.read_text(unpacked(path))

    assert (found.verdict, found.entry) == ("fault", CAUSES[path.name.split(".")[0]])


def test_engine_that_died_stays_the_cause_when_its_server_is_asked_again() -> None:
    (killed,) = [path for path in FAULTS if path.name.startswith("engine_killed")]
    asked = (
        '(APIServer pid=1) INFO:     127.0.0.1:5 - "GET /health HTTP/1.1" 503 Service Unavailable'
    )

    found = diagnose.read_text(f"{unpacked(killed)}\n{asked}\n")

    assert (found.entry, "requests_fail" in found.also) == ("engine_died", True)


def test_each_real_failure_has_a_log() -> None:
    assert {path.name.split(".")[0] for path in FAULTS} == set(CAUSES)


@pytest.mark.parametrize(
    ("file", "entry"),
    [
        ("dcmi_8005_plain", "driver_unreachable"),
        ("dcmi_8020_device_used", "device_held_by_another_container"),
        ("libc_sec_so_missing", "driver_not_mounted"),
        ("command_not_found_ci_log", "npu_smi_missing"),
    ],
)
def test_error_of_npu_smi_is_named(file: str, entry: str) -> None:
    assert diagnose.read(LOGS / "recorded" / "npu_smi_errors" / f"{file}.txt").entry == entry


def test_dma_recording_names_the_number_not_its_wrapper() -> None:
    name = "UNHEALTHY_vllm0.11.0rc3_qwen3_vl_8b_310p_tp2_dma_error.txt"

    found = diagnose.read(LOGS / "recorded" / "serve" / name)

    assert found.entry == "code.507013"
    assert {"code.ERR00100", "code.EL0004"} <= set(found.also)


def test_refused_requests_leave_a_server_healthy_and_are_named() -> None:
    log = "INFO:     Application startup complete.\n(APIServer pid=1) ERROR 11-30 14:48:03 [serving.py:274] Error with model error=ErrorInfo(message='The model `nope` does not exist.', code=404)\n"

    found = diagnose.read_text(log)

    assert (found.verdict, found.stage, found.entry) == ("healthy", "serving", "model_name_unknown")


def test_engine_exit_counts_as_noise_only_after_results_or_a_stop() -> None:
    line = "ERROR 01-07 20:00:59 [core_client.py:564] Engine core proc EngineCore_DP0 died unexpectedly, shutting down client."

    before = diagnose.read_text(f"INFO:     Application startup complete.\n{line}\n")
    after = diagnose.read_text(f"Prompt: 'a', Generated text: 'b'\n{line}\n")

    assert (before.verdict, before.entry) == ("fault", "engine_died")
    assert (after.verdict, after.entry, after.harmless[0].line) == ("healthy", "exit_noise", 2)
