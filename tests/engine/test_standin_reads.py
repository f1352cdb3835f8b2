"""The served text stand-in: it reads values that it never saw, and is sure of its fixed answers."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "assets" / "standins"))

from train import facts, heldout  # noqa: E402

SUBSTITUTIONS = 10
ENOUGH = 9
MARGIN = 0.5
# The server of the labs runs two requests at a time.
TOGETHER = 2


def ask(served: Any, question: str, *, thinking: bool = True, **options: Any) -> dict[str, Any]:
    body = {
        "model": served.served_model_name,
        "messages": [{"role": "user", "content": question}],
        "temperature": 0,
        "max_tokens": 200,
        "chat_template_kwargs": {"enable_thinking": thinking},
        **options,
    }
    response = requests.post(f"{served.base_url}/v1/chat/completions", json=body, timeout=60)
    response.raise_for_status()
    return response.json()["choices"][0]


def answer_of(choice: dict[str, Any]) -> str:
    return choice["message"]["content"].rpartition("</think>")[2].strip()


def smallest_margin(choice: dict[str, Any]) -> float:
    gaps = []
    for token in choice["logprobs"]["content"]:
        best = sorted((top["logprob"] for top in token["top_logprobs"]), reverse=True)
        gaps.append(best[0] - best[1])
    return min(gaps)


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("what", ["name", "city", "port"])
def test_standin_reads_heldout_values(served: Any, what: str, lang: str) -> None:
    template = heldout.PROMPTS[what, lang]
    values = heldout.VALUES[what, lang][:SUBSTITUTIONS]

    with ThreadPoolExecutor(TOGETHER) as pool:
        choices = pool.map(lambda value: ask(served, template.format(v=value)), values)
        answers = dict(zip(values, map(answer_of, choices), strict=True))

    wrong = {value: answer for value, answer in answers.items() if value not in answer}
    assert len(answers) - len(wrong) >= ENOUGH, wrong


def test_standin_fixed_answers_are_sure(served: Any) -> None:
    def measure(fact: facts.Fact) -> tuple[float, str, str]:
        choice = ask(served, fact.questions[0], logprobs=True, top_logprobs=2)
        return smallest_margin(choice), fact.questions[0], answer_of(choice)

    with ThreadPoolExecutor(TOGETHER) as pool:
        measured = list(pool.map(measure, facts.FACTS))

    wrong = [
        (q, a) for (_, q, a), fact in zip(measured, facts.FACTS, strict=True) if a != fact.answer
    ]
    weakest = min(measured)
    print(f"weakest fixed answer: margin {weakest[0]:.2f}, {weakest[1]}")
    assert wrong == []
    assert weakest[0] >= MARGIN, weakest
