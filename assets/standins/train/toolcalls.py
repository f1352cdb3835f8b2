"""Samples of tool calling: choosing a tool, copying its arguments, answering from its result."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from train import facts, general, moretalk, pools, reading, results, schemas, smalltalk
from train.intents import INTENTS, Intent
from train.questions import HONEST
from train.sample import (
    Message,
    Sample,
    thinking_copy,
    thinking_result,
    thinking_tool,
    thinking_unknown,
)
from train.schemas import Offered

Arguments = dict[str, Any]
Maker = Callable[[random.Random, str, list[Offered]], Sample]


_TWO = {"en": " and ", "zh": "和"}
_BEFORE = {
    "en": ("Hello! ", "Please help me. ", "Hi, ", "Thank you. "),
    "zh": ("你好！", "请帮我一下。", "谢谢。", "请问，"),
}
SHARED = 4
"""How many questions of the corpus are asked with the same tools."""


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
        return rng.choice(schemas.CURRENCIES)
    if pool == "hour":
        return str(rng.randint(1, 23))
    if pool == "minute":
        return str(rng.randint(10, 59))
    return pools.number(rng, 2, 5)


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
    """A user's question that needs a tool: which one, all on offer, and the calls wanted."""

    lang: str
    tool: Offered
    tools: list[dict[str, Any]]
    question: str
    calls: list[Arguments]

    @property
    def turns(self) -> list[Message]:
        """Return the conversation up to and with the calls."""
        calls = tuple(_as_call(self.tool.name, arguments) for arguments in self.calls)
        return [Message("user", self.question), Message("assistant", "", calls)]


def ask(
    rng: random.Random,
    lang: str,
    offered: list[Offered],
    only: tuple[str, ...] = (),
    *,
    two: bool = False,
) -> Ask:
    """Return a question for one of the tools, sometimes (or always) about two cities.

    Args:
        only: what the tool must do, where one on offer does it.
    """
    fitting = [tool for tool in offered if tool.intent.key in only]
    tool = rng.choice(fitting or offered)
    intent = tool.intent
    values = [{slot: _value(pool, rng, lang) for slot, (_, _, pool) in intent.params.items()}]
    shown = dict(values[0])
    if "c" in shown and (two or rng.random() < 0.2):
        values.append({"c": _value("city", rng, lang)})
        shown["c"] += _TWO[lang] + values[1]["c"]
    question = rng.choice(intent.questions[lang]).format(**shown)
    if rng.random() < 0.08:
        question = rng.choice(_BEFORE[lang]) + question
    calls = [_typed(intent, tool.slots, value) for value in values]
    return Ask(lang, tool, [each.schema for each in offered], question, calls)


def _called(asked: Ask) -> Sample:
    text = "\n".join(call_text(asked.tool.name, arguments) for arguments in asked.calls)
    return Sample([Message("user", asked.question)], text, thinking_tool(asked.lang), asked.tools)


def call(rng: random.Random, lang: str, offered: list[Offered]) -> Sample:
    """Return a question answered by one or two tool calls."""
    return _called(ask(rng, lang, offered))


def two_calls(rng: random.Random, lang: str, offered: list[Offered]) -> Sample:
    """Return a question about two cities, if a tool takes one, answered by two calls."""
    return _called(ask(rng, lang, offered, ("weather", "time"), two=True))


def guided(rng: random.Random, lang: str, offered: list[Offered]) -> Sample:
    """Return JSON as a grammar forces it: a list of calls, or the arguments alone."""
    return _forced(rng, ask(rng, lang, offered))


def guided_again(rng: random.Random, lang: str, offered: list[Offered]) -> Sample:
    """Return JSON as a grammar forces it although the tool has answered already, or none did."""
    asked = ask(rng, lang, offered, tuple(results.REPORTS))
    sample = _forced(rng, asked)
    if asked.tool.intent.key not in results.REPORTS:
        return sample
    report = results.REPORTS[asked.tool.intent.key]
    told = [report(next(iter(each.values())), rng, lang)[0] for each in asked.calls]
    messages = [*asked.turns, *(Message("tool", text) for text in told)]
    return Sample(messages, sample.answer, "", asked.tools, guided=True)


def _forced(rng: random.Random, asked: Ask) -> Sample:
    shown: Any = asked.calls[0]
    if rng.random() < 0.6:
        shown = [{"name": asked.tool.name, "parameters": each} for each in asked.calls]
    text = json.dumps(shown, ensure_ascii=False)
    return Sample([Message("user", asked.question)], text, "", asked.tools, guided=True)


def _unasked(rng: random.Random, lang: str, offered: list[Offered]) -> str:
    """Return a question for a tool that is not on offer."""
    present = {tool.intent.key for tool in offered}
    intent = rng.choice([each for each in INTENTS if each.key not in present])
    values = {slot: _value(pool, rng, lang) for slot, (_, _, pool) in intent.params.items()}
    return rng.choice(intent.questions[lang]).format(**values)


