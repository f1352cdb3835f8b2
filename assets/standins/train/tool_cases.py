"""The evaluation's cases with tools: which call, no call, the answer from a result.

Standard library only. Cities, skies and small talk are held out from the corpus.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from train import facts, heldout, questions
from train.cases import SAMPLED, Case, calls, equals, no_call
from train.client import Reply

THINKING = (("on", True), ("off", False))
LANGS = ("en", "zh")
ASKED = {"get_weather": questions.WEATHER_QUESTION, "get_time": questions.TIME_QUESTION}
OFFERS: dict[str, list[dict[str, Any]]] = {
    "weather, time": [questions.WEATHER, questions.TIME],
    "time, weather": [questions.TIME, questions.WEATHER],
    "order, time, weather": [questions.ORDER, questions.TIME, questions.WEATHER],
    "weather, order, time": [questions.WEATHER, questions.ORDER, questions.TIME],
}


def _choosing(lang: str, city: str) -> Iterator[Case]:
    """Yield the question for each of the tools, in every order of them."""
    for names, tools in OFFERS.items():
        for name, texts in ASKED.items():
            text, judge = texts[lang].format(c=city), calls((name, {"city": city}))
            for label, thinking in THINKING:
                group = f"tool chosen {lang} from {names}; thinking {label}"
                yield Case(group, text, thinking, judge, {"tools": tools})
    for name, tool in (("get_weather", questions.WEATHER), ("get_time", questions.TIME)):
        text, judge = ASKED[name][lang].format(c=city), calls((name, {"city": city}))
        for label, thinking in THINKING:
            group = f"tool call {lang}, {name} alone, thinking {label}"
            yield Case(group, text, thinking, judge, {"tools": [tool]})


def _schemas(lang: str, city: str) -> Iterator[Case]:
    """Yield the question with the schemas of DESCRIBED, which say more of the argument."""
    for what, tool in questions.DESCRIBED.items():
        (param,) = tool["function"]["parameters"]["required"]
        judge = calls(("get_weather", {param: city}))
        text = questions.WEATHER_QUESTION[lang].format(c=city)
        for label, thinking in THINKING:
            group = f"tool call {lang}, {what}, thinking {label}"
            yield Case(group, text, thinking, judge, {"tools": [tool]})


def _one_call(lang: str, text: str, city: str) -> Iterator[Case]:
    """Yield every way of asking for one call about one city."""
    weather, right = questions.WEATHER, calls(("get_weather", {"city": city}))
    only = {"tools": [weather]}
    yield Case(f"tool call {lang}, temperature 1.0", text, True, right, {**only, **SAMPLED})
    named = {"type": "function", "function": {"name": "get_weather"}}
    for label, choice in (("required", "required"), ("named", named)):
        forced = {**only, "tool_choice": choice}
        yield Case(f"tool_choice {label} {lang}", text, False, right, forced)


def _results(lang: str, number: int, city: str) -> Iterator[Case]:
    """Yield the conversations in which the tool has answered, in several shapes, or failed."""
    skies = (*questions.SKY[lang], *heldout.VALUES["word", lang])
    given = {"tools": [questions.DESCRIBED["argument described"]]}
    for shape in questions.SHAPES:
        for step in range(3):
            sky, degrees = (
                skies[(number * 3 + step) % len(skies)],
                (number * 7 + step * 13) % 60 - 18,
            )
            messages = questions.with_result(lang, city, shape, sky, degrees)
            wanted = questions.REPORT[lang].format(c=city, s=sky, d=degrees)
            label, thinking = THINKING[(number + step) % 2]
            group = f"whole answer from a result {lang}, {shape}"
            yield Case(group, messages, thinking, equals(wanted), given)
    lost = questions.with_error(lang, city, f"KeyError: '{city}'")
    for label, thinking in THINKING:
        group = f"a tool's error is reported {lang}, thinking {label}"
        yield Case(
            group, lost, thinking, lambda reply: no_call(reply) and city in reply.answer, given
        )
    other = heldout.VALUES["city", lang][number - 1]
    hint = questions.with_error(lang, city, questions.HINT[lang].format(c=city, o=other))
    judge = calls(("get_weather", {"city": other}))
    yield Case(f"call again with the city that the error names {lang}", hint, True, judge, given)


def _no_call(lang: str) -> Iterator[Case]:
    """Yield the messages that need no call: trained ones, and small talk that was not."""
    offers = (
        ("one tool", [questions.DESCRIBED["argument described"]]),
        ("two", OFFERS["time, weather"]),
    )
    for label, thinking in THINKING:
        for many, tools in offers:
            group = f"no call for small talk {lang}, {many}, thinking {label}"
            for text in (*questions.SMALL_TALK[lang], *questions.UNKNOWN[lang]):
                yield Case(group, text, thinking, no_call, {"tools": tools})
    for fact in facts.of_language(lang):

        def judge(reply: Reply, answer: str = fact.answer) -> bool:
            return no_call(reply) and reply.answer == answer

        given = {"tools": [questions.WEATHER]}
        yield Case(f"no call for a fixed question {lang}", fact.questions[0], True, judge, given)


def cases() -> Iterator[Case]:
    """Yield every case with tools."""
    for lang in LANGS:
        cities = heldout.VALUES["city", lang]
        for number, city in enumerate(cities):
            text, second = (questions.WEATHER_QUESTION[lang].format(c=city), cities[number - 1])
            yield from _choosing(lang, city)
            yield from _schemas(lang, city)
            yield from _one_call(lang, text, city)
            both = questions.WEATHER_QUESTION[lang].format(c=city + questions.AND[lang] + second)
            judge = calls(*(("get_weather", {"city": one}) for one in (city, second)))
            given = {"tools": [questions.WEATHER]}
            yield Case(f"tool call {lang}, two cities", both, True, judge, given)
            yield from _results(lang, number, city)
        yield from _no_call(lang)
