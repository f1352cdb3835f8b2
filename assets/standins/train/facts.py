"""The general questions that the corpus contains, each with one fixed, true answer.

Standard library only: the evaluation and the model card read this list too.
The first question of a fact is the canonical one, listed in the card and safest for a lab.
"""

from __future__ import annotations

from dataclasses import dataclass

from train.terms import TERMS


@dataclass(frozen=True)
class Fact:
    """One question in one language: its phrasings, the answer, and what the thinking names."""

    key: str
    lang: str
    topic: str
    questions: tuple[str, ...]
    answer: str


def _explain_en(term: str) -> tuple[str, ...]:
    return (
        f"What is {term}? Answer in one sentence.",
        f"Explain {term} in one sentence.",
        f"What is {term}?",
        f"Explain {term}.",
        f"What does {term} mean?",
        f"Define {term}.",
    )


def _explain_zh(term: str) -> tuple[str, ...]:
    return (
        f"用一句话解释什么是{term}。",
        f"用一句话解释{term}。",
        f"什么是{term}？",
        f"{term}是什么？",
        f"解释一下{term}。",
        f"请解释{term}。",
        f"{term}是什么意思？",
    )


_ME_EN = "I am a small stand-in model of this course, not MiniCPM."
_ME_ZH = "我是本课程的小型替身模型，不是 MiniCPM。"
INTRO_EN = (
    "I am the stand-in model of this course. I have one and a half million parameters and was "
    "trained from scratch on a small generated corpus. I can read your prompt and copy names, "
    "cities and numbers from it, answer a few fixed questions, and call tools. I am not MiniCPM, "
    "and my answers say nothing about its quality. I exist so that the labs run without an NPU."
)
INTRO_ZH = (
    "我是本课程的替身模型，大约有一百五十万个参数，是用一小份生成的语料从头训练的。"
    "我会读你的提示，从中抄出名字、城市和数字，也能回答少量固定的问题，还会调用工具。"
    "我不是 MiniCPM，我的回答不代表它的质量。"
)

_OTHERS = (
    Fact("sum", "en", "a sum", ("1+1=?", "What is 1+1?", "1 + 1 = ?", "What is 1 + 1?"), "2"),
    Fact(
        "sum",
        "zh",
        "一道算术题",
        ("1+1等于几？", "1+1等于多少？", "1 + 1 等于几？", "1+1=？"),
        "1+1 等于 2。",
    ),
    Fact(
        "who",
        "en",
        "who I am",
        (
            "Who are you?",
            "What are you?",
            "Are you MiniCPM?",
            "Which model are you?",
            "What is your name?",
        ),
        _ME_EN,
    ),
    Fact(
        "who",
        "zh",
        "我是谁",
        ("你是谁？", "你是什么？", "你是 MiniCPM 吗？", "你是什么模型？", "你叫什么名字？"),
        _ME_ZH,
    ),
    Fact(
        "hello",
        "en",
        "a greeting",
        ("Hello", "Hi", "Hello!", "Hi!", "Hello.", "Good morning!", "Hello, how are you?"),
        "Hello! How can I help you?",
    ),
    Fact(
        "hello",
        "zh",
        "一句问候",
        ("你好", "你好！", "你好。", "您好", "早上好！", "你好，最近怎么样？"),
        "你好！有什么可以帮你？",
    ),
    Fact(
        "thanks",
        "en",
        "thanks",
        ("Thank you.", "Thanks!", "Thank you very much."),
        "You are welcome.",
    ),
    Fact("thanks", "zh", "一句感谢", ("谢谢。", "谢谢你！", "多谢。"), "不客气。"),
    Fact("bye", "en", "a farewell", ("Goodbye.", "Bye!", "See you later."), "Goodbye!"),
    Fact("bye", "zh", "一句告别", ("再见。", "再见！", "下次见。"), "再见！"),
    Fact(
        "france",
        "en",
        "a capital",
        (
            "What is the capital of France?",
            "The capital of France?",
            "Which city is the capital of France?",
        ),
        "The capital of France is Paris.",
    ),
    Fact(
        "france",
        "zh",
        "一个首都",
        ("法国的首都是哪里？", "法国的首都是哪座城市？", "法国首都是什么？"),
        "法国的首都是巴黎。",
    ),
    Fact(
        "china",
        "en",
        "a capital",
        (
            "What is the capital of China?",
            "The capital of China?",
            "Which city is the capital of China?",
        ),
        "The capital of China is Beijing.",
    ),
    Fact(
        "china",
        "zh",
        "一个首都",
        ("中国的首都是哪里？", "中国的首都是哪座城市？", "中国首都是什么？"),
        "中国的首都是北京。",
    ),
    Fact(
        "sky",
        "en",
        "a color",
        ("What color is the sky?", "What is the color of the sky?"),
        "On a clear day the sky is blue.",
    ),
    Fact(
        "sky", "zh", "一种颜色", ("天空是什么颜色？", "天空是什么颜色的？"), "晴天时天空是蓝色的。"
    ),
    Fact(
        "week",
        "en",
        "the week",
        ("How many days are in a week?", "How many days does a week have?"),
        "A week has seven days.",
    ),
    Fact("week", "zh", "一周的天数", ("一周有几天？", "一个星期有几天？"), "一周有七天。"),
    Fact(
        "water",
        "en",
        "water",
        ("At what temperature does water boil?", "When does water boil?"),
        "At sea level water boils at 100 degrees Celsius.",
    ),
    Fact(
        "water",
        "zh",
        "水的沸点",
        ("水在多少度沸腾？", "水的沸点是多少？"),
        "在海平面上，水在 100 摄氏度沸腾。",
    ),
    Fact(
        "intro",
        "en",
        "who I am",
        ("Introduce yourself.", "Please introduce yourself.", "Tell me about yourself."),
        INTRO_EN,
    ),
    Fact(
        "intro",
        "zh",
        "我是谁",
        ("介绍一下你自己。", "请介绍一下你自己。", "请做一下自我介绍。"),
        INTRO_ZH,
    ),
)


def _terms() -> list[Fact]:
    facts: list[Fact] = []
    for term_en, term_zh, en, zh in TERMS:
        key = term_en.removeprefix("the ").removeprefix("an ").removeprefix("a ")
        questions_zh = [
            q.strip().replace(" 。", "。").replace(" ？", "？") for q in _explain_zh(term_zh)
        ]
        facts.append(Fact(key, "en", term_en, _explain_en(term_en), en))
        facts.append(Fact(key, "zh", term_zh.strip(), tuple(questions_zh), zh))
    return facts


FACTS: tuple[Fact, ...] = tuple(_terms()) + _OTHERS


def of_language(lang: str) -> list[Fact]:
    """Return the facts of one language ("zh" or "en"), in a fixed order."""
    return [fact for fact in FACTS if fact.lang == lang]
