"""Samples that can only be answered by reading the prompt: a value stated, then asked for."""

from __future__ import annotations

import random

from train import pools
from train.kinds import KINDS, Kind
from train.sample import Message, Sample, thinking_copy

REPEAT = {
    "en": (
        "Repeat this word: {v}",
        "Repeat the word {v}.",
        "Please repeat this word: {v}",
        "Repeat after me: {v}",
        "Say this word: {v}",
        "Repeat: {v}",
        "Please repeat: {v}",
        'Repeat this word: "{v}"',
    ),
    "zh": (
        "请重复这个词：{v}",
        "重复这个词：{v}",
        "请重复：{v}",
        "跟我说：{v}",
        "请说这个词：{v}",
        "重复一遍：{v}",
        "请重复“{v}”这个词。",
    ),
}
NOT_TOLD = {"en": "You have not told me that.", "zh": "你没有告诉我。"}
GREET = {
    "en": ("Nice to meet you.", "I see.", "Good to know."),
    "zh": ("好的。", "我知道了。", "明白了。"),
}
REPEAT_TOPIC = {"en": "a word", "zh": "一个词"}


def value_of(kind: Kind, rng: random.Random) -> str:
    """Return a value for the kind; one in ten comes from the other language."""
    lang = kind.lang if rng.random() < 0.9 else ("en" if kind.lang == "zh" else "zh")
    if kind.value == "number":
        return pools.number(rng)
    draw = {"name": pools.name, "city": pools.city, "word": pools.word}[kind.value]
    return draw(rng, lang)


def _kinds(rng: random.Random, lang: str) -> list[tuple[Kind, str]]:
    """Return one to three different kinds with values; the first is the one asked for."""
    available = [kind for kind in KINDS if kind.lang == lang]
    weights = [3 if kind.key in ("name", "city", "port", "order") else 1 for kind in available]
    count = rng.choices((1, 2, 3), weights=(60, 28, 12))[0]
    chosen: list[Kind] = []
    while len(chosen) < count:
        kind = rng.choices(available, weights=weights)[0]
        if kind not in chosen:
            chosen.append(kind)
    return [(kind, value_of(kind, rng)) for kind in chosen]


def stated(rng: random.Random, lang: str) -> Sample:
    """Return a sample whose value stands in the message, an earlier turn or the system prompt."""
    facts = _kinds(rng, lang)
    asked, value = facts[0]
    told = facts[1:] if rng.random() < 0.06 else facts
    order = rng.sample(told, len(told))
    lines = [rng.choice(kind.statements).format(v=v) for kind, v in order]
    question = rng.choice(asked.questions)
    gap = rng.choice((" ", " ", " ", "\n")) if lang == "en" else rng.choice(("", "", "", "\n", " "))
    place = rng.random()
    if place < 0.2:
        about = gap.join(rng.choice(kind.about).format(v=v) for kind, v in order)
        messages = [Message("system", about)] if about else []
        messages.append(Message("user", question))
    elif place < 0.36 and lines:
        messages = [
            Message("user", gap.join(lines)),
            Message("assistant", rng.choice(GREET[lang])),
            Message("user", question),
        ]
    else:
        messages = [Message("user", gap.join([*lines, question]))]
    answer = asked.answer.format(v=value) if asked in [k for k, _ in told] else NOT_TOLD[lang]
    return Sample(messages, answer, thinking_copy(lang, asked.topic))


def greeting_turn(rng: random.Random, lang: str) -> Sample:
    """Return a statement without a question, answered by a short acknowledgement."""
    lines = [rng.choice(kind.statements).format(v=v) for kind, v in _kinds(rng, lang)]
    text = ("" if lang == "zh" else " ").join(lines)
    return Sample([Message("user", text)], GREET[lang][0], thinking_copy(lang, ""))


def repeat(rng: random.Random, lang: str) -> Sample:
    """Return a word, phrase or number to be repeated."""
    pick = rng.random()
    value_lang = lang if rng.random() < 0.88 else ("en" if lang == "zh" else "zh")
    if pick < 0.62:
        value = pools.word(rng, value_lang)
    elif pick < 0.8:
        value = pools.phrase(rng, value_lang)
    elif pick < 0.9:
        value = pools.name(rng, value_lang)
    else:
        value = pools.number(rng)
    text = rng.choice(REPEAT[lang]).format(v=value)
    return Sample([Message("user", text)], value, thinking_copy(lang, REPEAT_TOPIC[lang]))


def fixed_texts() -> list[str]:
    """Return every fixed text of this module, for the tokenizer's list of words."""
    texts: list[str] = [*NOT_TOLD.values(), *REPEAT_TOPIC.values()]
    for group in (*REPEAT.values(), *GREET.values()):
        texts.extend(group)
    for kind in KINDS:
        texts += [kind.topic, kind.answer, *kind.statements, *kind.about, *kind.questions]
    return [text.replace("{v}", "") for text in texts]
