"""Samples of tool calling: choosing a tool, copying its arguments, answering from its result."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import Any

from train import facts, pools, reading
from train.general import fact_turns
from train.intents import INTENTS, Intent
from train.sample import Message, Sample, thinking_copy, thinking_result, thinking_tool

Arguments = dict[str, Any]


_CURRENCIES = ["USD", "EUR", "CNY", "JPY", "GBP", "CHF", "KRW", "INR", "CAD", "AUD"]
_TWO = {"en": " and ", "zh": "和"}
_SKY = {
    "en": ("sunny", "cloudy", "rainy", "windy", "snowy", "foggy", "clear"),
    "zh": ("晴", "多云", "小雨", "大风", "下雪", "有雾", "阴"),
}


def _value(pool: str, rng: random.Random, lang: str) -> str:
    other = "en" if lang == "zh" else "zh"
    mixed = lang if rng.random() < 0.85 else other
    if pool == "city":
        return pools.city(rng, mixed)
    if pool == "word":
        return pools.word(rng, mixed)
    if pool == "name":
        return pools.name(rng, mixed)
    if pool == "currency":
        return rng.choice(_CURRENCIES)
    if pool == "hour":
        return str(rng.randint(1, 23))
    if pool == "minute":
        return str(rng.randint(10, 59))
    return pools.number(rng, 2, 5)


def schema(intent: Intent, rng: random.Random) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a tool's JSON schema, and the parameter name that each slot has in it."""
    slots = {slot: rng.choice(names) for slot, (names, _, _) in intent.params.items()}
    properties: dict[str, Any] = {}
    for slot, param in slots.items():
        properties[param] = {"type": intent.params[slot][1]}
        if rng.random() < 0.2:
            properties[param]["description"] = param.replace("_", " ")
    parameters: dict[str, Any] = {"type": "object", "properties": properties}
    if rng.random() < 0.85:
        parameters["required"] = list(properties)
    function: dict[str, Any] = {"name": rng.choice(intent.names)}
    if rng.random() < 0.9:
        function["description"] = rng.choice(intent.descriptions)
    function["parameters"] = parameters
    return {"type": "function", "function": function}, slots


def call_text(name: str, arguments: Arguments) -> str:
    """Return a call in the XML of MiniCPM5."""
    params = "".join(f'<param name="{key}">{value}</param>' for key, value in arguments.items())
    return f'<function name="{name}">{params}</function>'


def _as_call(name: str, arguments: Arguments) -> dict[str, Any]:
    return {"id": "call_0", "type": "function", "function": {"name": name, "arguments": arguments}}


def _typed(intent: Intent, slots: dict[str, str], values: dict[str, str]) -> Arguments:
    """Return the arguments with JSON types, for guided decoding."""
    arguments: Arguments = {}
    for slot, param in slots.items():
        numeric = intent.params[slot][1] in ("number", "integer")
        arguments[param] = int(values[slot]) if numeric else values[slot]
    return arguments


@dataclass(frozen=True)
class Ask:
    """A user's question that needs a tool: the offered schemas and the calls wanted."""

    lang: str
    intent: Intent
    tools: list[dict[str, Any]]
    name: str
    question: str
    calls: list[Arguments]


def ask(rng: random.Random, lang: str, only: str = "", *, two: bool = False) -> Ask:
    """Return a question about one of the tools, sometimes (or always) two cities."""
    weights = [5, 2, 2, 1, 1, 1, 1]
    wanted = next((i for i in INTENTS if i.key == only), None)
    intent = wanted or rng.choices(INTENTS, weights=weights)[0]
    others = rng.sample([i for i in INTENTS if i is not intent], rng.choice((0, 0, 1, 1, 2)))
    own, slots = schema(intent, rng)
    tools = [own, *(schema(other, rng)[0] for other in others)]
    rng.shuffle(tools)
    values = [{slot: _value(pool, rng, lang) for slot, (_, _, pool) in intent.params.items()}]
    shown = dict(values[0])
    if "c" in shown and (two or rng.random() < 0.22):
        values.append({"c": _value("city", rng, lang)})
        shown["c"] += _TWO[lang] + values[1]["c"]
    question = rng.choice(intent.questions[lang]).format(**shown)
    calls = [_typed(intent, slots, value) for value in values]
    return Ask(lang, intent, tools, own["function"]["name"], question, calls)