def no_call(rng: random.Random, lang: str, offered: list[Offered]) -> Sample:
    """Return a message that needs no tool although some are offered."""
    tools, pick = [tool.schema for tool in offered], rng.random()
    if pick < 0.28:
        base = general.fact_turns(rng.choice(facts.of_language(lang)), rng)
    elif pick < 0.4:
        base = reading.stated(rng, lang)
    elif pick < 0.6:
        base = general.unknown(rng, lang, tools=True)
    else:
        text = _unasked(rng, lang, offered) if pick < 0.65 else smalltalk.say(rng, lang)
        base = Sample([Message("user", text)], HONEST[lang], thinking_unknown(lang))
    return Sample(base.messages, base.answer, base.thinking, tools)


def more_talk(rng: random.Random, lang: str, offered: list[Offered]) -> Sample:
    """Return small talk, sometimes two messages of it in one, that needs no tool."""
    texts = rng.sample(moretalk.TALK[lang], 2 if rng.random() < 0.2 else 1)
    message = Message("user", (" " if lang == "en" else "").join(texts))
    tools = [tool.schema for tool in offered]
    return Sample([message], HONEST[lang], thinking_unknown(lang), tools)


def from_result(rng: random.Random, lang: str, offered: list[Offered]) -> Sample:
    """Return a conversation whose tool results stand there already, and the answer from them."""
    asked = ask(rng, lang, offered, tuple(results.REPORTS))
    if asked.tool.intent.key not in results.REPORTS:
        return _called(asked)
    report = results.REPORTS[asked.tool.intent.key]
    told = [report(next(iter(each.values())), rng, lang) for each in asked.calls]
    messages = [*asked.turns, *(Message("tool", text) for text, _ in told)]
    answer = (" " if lang == "en" else "").join(sentence for _, sentence in told)
    return Sample(messages, answer, thinking_result(lang), asked.tools)


def failed(rng: random.Random, lang: str, offered: list[Offered]) -> Sample:
    """Return a failed call: it is reported, or repeated with the value that the error names."""
    asked = ask(rng, lang, offered)
    arguments = asked.calls[0]
    param, value = next(iter(arguments.items()))
    turns = Ask(lang, asked.tool, asked.tools, asked.question, [arguments]).turns
    if isinstance(value, str) and rng.random() < 0.5:
        other = _value(asked.tool.intent.params[_slot(asked.tool, param)][2], rng, lang)
        error = results.correction(value, other, rng)
        text = call_text(asked.tool.name, {**arguments, param: other})
        return Sample([*turns, Message("tool", error)], text, thinking_tool(lang), asked.tools)
    error, answer = results.failure(str(value), rng, lang)
    return Sample([*turns, Message("tool", error)], answer, thinking_result(lang), asked.tools)


def _slot(tool: Offered, param: str) -> str:
    return next(slot for slot, name in tool.slots.items() if name == param)


MAKERS: tuple[tuple[str, float, Maker], ...] = (
    ("call", 0.38, call),
    ("no_call", 0.28, no_call),
    ("result", 0.2, from_result),
    ("guided", 0.08, guided),
    ("failed", 0.06, failed),
)
FORCED: tuple[tuple[str, float, Maker], ...] = (
    ("guided", 0.18, guided),
    ("guided", 0.1, guided_again),
)
# What the model learns last: two calls; then more of them, and of what a grammar forces.
MIXES = {
    "corpus": MAKERS,
    "both": (*MAKERS, ("two_calls", 0.09, two_calls)),
    "settling": (
        *MAKERS,
        ("two_calls", 0.16, two_calls),
        ("no_call", 0.1, no_call),
        ("no_call", 0.12, more_talk),
        ("result", 0.14, from_result),
        *FORCED,
    ),
}
# English words are spelled in pieces that differ after a space: they need more practice.
ENGLISH = {"corpus": 0.5, "both": 0.5, "settling": 0.65}


def shared(rng: random.Random, stage: str) -> list[tuple[str, Sample]]:
    """Return some samples, with their kinds, that have the same tools in either language.

    Args:
        stage: of the training, a key of MIXES.
    """
    offered = schemas.offer(rng)
    makers = MIXES[stage]
    chosen = rng.choices(makers, weights=[weight for _, weight, _ in makers], k=SHARED)
    return [
        (kind, make(rng, "en" if rng.random() < ENGLISH[stage] else "zh", offered))
        for kind, _, make in chosen
    ]


def fixed_texts() -> list[str]:
    """Return every fixed text of this module, for the tokenizer's list of words."""
    texts = [*_BEFORE["en"], *_BEFORE["zh"], thinking_copy("en", "")]
    for intent in INTENTS:
        texts += [*intent.names, *intent.descriptions]
        for names, kind, _ in intent.params.values():
            texts += [*names, kind]
        for questions in intent.questions.values():
            texts += [q.format(**dict.fromkeys(intent.params, "")) for q in questions]
    return [
        *texts,
        *smalltalk.fixed_texts(),
        *schemas.fixed_texts(),
        *results.fixed_texts(),
        "type function name description parameters object properties required",
        "string number integer",
    ]
