"""The served picture stand-in, on pictures drawn with a seed that its training does not use.

The bars are those of the course.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pictures_server as pictures
import pytest

from helpers.server import Server

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "assets" / "standins"))

from train.pictures import facts, trial, words  # noqa: E402

MARGIN = 0.5
# The server runs two requests at a time.
TOGETHER = 2
BARS = {"colour": 0.9, "shape": 0.9, "count": 0.9, "number": 0.8}


def share_right(served: Server, cases: list[trial.Case]) -> tuple[float, list[str]]:
    """Return the share of right answers, and the wrong ones."""
    with ThreadPoolExecutor(TOGETHER) as pool:
        replies = pool.map(
            lambda case: pictures.ask(served, case.question, list(case.files)), cases
        )
        answers = [pictures.answer(reply) for reply in replies]
    wrong = [
        f"{case.group}: {answer}"
        for case, answer in zip(cases, answers, strict=True)
        if not case.judge(answer)
    ]
    return (len(cases) - len(wrong)) / len(cases), wrong


@pytest.mark.parametrize("lang", words.LANGUAGES)
@pytest.mark.parametrize("what", list(BARS))
def test_standin_pictures_never_seen_are_read(pictured: Server, lang: str, what: str) -> None:
    cases = [one for one in trial.about_one(trial.drawn(), lang) if one.group.startswith(what)]

    share, wrong = share_right(pictured, cases)

    assert share >= BARS[what], wrong


@pytest.mark.parametrize("lang", words.LANGUAGES)
def test_standin_two_pictures_in_one_prompt_are_told_apart(pictured: Server, lang: str) -> None:
    share, wrong = share_right(pictured, list(trial.pairs(trial.drawn(), lang)))

    assert share >= 0.8, wrong


@pytest.mark.parametrize("lang", words.LANGUAGES)
def test_standin_fixed_questions_are_answered_surely(pictured: Server, lang: str) -> None:
    known = [fact for fact in facts.FACTS if fact.lang == lang]

    replies = [
        pictures.ask(pictured, fact.questions[0], logprobs=True, top_logprobs=2) for fact in known
    ]

    assert [pictures.answer(reply) for reply in replies] == [fact.answer for fact in known]
    assert min(map(pictures.margin, replies)) >= MARGIN