def _called(asked: Ask) -> Sample:
    text = "\n".join(call_text(asked.name, arguments) for arguments in asked.calls)
    return Sample([Message("user", asked.question)], text, thinking_tool(asked.lang), asked.tools)


def call(rng: random.Random, lang: str) -> Sample:
    """Return a question answered by one or two tool calls."""
    return _called(ask(rng, lang))


def two_calls(rng: random.Random, lang: str) -> Sample:
    """Return a question about two cities, answered by two calls."""
    return _called(ask(rng, lang, rng.choice(("weather", "weather", "time")), two=True))


def guided(rng: random.Random, lang: str) -> Sample:
    """Return JSON as a grammar forces it: a list of calls, or the arguments alone."""
    asked = ask(rng, lang)
    arguments = asked.calls[0]
    shown: Any = arguments
    if rng.random() < 0.6:
        shown = [{"name": asked.name, "parameters": each} for each in asked.calls]
    text = json.dumps(shown, ensure_ascii=False)
    return Sample([Message("user", asked.question)], text, "", asked.tools, guided=True)


def no_call(rng: random.Random, lang: str) -> Sample:
    """Return a question that needs no tool although some are offered."""
    offered = [schema(i, rng)[0] for i in rng.sample(INTENTS, rng.choice((1, 1, 2)))]
    if rng.random() < 0.6:
        base = fact_turns(rng.choice(facts.of_language(lang)), rng)
    else:
        base = reading.stated(rng, lang)
    return Sample(base.messages, base.answer, base.thinking, offered)


def _result(asked: Ask, city: str, rng: random.Random) -> tuple[str, str]:
    """Return a tool's result and the sentence that reports it."""
    lang = asked.lang
    if asked.intent.key == "time":
        clock = f"{rng.randint(0, 23):02d}:{rng.randint(0, 59):02d}"
        body = {"city": city, "time": clock} if rng.random() < 0.6 else {"time": clock}
        report = f"It is {clock} in {city}." if lang == "en" else f"{city}现在是 {clock}。"
        return json.dumps(body, ensure_ascii=False), report
    sky, degrees = rng.choice(_SKY[lang]), rng.randint(-20, 42)
    if rng.random() < 0.25:
        text = f"{sky}, {degrees} degrees" if lang == "en" else f"{sky}，{degrees} 度"
    else:
        keys = rng.choice(
            (
                ("condition", "temperature"),
                ("weather", "temperature"),
                ("sky", "temp"),
                ("condition", "temp"),
                ("weather", "temperature_c"),
                ("condition", "temperature_c"),
            )
        )
        body = {keys[0]: sky, keys[1]: degrees}
        if rng.random() < 0.4:
            body = {keys[1]: degrees, keys[0]: sky}
        if rng.random() < 0.6:
            body = {"city": city, **body}
        text = json.dumps(body, ensure_ascii=False)
    report = (
        f"{city}: {sky}, {degrees} degrees." if lang == "en" else f"{city}：{sky}，{degrees} 度。"
    )
    return text, report


def from_result(rng: random.Random, lang: str) -> Sample:
    """Return a conversation whose tool results stand there already, and the answer from them."""
    asked = ask(rng, lang, rng.choice(("weather", "weather", "time")))
    calls, results, reports = [], [], []
    for arguments in asked.calls:
        city = next(iter(arguments.values()))
        text, report = _result(asked, city, rng)
        calls.append(_as_call(asked.name, arguments))
        results.append(Message("tool", text))
        reports.append(report)
    messages = [Message("user", asked.question), Message("assistant", "", tuple(calls)), *results]
    answer = (" " if lang == "en" else "").join(reports)
    return Sample(messages, answer, thinking_result(lang), asked.tools)


def fixed_texts() -> list[str]:
    """Return every fixed text of this module, for the tokenizer's list of words."""
    texts = [*_CURRENCIES, *_SKY["en"], *_SKY["zh"], "degrees", thinking_copy("en", "")]
    for intent in INTENTS:
        texts += [*intent.names, *intent.descriptions]
        for names, kind, _ in intent.params.values():
            texts += [*names, kind]
        for questions in intent.questions.values():
            texts += [q.format(**dict.fromkeys(intent.params, "")) for q in questions]
    texts += [
        "type",
        "function",
        "name",
        "description",
        "parameters",
        "object",
        "properties",
        "required",
        "string",
        "number",
        "integer",
        "condition",
        "temperature",
        "weather",
        "sky",
        "temp",
        "time",
    ]
    return texts
