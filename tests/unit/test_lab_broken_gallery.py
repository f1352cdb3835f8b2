"""Lab 04's recordings, its drawing, and the tools that a model gets."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from light.light_openai import Scripted, chat_body, serving

from helpers import paths
from helpers.faults import gallery, investigator, logfile
from helpers.server import Endpoint
from helpers.tools import run_tools

FIXTURES = paths.ROOT / "tests" / "fixtures" / "logs" / "recorded"
IMAGES = paths.ROOT / "assets" / "images"
SAME = {
    "serve_310p_qwen3_vl.txt": "serve/UNHEALTHY_vllm0.11.0rc3_qwen3_vl_8b_310p_tp2_dma_error.txt",
    "offline_a3_qwen3.txt": "offline/vllm_ascend_2026_05_27_qwen3_0.6b_full.txt",
    "serve_minicpm_v_int4.txt": "serve/UNHEALTHY_minicpm_v_4_5_int4_enginecore_failed.txt",
    "collect_env_910b1.txt": "collect_env/910b1_plugin_load_failure_collect_env_crashes.txt",
    "serve_a2_qwen3_vl.txt": "serve/vllm0.18.0_qwen3_vl_8b_a2_tp1_full.txt",
    "serve_minicpm_v.txt": "serve/UNHEALTHY_minicpm_v_4_5_2025_12_25_enginecore_failed.txt",
}
ALL = list(gallery.RECORDINGS.values())


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.file)
def test_recording_is_the_fixture_and_has_its_source(one: gallery.Recording) -> None:
    assert one.path.read_bytes() == (FIXTURES / SAME[one.file]).read_bytes()
    told = (gallery.FOLDER / "README.md").read_text(encoding="utf-8")
    row = next(line for line in told.splitlines() if f"`{one.file}`" in line)
    assert one.source.split(",")[0] in row


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.file)
def test_log_reader_says_of_a_recording_what_the_lab_says(one: gallery.Recording) -> None:
    found = one.diagnosis()

    assert found.entry == one.entry
    assert (found.verdict == "healthy") == (one.verdict == "healthy")
    assert any(one.rests_on(line.line) for line in found.evidence) or one.entry is None


def test_recordings_have_each_verdict() -> None:
    assert {one.verdict for one in ALL} == set(gallery.VERDICTS)


def test_right_judgements_are_right(capsys: pytest.CaptureFixture[str]) -> None:
    assert gallery.grade(gallery.answers())
    assert len(capsys.readouterr().out.splitlines()) == len(ALL)


@pytest.mark.parametrize("number", list(gallery.RECORDINGS))
@pytest.mark.parametrize("wrong", [("other", None), (None, 1), (None, 10_000)])
def test_one_wrong_judgement_is_not_right(number: int, wrong: tuple[Any, Any]) -> None:
    answers = gallery.answers()
    verdict, line = answers[number]
    changed: Any = (wrong[0] or verdict, wrong[1] or line)

    assert not gallery.grade(answers | {number: changed})


@pytest.mark.parametrize("language", ["zh", "en"])
def test_drawing_of_the_stages_is_what_its_script_draws(language: str) -> None:
    sys.path.insert(0, str(IMAGES))
    drawing = _module(IMAGES / "draw_stages.py")

    drawn = drawing.picture(language)

    assert (IMAGES / f"04_stages.{language}.svg").read_text(encoding="utf-8") == drawn


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def light() -> Iterator[Scripted]:
    one = Scripted()
    with serving(one):
        yield one


def call(name: str, arguments: str) -> dict[str, Any]:
    """Return a turn that calls one tool."""
    listed = [{"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}]
    return chat_body(None, "tool_calls", tool_calls=listed)


def test_loop_with_a_scripted_model_reads_searches_and_names_the_cause(light: Scripted) -> None:
    light.turns = [
        call("read_log", '{"first": 1}'),
        call("search_knowledge", '{"words": "quantized int4 CUDA"}'),
        call("check_versions", "{}"),
        chat_body("quantized_for_cuda, line 6: take the unquantised weights"),
    ]
    box = investigator.toolbox(gallery.RECORDINGS[3].path, {"vllm": "0.23.0"})

    seen = run_tools("look into it", box, server=Endpoint(light.url, "M"))

    assert investigator.names(seen, "quantized_for_cuda")
    contents = [one.content for one in seen.results]
    assert "MiniCPM-V-4_5-int4" in contents[0]
    assert "quantized_for_cuda" in contents[1]
    assert contents[2] == '{"vllm":"0.23.0"}' or "0.23.0" in contents[2]
    assert [one.problem for one in seen.results] == [None, None, None]


def test_answer_that_names_the_cause_without_reading_the_log_does_not_count(
    light: Scripted,
) -> None:
    light.turns = [chat_body("quantized_for_cuda")]
    box = investigator.toolbox(gallery.RECORDINGS[3].path, {})

    seen = run_tools("look into it", box, server=Endpoint(light.url, "M"))

    assert not investigator.names(seen, "quantized_for_cuda")


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.file)
def test_results_of_the_tools_fit_in_the_loops_limit(one: gallery.Recording) -> None:
    read_log, search_knowledge, _ = investigator.toolbox(one.path, {})
    total = len(logfile.lines(one.path))

    for first in range(1, total + 1, investigator.LINES):
        assert len(read_log(first, 999)["text"]) < 3900
    found = search_knowledge("error failed memory CUDA npu version weights port")
    assert len(found) == investigator.FOUND
    assert len(str(found)) < 3900


def test_log_read_from_a_negative_number_counts_from_the_end() -> None:
    recording = gallery.RECORDINGS[2]
    read_log = investigator.toolbox(recording.path, {})[0]

    told = read_log(-2)

    last = len(logfile.lines(recording.path))
    assert [int(line.split()[0]) for line in told["text"].splitlines()] == [last - 1, last]


def test_search_without_a_known_word_finds_nothing() -> None:
    assert investigator.search("zzzz qqqq") == []
