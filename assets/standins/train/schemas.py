"""The tools that a sample offers: JSON schemas in many spellings, and what each parameter means.

Standard library only; `toolcalls` asks about them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from train import pools
from train.intents import INTENTS, Intent

CURRENCIES = ["USD", "EUR", "CNY", "JPY", "GBP", "CHF", "KRW", "INR", "CAD", "AUD"]
NOTES = {
    "city": (
        "name of the city, as the user wrote it",
        "Name of the city",
        "The city to ask about",
        "city name, for example Paris",
        "the place that the user names",
        "城市名",
        "按用户写的城市名称",
        "要查询的城市",
    ),
    "word": ("what to look for", "the text, as the user wrote it", "关键词", "要写的内容"),
    "name": ("who gets it", "name of the person", "对方的名字"),
    "number": ("the number that the user wrote", "a number", "用户写的数字"),
    "currency": ("code of the currency", "three letters", "货币代码"),
    "hour": ("hour, 0 to 23", "小时"),
    "minute": ("minute, 0 to 59", "分钟"),
}
# Optional parameters that no question of the corpus fills in.
EXTRAS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("unit", {"type": "string", "enum": ["celsius", "fahrenheit"]}),
    ("units", {"default": "metric", "enum": ["metric", "imperial"], "type": "string"}),
    ("days", {"default": 1, "type": "integer"}),
    ("limit", {"type": "integer", "description": "how many results at most"}),
    ("lang", {"type": "string", "enum": ["zh", "en"]}),
    ("detail", {"default": False, "type": "boolean"}),
)
WEIGHTS = {"weather": 5, "time": 4, "search": 2, "order": 2}


@dataclass(frozen=True)
class Offered:
    """A tool on offer: what it does, its schema, and the parameter name of each slot in it."""

    intent: Intent
    schema: dict[str, Any]
    slots: dict[str, str]

    @property
    def name(self) -> str:
        """Return the name that a call has to give."""
        return str(self.schema["function"]["name"])


def _property(kind: str, pool: str, rng: random.Random) -> dict[str, Any]:
    """Return the schema of one parameter, its keys in one of the usual orders."""
    body: dict[str, Any] = {"type": kind}
    if pool == "currency" and rng.random() < 0.3:
        body["enum"] = CURRENCIES
    if rng.random() < 0.4:
        note = pools.phrase(rng, "en") if rng.random() < 0.2 else rng.choice(NOTES[pool])
        body["description"] = note
    return dict(sorted(body.items())) if rng.random() < 0.5 else body


def _slots(intent: Intent, rng: random.Random) -> dict[str, str]:
    slots = {slot: rng.choice(names) for slot, (names, _, _) in intent.params.items()}
    for slot in slots:
        if rng.random() < 0.06:
            slots[slot] = pools.invented_word(rng)
    if "f" in slots and rng.random() < 0.25:
        del slots["f"]
    return slots


def describe(intent: Intent, rng: random.Random) -> Offered:
    """Return a tool that does what the intent says, in one of many schemas."""
    slots = _slots(intent, rng)
    properties = {
        param: _property(intent.params[slot][1], intent.params[slot][2], rng)
        for slot, param in slots.items()
    }
    required = list(properties)
    if rng.random() < 0.2:
        name, body = rng.choice(EXTRAS)
        extra = {name: dict(body)}
        properties = {**properties, **extra} if rng.random() < 0.7 else {**extra, **properties}
    parameters: dict[str, Any] = {"type": "object", "properties": properties}
    if len(properties) > len(required) or rng.random() < 0.85:
        parameters["required"] = required
    name = rng.choice(intent.names)
    if rng.random() < 0.05:
        name = f"{rng.choice(('get', 'find', 'do'))}_{pools.invented_word(rng)}"
    function: dict[str, Any] = {"name": name}
    if rng.random() < 0.93:
        function["description"] = rng.choice(intent.descriptions)
    function["parameters"] = parameters
    return Offered(intent, {"type": "function", "function": function}, slots)


def offer(rng: random.Random) -> list[Offered]:
    """Return one to three different tools, in any order."""
    left, chosen = list(INTENTS), []
    for _ in range(rng.choices((1, 2, 3), weights=(40, 40, 20))[0]):
        weights = [WEIGHTS.get(intent.key, 1) for intent in left]
        intent = rng.choices(left, weights=weights)[0]
        left.remove(intent)
        chosen.append(describe(intent, rng))
    return chosen


def fixed_texts() -> list[str]:
    """Return every fixed text of this module, for the tokenizer's list of words."""
    texts = [*CURRENCIES, "default false true enum boolean pattern title", "get find do"]
    for notes in NOTES.values():
        texts += notes
    for name, body in EXTRAS:
        texts += [name, str(body.get("default", "")), *body.get("enum", ())]
        texts.append(body.get("description", ""))
    return texts
