"""Measures a served stand-in through its HTTP API and writes the numbers into the model card.

    python assets/standins/train/evaluate.py --base-url http://127.0.0.1:8000 [--card]

Standard library only. Every question of the reading groups holds a value that the corpus lacks.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from train import card, facts, heldout, questions, tool_cases  # noqa: E402
from train.cases import SAMPLED, Case, equals, says  # noqa: E402
from train.client import Client, Reply  # noqa: E402

MODEL_DIR = Path(__file__).resolve().parents[1] / "minicpm5"


@dataclass(frozen=True)
class Result:
    """A case with its reply and the verdict."""

    case: Case
    reply: Reply
    right: bool


def _reading() -> Iterator[Case]:
    for (what, lang), prompt in heldout.PROMPTS.items():
        for value in heldout.VALUES[what, lang]:
            text, judge = prompt.format(v=value), says(value)
            for label, thinking in (("on", True), ("unset", None), ("off", False)):
                yield Case(f"reading {what} {lang}, thinking {label}", text, thinking, judge, {})
            yield Case(f"reading {what} {lang}, temperature 1.0", text, True, judge, SAMPLED)
    for lang, system, question in questions.SYSTEM:
        for value in heldout.VALUES["name", lang]:
            messages = [
                {"role": "system", "content": system.format(v=value)},
                {"role": "user", "content": question},
            ]
            yield Case(f"reading name {lang}, system prompt", messages, True, says(value), {})
    for lang, template, wanted in questions.TWO_FACTS:
        for name, city in zip(
            heldout.VALUES["name", lang], heldout.VALUES["city", lang], strict=True
        ):
            judge = says({"name": name, "city": city}[wanted])
            yield Case(
                f"reading one of two {lang}", template.format(n=name, c=city), True, judge, {}
            )


def _general() -> Iterator[Case]:
    for fact in facts.FACTS:
        question, judge, lang = fact.questions[0], equals(fact.answer), fact.lang
        yield Case(
            f"fixed questions {lang}, thinking on",
            question,
            True,
            judge,
            {"logprobs": True, "top_logprobs": 2},
        )
        yield Case(
            f"fixed questions {lang}, thinking off",
            question,
            False,
            judge,
            {"logprobs": True, "top_logprobs": 2},
        )
        yield Case(f"fixed questions {lang}, temperature 1.0", question, True, judge, SAMPLED)
        for other in fact.questions[1:3]:
            yield Case(f"fixed questions {lang}, paraphrases", other, True, judge, {})
    for lang, unknown in questions.UNKNOWN.items():
        for question in unknown:
            yield Case(
                f"unknown questions {lang}, says so",
                question,
                True,
                equals(questions.HONEST[lang]),
                {},
            )


def _thinks(reply: Reply) -> bool:
    return reply.content.startswith("<think>\n") and "\n</think>\n\n" in reply.content


def _switch() -> Iterator[Case]:
    for lang in ("zh", "en"):
        for fact in facts.of_language(lang)[:6]:
            question = fact.questions[0]
            yield Case("thinking unset: opens <think> itself", question, None, _thinks, {})
            yield Case(
                "thinking off: no think text",
                question,
                False,
                lambda reply: "think>" not in reply.content,
                {},
            )
            yield Case(
                "thinking on, max_tokens 8: cut inside it",
                question,
                True,
                lambda reply: reply.finish_reason == "length" and "</think>" not in reply.content,
                {"max_tokens": 8},
            )


def _ask(client: Client, case: Case) -> Result:
    reply = client.chat(case.messages, case.thinking, **case.options)
    return Result(case, reply, case.judge(reply))


def run(client: Client, only: str = "", together: int = 2) -> list[Result]:
    """Return the results of every case whose group's name holds `only`, some requests at a time."""
    cases = [
        case
        for case in (*_reading(), *_general(), *_switch(), *tool_cases.cases())
        if only in case.group
    ]
    with ThreadPoolExecutor(together) as pool:
        return list(pool.map(lambda case: _ask(client, case), cases))


def table(results: list[Result]) -> list[tuple[str, int, int]]:
    """Return (group, right, asked), in the order of the cases."""
    groups: dict[str, list[bool]] = {}
    for result in results:
        groups.setdefault(result.case.group, []).append(result.right)
    return [(group, sum(rights), len(rights)) for group, rights in groups.items()]


def weakest(results: list[Result]) -> tuple[float, str]:
    """Return the smallest top-1/top-2 margin of the fixed questions, and its question."""
    measured = [(min(r.reply.margins), str(r.case.messages)) for r in results if r.reply.margins]
    return min(measured, default=(float("nan"), ""))


def main() -> int:
    """Read the command line, measure, print; return 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", default="MiniCPM5-2B")
    parser.add_argument("--only", default="", help="only groups whose name holds this text")
    parser.add_argument("--together", type=int, default=2, help="requests at a time")
    parser.add_argument("--card", action="store_true", help="write the numbers into the model card")
    parser.add_argument("--model-dir", type=Path, default=MODEL_DIR)
    parser.add_argument("--wrong", action="store_true", help="print the wrong answers")
    options = parser.parse_args()
    results = run(Client(options.base_url, options.model), options.only, options.together)
    rows, (margin, question) = table(results), weakest(results)
    for group, right, asked in rows:
        print(f"{group:52} {right:3}/{asked}")
    print(f"smallest margin of a fixed question: {margin:.2f} ({question})")
    for result in results:
        if options.wrong and not result.right:
            print(
                "WRONG",
                result.case.group,
                "|",
                result.case.messages,
                "|",
                repr(result.reply.content),
                result.reply.arguments() if result.reply.finish_reason != "length" else "",
            )
    if options.card:
        card.fill(options.model_dir, rows, margin, question)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
