"""What tools return, or how they fail, and the sentence that reports it.

Standard library only; `toolcalls` puts it into conversations.
"""

from __future__ import annotations

import json
import random
from typing import Any

from train import pools

SKY = {
    "en": ("sunny", "cloudy", "rainy", "windy", "snowy", "foggy", "clear", "overcast", "stormy"),
    "zh": ("晴", "多云", "小雨", "大风", "下雪", "有雾", "阴", "雷阵雨", "大雪", "晴转多云"),
}
STATUS = {
    "en": ("shipped", "on its way", "delivered", "paid", "cancelled", "packed"),
    "zh": ("已发货", "运输中", "已送达", "已付款", "已取消", "已打包"),
}
KEYS = {
    "sky": ("condition", "condition", "weather", "sky"),
    "degrees": ("temperature", "temperature", "temp", "temperature_c"),
    "status": ("status", "status", "state"),
}
_FAILS = {"en": "The tool failed: {d}.", "zh": "工具出错了：{d}。"}
_RAISED = ("KeyError: '{v}'", "KeyError: '{v}'", "ValueError: {v}", "RuntimeError: {v}")
_HINTS = (
    "{v} is unknown, did you mean {w}?",
    "no {v}; did you mean {w}?",
    "{v} not found, try {w}",
    "ValueError: unknown: {v}, use {w}",
    "没有{v}，是不是{w}？",
    "找不到{v}，请用{w}",
)
_ERRORS = ("raised", "raised", "invalid_arguments", "not_found")
DISTRACTORS = ("humidity", "wind", "pressure")


def _either(listed: dict[str, tuple[str, ...]], rng: random.Random, lang: str) -> str:
    """Return a listed word, or any other: what a tool says must be copied, not guessed."""
    if rng.random() < 0.12:
        lang = "en" if lang == "zh" else "zh"
    return rng.choice(listed[lang]) if rng.random() < 0.4 else pools.word(rng, lang)


def _dumped(fields: list[tuple[str, Any]], rng: random.Random) -> str:
    if rng.random() < 0.3:
        rng.shuffle(fields)
    return json.dumps(dict(fields), ensure_ascii=False)


def weather(city: str, rng: random.Random, lang: str) -> tuple[str, str]:
    """Return a weather tool's result and the sentence that reports it."""
    sky, degrees = _either(SKY, rng, lang), str(rng.randint(-20, 42))
    report = (
        f"{city}: {sky}, {degrees} degrees." if lang == "en" else f"{city}：{sky}，{degrees} 度。"
    )
    shape = rng.random()
    if shape < 0.2:
        return (f"{sky}, {degrees} degrees" if lang == "en" else f"{sky}，{degrees} 度"), report
    fields: list[tuple[str, Any]] = [("city", city)] if rng.random() < 0.6 else []
    told_sky = (rng.choice(KEYS["sky"]), sky)
    told_degrees = (rng.choice(KEYS["degrees"]), int(degrees))
    if shape < 0.28:
        only = f"{city}: {degrees} degrees." if lang == "en" else f"{city}：{degrees} 度。"
        return _dumped([*fields, told_degrees], rng), only
    if rng.random() < 0.1:
        fields.append((rng.choice(DISTRACTORS), rng.randint(1, 99)))
    return _dumped([*fields, told_sky, told_degrees], rng), report


def clock(city: str, rng: random.Random, lang: str) -> tuple[str, str]:
    """Return a clock tool's result and the sentence that reports it."""
    time = f"{rng.randint(0, 23):02d}:{rng.randint(0, 59):02d}"
    fields: list[tuple[str, Any]] = [("city", city)] if rng.random() < 0.6 else []
    report = f"It is {time} in {city}." if lang == "en" else f"{city}现在是 {time}。"
    return (_dumped([*fields, ("time", time)], rng) if rng.random() < 0.85 else time), report


def order(number: str, rng: random.Random, lang: str) -> tuple[str, str]:
    """Return an order tool's result and the sentence that reports it."""
    status = _either(STATUS, rng, lang)
    fields: list[tuple[str, Any]] = [("order_id", number)] if rng.random() < 0.6 else []
    report = f"Order {number}: {status}." if lang == "en" else f"订单 {number}：{status}。"
    return _dumped([*fields, (rng.choice(KEYS["status"]), status)], rng), report


REPORTS = {"weather": weather, "time": clock, "order": order}


def failure(value: str, rng: random.Random, lang: str) -> tuple[str, str]:
    """Return a tool's error as the loop tells it to the model, and the sentence that reports it."""
    detail = rng.choice(_RAISED).format(v=value if rng.random() < 0.6 else pools.word(rng, lang))
    told = {"error": rng.choice(_ERRORS), "detail": detail}
    return json.dumps(told, ensure_ascii=False), _FAILS[lang].format(d=detail)


def correction(value: str, other: str, rng: random.Random) -> str:
    """Return an error that names the value to use instead."""
    told = {"error": rng.choice(_ERRORS), "detail": rng.choice(_HINTS).format(v=value, w=other)}
    return json.dumps(told, ensure_ascii=False)


def fixed_texts() -> list[str]:
    """Return every fixed text of this module, for the tokenizer's list of words."""
    texts = [text.format(v="", w="", d="") for text in (*_RAISED, *_HINTS, *_FAILS.values())]
    for listed in (*SKY.values(), *STATUS.values(), *KEYS.values()):
        texts += listed
    return [*texts, *_ERRORS, *DISTRACTORS, "error detail degrees order_id time It is in Order"]
