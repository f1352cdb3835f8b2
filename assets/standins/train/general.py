"""Samples of general questions: the fixed facts, and everything else, answered "I do not know"."""

from __future__ import annotations

import random

from train import facts, pools, smalltalk
from train.questions import HONEST
from train.sample import Message, Sample, thinking_fact, thinking_unknown

_SYSTEM = {
    "en": (
        "You are a helpful assistant.",
        "Answer briefly.",
        "You are the assistant of this course.",
    ),
    "zh": ("你是一个乐于助人的助手。", "请简短回答。", "你是本课程的助手。"),
}
_OPEN = {
    "en": (
        "What is {t}?",
        "What is {t}? Answer in one sentence.",
        "Explain {t} in one sentence.",
        "Explain {t}.",
        "Who is {t}?",
        "Who wrote {t}?",
        "Who invented the {t}?",
        "Where is {t}?",
        "What is the capital of {t}?",
        "When was {t} built?",
        "How does a {t} work?",
        "Define {t}.",
        "Why is the {t} {u}?",
        "Tell me a story about {t}.",
        "Write a poem about the {t}.",
        "How many {t} are there in {u}?",
        "Can you {t} the {u}?",
        "Translate {t} into {u}.",
        "What color is the {t}?",
        "What is the difference between {t} and {u}?",
        "How old is {t}?",
        "How do I cook {t} with {u}?",
        "What does {t} mean?",
        "Which {t} is the largest in {u}?",
        "Is {t} better than {u}?",
        "Give me three tips for {t}.",
        "Tell me a joke.",
        "What is the weather in {t}?",
        "What is the price of {t}?",
        "{t} {u}?",
        "{t}",
        "Write a program that sorts {t}.",
        "What time is it?",
        "What day is it today?",
        "Summarize the book {t}.",
        "Please help me with {t} and {u}.",
        "What is the history of {t}?",
    ),
    "zh": (
        "什么是{t}？",
        "用一句话解释什么是{t}。",
        "用一句话解释{t}。",
        "{t}是什么？",
        "谁是{t}？",
        "{t}是谁写的？",
        "{t}在哪里？",
        "{t}的首都是哪里？",
        "{t}是什么时候建成的？",
        "{t}是怎么工作的？",
        "为什么{t}是{u}？",
        "给我讲一个关于{t}的故事。",
        "写一首关于{t}的诗。",
        "有多少{t}？",
        "把{t}翻译成{u}。",
        "{t}是什么颜色？",
        "{t}和{u}有什么区别？",
        "{t}多大了？",
        "怎么做{t}？",
        "{t}是什么意思？",
        "最大的{t}是哪个？",
        "{t}比{u}好吗？",
        "讲个笑话。",
        "{t}的天气怎么样？",
        "{t}多少钱？",
        "解释一下{t}。",
        "请解释{t}。",
        "{t}",
        "写一个排序{t}的程序。",
        "现在几点？",
        "今天星期几？",
        "总结一下{t}这本书。",
        "请帮我处理{t}和{u}。",
        "{t}的历史是什么？",
        "介绍一下{t}。",
    ),
}
_FOR_TOOLS = ("weather", "time", "天气", "几点")
_SUMS = {
    "en": (
        "{a}{o}{b}=?",
        "What is {a}{o}{b}?",
        "{a} {o} {b} = ?",
        "What is {a} {o} {b}?",
        "Compute {a}{o}{b}.",
        "How much is {a} {o} {b}?",
    ),
    "zh": (
        "{a}{o}{b}等于几？",
        "{a}{o}{b}等于多少？",
        "{a}{o}{b}=？",
        "计算 {a}{o}{b}。",
        "{a} {o} {b} 等于多少？",
    ),
}
_NEXT = ("And {q}", "{q}", "{q}")


def fact_turns(fact: facts.Fact, rng: random.Random) -> Sample:
    """Return a fixed question, sometimes after a system prompt or after another question."""
    messages: list[Message] = []
    if rng.random() < 0.12:
        messages.append(Message("system", rng.choice(_SYSTEM[fact.lang])))
    if rng.random() < 0.12:
        before = rng.choice(facts.of_language(fact.lang))
        messages += [
            Message("user", rng.choice(before.questions)),
            Message("assistant", before.answer),
        ]
    weights = [4] + [1] * (len(fact.questions) - 1)
    messages.append(Message("user", rng.choices(fact.questions, weights=weights)[0]))
    return Sample(messages, fact.answer, thinking_fact(fact.lang, fact.topic))


def _topic(rng: random.Random, lang: str) -> str:
    draw = rng.choice((pools.word, pools.word, pools.city, pools.name, pools.phrase))
    return draw(rng, lang if rng.random() < 0.85 else "en")


def unknown(rng: random.Random, lang: str, *, tools: bool = False) -> Sample:
    """Return a question outside the corpus, or a sum, with the honest answer.

    Args:
        tools: whether tools are offered; then no question is one that a tool could answer.
    """
    pick = rng.random()
    if pick < 0.2:
        a, b = rng.randint(0, 99), rng.randint(0, 99)
        operator = rng.choice("+-*/×")
        if (a, b, operator) == (1, 1, "+"):
            a = 2
        text = rng.choice(_SUMS[lang]).format(a=a, b=b, o=operator)
    elif pick < 0.4:
        text = smalltalk.say(rng, lang)
    else:
        openings = [q for q in _OPEN[lang] if not (tools and any(w in q for w in _FOR_TOOLS))]
        text = rng.choice(openings).format(t=_topic(rng, lang), u=_topic(rng, lang))
    messages = [Message("user", text)]
    if rng.random() < 0.08:
        messages.insert(0, Message("system", rng.choice(_SYSTEM[lang])))
    return Sample(messages, HONEST[lang], thinking_unknown(lang))


def fixed_texts() -> list[str]:
    """Return every fixed text of this module, for the tokenizer's list of words."""
    texts: list[str] = [*HONEST.values()]
    for group in (*_SYSTEM.values(), *_OPEN.values(), *_SUMS.values()):
        texts.extend(group)
    for fact in facts.FACTS:
        texts += [fact.topic, fact.answer, *fact.questions]
    return [text.replace("{t}", "").replace("{u}", "") for text in texts]
