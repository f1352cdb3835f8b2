"""The stand-in's tool calls through the real engine, on what its corpus lacks: cities, order, talk.

One server for the module, with lab 03's own options. The cases are those of the model card.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from helpers import catalog, server
from helpers.engines import Cpu
from helpers.models import Model
from helpers.server import Server

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "assets" / "standins"))

from train import questions, tool_cases  # noqa: E402
from train.cases import Case  # noqa: E402
from train.client import Client, Reply  # noqa: E402

# The server of the labs runs two requests at a time.
TOGETHER = 2
CASES = [case for case in tool_cases.cases() if case.thinking is False]


@pytest.fixture(scope="module")
def client(device: Cpu, model: Model) -> Iterator[Client]:
    """Return a client of a server with the lab's flags, which belong to the start."""
    if not model.stand_in:
        pytest.skip("the cases are about what the stand-in was trained for")
    options = catalog.options("03_tool_calling", "cpu", served_model_name=model.name, port=0)
    started = server.start(device, model, options)
    assert isinstance(started, Server)
    started.wait_ready(300)
    yield Client(started.base_url, model.name)
    assert started.stop().ok


def replies(client: Client, cases: list[Case]) -> list[tuple[Case, Reply]]:
    """Return each case with its reply."""

    def ask(case: Case) -> tuple[Case, Reply]:
        return case, client.chat(case.messages, case.thinking, **case.options)

    with ThreadPoolExecutor(TOGETHER) as pool:
        return list(pool.map(ask, cases))


def wrong(asked: list[tuple[Case, Reply]]) -> list[str]:
    """Return what went wrong, in words."""
    return [
        f"{case.group}: {case.messages} → {reply.content!r} {reply.tool_calls}"
        for case, reply in asked
        if not case.judge(reply)
    ]


def asked_and_wrong(client: Client, *groups: str) -> tuple[int, list[str]]:
    """Return how many cases some groups have, and what went wrong in them."""
    cases = [case for case in CASES if case.group in groups]
    return len(cases), wrong(replies(client, cases))


@pytest.mark.parametrize("first", ["weather, time", "time, weather"])
@pytest.mark.parametrize("language", tool_cases.LANGS)
def test_tool_is_chosen_by_the_question_in_either_order(
    client: Client, language: str, first: str
) -> None:
    count, failed = asked_and_wrong(client, f"tool chosen {language} from {first}; thinking off")

    assert count == 30
    assert len(failed) <= 0.05 * count, failed


@pytest.mark.parametrize("language", tool_cases.LANGS)
def test_described_and_renamed_arguments_are_filled_in(client: Client, language: str) -> None:
    groups = [f"tool call {language}, {what}, thinking off" for what in questions.DESCRIBED]

    count, failed = asked_and_wrong(client, *groups)

    assert count == 60
    assert len(failed) <= 0.05 * count, failed


@pytest.mark.parametrize("many", ["one tool", "two"])
@pytest.mark.parametrize("language", tool_cases.LANGS)
def test_small_talk_that_was_never_trained_gets_no_call(
    client: Client, language: str, many: str
) -> None:
    group = f"no call for small talk {language}, {many}, thinking off"
    cases = [case for case in CASES if case.group == group]

    asked = replies(client, cases)

    assert len(cases) >= 50
    called = [case.messages for case, reply in asked if reply.tool_calls]
    assert called == []


@pytest.mark.parametrize("language", tool_cases.LANGS)
def test_fixed_questions_get_no_call(client: Client, language: str) -> None:
    group = f"no call for a fixed question {language}"
    cases = [case for case in tool_cases.cases() if case.group == group]

    asked = replies(client, cases)

    assert len(cases) >= 30
    assert [case.messages for case, reply in asked if reply.tool_calls] == []


# Words that the corpus lacks are copied in pieces, which the small model spoils more in English.
@pytest.mark.parametrize(("language", "bar"), [("zh", 0.9), ("en", 0.65)])
def test_answer_from_a_result_copies_city_sky_and_degrees(
    client: Client, language: str, bar: float
) -> None:
    group = f"whole answer from a result {language}, "
    cases = [case for case in CASES if case.group.startswith(group)]

    failed = wrong(replies(client, cases))

    assert len(cases) >= 50
    assert len(cases) - len(failed) >= bar * len(cases), failed
