"""The evaluation's own questions: none of them is a sample of the corpus. Standard library only."""

from __future__ import annotations

import json
from typing import Any

HONEST = {
    "en": "I am a small stand-in model and I do not know that.",
    "zh": "我是小型替身模型，我不知道这个。",
}
UNKNOWN = {
    "en": (
        "Who wrote Hamlet?",
        "What is the tallest mountain?",
        "Explain photosynthesis in one sentence.",
        "17+25=?",
        "What is 12 times 12?",
        "Who is the president of Brazil?",
        "Why is grass green?",
        "What is a black hole?",
        "Translate good night into German.",
        "Who painted the Mona Lisa?",
    ),
    "zh": (
        "《红楼梦》是谁写的？",
        "世界上最高的山是哪座？",
        "用一句话解释光合作用。",
        "17+25等于几？",
        "秦始皇是谁？",
        "长城有多长？",
        "什么是黑洞？",
        "把晚安翻译成德语。",
        "地球到月亮有多远？",
        "为什么草是绿色的？",
    ),
}
SYSTEM = (
    ("en", "The name of the user is {v}.", "What is my name?"),
    ("zh", "用户叫{v}。", "我叫什么名字？"),
)
# A statement of two values, of which one is asked for.
TWO_FACTS = (
    ("en", "My name is {n}. I live in {c}. What is my name?", "name"),
    ("en", "My name is {n}. I live in {c}. Where do I live?", "city"),
    ("zh", "我叫{n}。我住在{c}。我叫什么名字？", "name"),
    ("zh", "我叫{n}。我住在{c}。我住在哪里？", "city"),
)
AND = {"en": " and ", "zh": "和"}
WEATHER_QUESTION = {"en": "What is the weather in {c}?", "zh": "{c}的天气怎么样？"}


def _tool(name: str, description: str) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    }
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


WEATHER = _tool("get_weather", "Get current weather for a city")
TIME = _tool("get_time", "Get the local time of a city")


def with_result(question: str, city: str, lang: str) -> list[dict[str, Any]]:
    """Return the conversation in which the weather tool has answered: 23 degrees."""
    sky = {"en": "sunny", "zh": "晴"}[lang]
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "get_weather", "arguments": json.dumps({"city": city})},
    }
    result = json.dumps({"city": city, "condition": sky, "temperature": 23}, ensure_ascii=False)
    return [
        {"role": "user", "content": question},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": result},
    ]
