"""Tests of the log reader: a bounded tail, the stage of a start, and lines without what differs in
each run.
"""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from helpers import paths
from helpers.server import log

RECORDED = paths.ROOT / "tests" / "fixtures" / "recorded" / "serve"
FULL = RECORDED / "vllm0.18.0_qwen3_vl_8b_a2_tp1_full.txt"


@pytest.fixture
def written(tmp_path: Path) -> Path:
    return tmp_path / "server.log"


def test_tail_returns_the_last_lines_in_order(written: Path) -> None:
    written.write_text("\n".join(map(str, range(100))), encoding="utf-8")

    assert log.tail(written, 3) == "97\n98\n99"


def test_tail_of_a_missing_file_is_empty(written: Path) -> None:
    assert log.tail(written) == ""


def test_tail_of_an_empty_file_is_empty(written: Path) -> None:
    written.touch()

    assert log.tail(written) == ""


def test_tail_of_a_huge_file_reads_a_bounded_end(written: Path) -> None:
    with written.open("wb") as file:
        file.truncate(3 * 1024**3)  # sparse: it takes no room
        file.seek(0, 2)
        file.write(b"\nthe last line\n")
    tracemalloc.start()

    found = log.tail(written, 1)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == "the last line"
    assert peak < 8 * 1024**2


def test_tail_of_one_endless_line_is_bounded(written: Path) -> None:
    written.write_bytes(b"x" * (4 * log.TAIL_BYTES))

    assert len(log.tail(written)) <= log.TAIL_BYTES


def test_tail_of_a_redrawn_progress_bar_is_its_last_state(written: Path) -> None:
    written.write_bytes(b"before\r\nLoad:   0%\rLoad:  50%\rLoad: 100%\nafter\n")

    assert log.tail(written) == "before\nLoad: 100%\nafter"


def test_tail_of_a_progress_bar_that_is_just_drawn_is_its_state(written: Path) -> None:
    written.write_bytes(b"Load:  50%\rLoad: 100%\r")

    assert log.tail(written) == "Load: 100%"


def test_tail_removes_colours(written: Path) -> None:
    written.write_bytes(b"\x1b[1;36m(APIServer pid=1)\x1b[0;0m \x1b[31mERROR\x1b[0m no\x1b[K\n")

    assert log.tail(written) == "(APIServer pid=1) ERROR no"


def test_tail_of_broken_utf8_replaces_only_the_broken(written: Path) -> None:
    written.write_bytes(b"a\xff b\n" + "中文\n".encode())

    assert log.tail(written) == "a\ufffd b\n中文"


def test_tail_shortens_the_checkouts_own_paths(written: Path) -> None:
    written.write_text(f"open {paths.ROOT}/assets/x\n", encoding="utf-8")

    assert log.tail(written) == "open assets/x"


def test_find_returns_the_first_lines_that_match(written: Path) -> None:
    written.write_text("a1\nb\na2\na3\n", encoding="utf-8")

    assert log.find(written, r"^a\d", limit=2) == ["a1", "a2"]


def test_find_in_a_recorded_log_leaves_process_and_time_out() -> None:
    assert log.find(FULL, "GPU KV cache size") == ["INFO GPU KV cache size: 252,288 tokens"]


def test_find_in_a_missing_file_is_empty(written: Path) -> None:
    assert log.find(written, "x") == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("INFO 11-30 12:00:00 [a.py:1] said", "INFO said"),
        ("(APIServer pid=12) INFO 11-30 12:00:00 [a.py:1] said", "INFO said"),
        ("(Worker_PP0_TP0 pid=9) WARNING 11-30 12:00:00 [a.py:1] said", "WARNING said"),
        ("(VllmWorker rank=0 pid=9) INFO 08-01 11:59:10 [a.py:1] said", "INFO said"),
        ("(EngineCore_DP0 pid=9) INFO 11-30 12:00:00 [core/a.py:1] said [x]", "INFO said [x]"),
        ("\x1b[36m(APIServer pid=12)\x1b[0m INFO 11-30 12:00:00 [a.py:1] said", "INFO said"),
        (
            "(APIServer pid=94246) INFO:     Application startup complete.",
            "INFO:     Application startup complete.",
        ),
        ("no prefix at all", "no prefix at all"),
    ],
)
def test_line_without_prefix_is_the_same_in_every_run(line: str, expected: str) -> None:
    assert log.without_prefix(line) == expected


@pytest.mark.parametrize(
    ("name", "stage"),
    [
        (FULL.name, "serving"),
        ("llama3_8b_pp2tp2_six_native_lines_2026_10.txt", "serving"),
        ("quick_start_head_server_ready_lines.txt", "serving"),
        ("cpu_vllm_asr_server_tail_2026_01.txt", "serving"),
        ("dp_tp4_available_memory_kv_2025_08.txt", "kv_cache"),
        ("UNHEALTHY_vllm0.11.0rc3_qwen3_vl_8b_310p_tp2_dma_error.txt", "kv_cache"),
    ],
)
def test_stage_of_a_recorded_log_is_where_it_stands(name: str, stage: str) -> None:
    assert log.StageReader(RECORDED / name).read() == stage


def test_stages_of_a_recorded_start_come_in_order(written: Path) -> None:
    reader, seen = log.StageReader(written), ["start"]

    with written.open("w", encoding="utf-8") as file:
        for line in FULL.read_text("utf-8").splitlines(keepends=True):
            file.write(line)
            file.flush()
            stage = reader.read()
            seen += [stage] if stage != seen[-1] else []

    assert seen == ["start", "plugin", "config", "weights", "kv_cache", "graph", "serving"]


def test_stage_of_a_log_that_is_not_there_yet_is_start(written: Path) -> None:
    assert log.StageReader(written).read() == "start"


def test_stage_of_a_text_that_was_cut_between_two_reads_is_seen(written: Path) -> None:
    reader = log.StageReader(written)
    written.write_text("INFO: Application sta", encoding="utf-8")
    reader.read()

    with written.open("a", encoding="utf-8") as file:
        file.write("rtup complete.\n")

    assert reader.read() == "serving"


def test_stage_of_later_requests_stays_serving(written: Path) -> None:
    written.write_text("Application startup complete.\n", encoding="utf-8")
    reader = log.StageReader(written)
    reader.read()

    with written.open("a", encoding="utf-8") as file:
        file.write("Loading weights took 1 s\n")

    assert reader.read() == "serving"


def test_last_error_of_a_recorded_failure_is_the_end_of_its_traceback() -> None:
    name = "UNHEALTHY_vllm0.11.0rc3_qwen3_vl_8b_310p_tp2_dma_error.txt"

    found = log.last_error((RECORDED / name).read_text("utf-8"))

    assert str(found).startswith("RuntimeError: npuSynchronizeDevice")


def test_last_error_that_points_to_another_is_skipped() -> None:
    text = "ValueError: no room\nRuntimeError: Engine core failed. See root cause above.\n"

    assert log.last_error(text) == "ValueError: no room"


def test_last_error_of_a_healthy_text_is_none() -> None:
    assert log.last_error("all is well") is None
