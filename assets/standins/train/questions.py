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
# Messages that need no tool, none of them in the corpus.
SMALL_TALK = {
    "en": tuple(
        """How are you today?|I am tired.|Nice to meet you.|What can you do?|That was helpful.
Can you help me?|Have a nice day!|Who made you?|I am bored.|Sing a song.|Good night.
What is your favourite colour?|OK.|Yes.|No, thanks.|Hi there!|Hey, how have you been?
I am feeling a bit down.|You are my best friend.|What a lovely morning!
I just finished my homework.|My brother is getting married.|Do you believe in ghosts?
Have you ever been to Mars?|Can you keep a secret?|I passed my exam!|I lost my keys.
My computer is very slow.|What are you doing?|What is your job?|Are you alive?|Do you get tired?
How smart are you?|You look great.|That made me smile.|I cannot sleep.|I had a strange dream.
I am learning Chinese.|We won!|It is raining and I forgot my umbrella.|Please be more polite.
Say something nice.|Surprise me.|Tell me something interesting.|I will be back soon.
Thank you so much, that was kind.|Good to see you.|Long day, huh?|Are you angry with me?
Do you have a pet?|What is your opinion?|How do birds fly?|Who discovered America?
What is the square root of two?|Why do we dream?|Name three planets.|Who is the king of Spain?
How deep is the ocean?|What does a baker do?|Is chess difficult?|Explain the rules of tennis.
How do I bake a cake?|What is the best way to save money?|Write a haiku.""".replace(
            "\n", "|"
        ).split("|")
    ),
    "zh": tuple(
        """你今天怎么样？|很高兴认识你。|你能做什么？|很有帮助。|你能帮我吗？|祝你愉快！
谁做了你？|我很无聊。|唱首歌。|晚安。|你最喜欢什么颜色？|是的。|不用了，谢谢。|嗨！
最近过得怎么样？|我心情有点低落。|你是我最好的朋友。|多么美好的早晨！|我刚写完作业。
我哥哥要结婚了。|你相信有鬼吗？|你去过火星吗？|你能保守秘密吗？|我考试通过了！|我的钥匙丢了。
我的电脑很慢。|你在干什么？|你的工作是什么？|你有生命吗？|你会累吗？|你有多聪明？|你看起来很精神。
你把我逗笑了。|我睡不着。|我做了一个奇怪的梦。|我在学英语。|我们赢了！|下雨了，我忘带伞了。
请客气一点。|说句好听的。|给我一个惊喜。|说点有意思的事。|我马上回来。|非常感谢，你真是太好了。
见到你真好。|今天真漫长啊。|你生我的气了吗？|你养宠物吗？|你的看法呢？|鸟是怎么飞的？
美洲是谁发现的？|二的平方根是多少？|人为什么会做梦？|说出三颗行星。|西班牙的国王是谁？|海有多深？
面包师做什么工作？|下棋难吗？|讲讲网球的规则。|怎么烤蛋糕？|怎样存钱最好？|写一首俳句。|我有点冷。
你真会聊天。|我该怎么办？""".replace("\n", "|").split("|")
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
TIME_QUESTION = {"en": "What time is it in {c}?", "zh": "{c}现在几点？"}


def _tool(
    name: str, description: str, properties: dict[str, Any] | None = None, param: str = "city"
) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": properties or {param: {"type": "string"}},
        "required": [param],
    }
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


def _weather(properties: dict[str, Any], param: str = "city") -> dict[str, Any]:
    return _tool("get_weather", "Get current weather for a city", properties, param)


WEATHER = _tool("get_weather", "Get current weather for a city")
TIME = _tool("get_time", "Get the local time of a city")
ORDER = _tool("get_order", "Get the status of an order", param="order_id")
_CITY = {"description": "name of the city, as the user wrote it", "type": "string"}
# The first is lab 03's own tool; the other descriptions are not in the corpus.
DESCRIBED = {
    "argument described": _weather({"city": _CITY}),
    "argument described in other words": _weather(
        {"city": {"type": "string", "description": "The town whose sky you want to know, in full"}}
    ),
    "argument called location": _weather(
        {"location": {"type": "string", "description": "City or town"}}, "location"
    ),
    "optional arguments besides": _weather(
        {
            "city": {"type": "string"},
            "days": {"default": 3, "maximum": 7, "type": "integer"},
            "scale": {"enum": ["celsius", "kelvin"], "type": "string"},
        }
    ),
}
SKY = {
    "en": ("sunny", "cloudy", "rainy", "windy", "snowy", "foggy", "clear"),
    "zh": ("晴", "多云", "小雨", "大风", "下雪", "有雾", "阴"),
}
REPORT = {"en": "{c}: {s}, {d} degrees.", "zh": "{c}：{s}，{d} 度。"}
SHAPES = ("city, condition, temperature", "condition, temperature", "text")
HINT = {"en": "unknown city {c}, did you mean {o}?", "zh": "没有{c}这个城市，是不是{o}？"}


def _after(lang: str, city: str, result: str) -> list[dict[str, Any]]:
    """Return the conversation in which the weather tool has returned the text."""
    function = {"name": "get_weather", "arguments": json.dumps({"city": city})}
    call = {"id": "call_1", "type": "function", "function": function}
    return [
        {"role": "user", "content": WEATHER_QUESTION[lang].format(c=city)},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": result},
    ]


def with_result(lang: str, city: str, shape: str, sky: str, degrees: int) -> list[dict[str, Any]]:
    """Return the conversation in which the weather tool has answered, in one of SHAPES."""
    if shape == "text":
        comma, unit = {"en": (", ", "degrees"), "zh": ("，", "度")}[lang]
        return _after(lang, city, f"{sky}{comma}{degrees} {unit}")
    values = {"city": city, "condition": sky, "temperature": degrees}
    told = {name: values[name] for name in shape.split(", ")}
    return _after(lang, city, json.dumps(told, ensure_ascii=False))


def with_error(lang: str, city: str, detail: str) -> list[dict[str, Any]]:
    """Return the conversation in which the weather tool has failed, as the loop tells it."""
    return _after(lang, city, json.dumps({"error": "raised", "detail": detail}, ensure_ascii=False))
