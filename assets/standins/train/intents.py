"""What the tools of the corpus do, how schemas name them, and how users ask for them.

Standard library only; `toolcalls` makes samples of it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Intent:
    """One thing a tool can do: its names, its parameters, and how a user asks for it.

    `params` maps the slot of a question to (names a schema may give it, JSON type, pool).
    """

    key: str
    names: tuple[str, ...]
    descriptions: tuple[str, ...]
    params: dict[str, tuple[tuple[str, ...], str, str]]
    questions: dict[str, tuple[str, ...]]


_CITY = (("city", "city", "city", "location", "place", "town", "city_name"), "string", "city")
INTENTS: tuple[Intent, ...] = (
    Intent(
        "weather",
        ("get_weather", "get_weather", "get_current_weather", "weather", "fetch_weather"),
        (
            "Get current weather for a city",
            "Get the weather of a city",
            "Current weather of a city",
            "查询城市的天气",
            "获取一个城市的当前天气",
        ),
        {"c": _CITY},
        {
            "en": (
                "What is the weather in {c}?",
                "How is the weather in {c}?",
                "Tell me the weather in {c}.",
                "What is the weather like in {c} today?",
                "Weather in {c}?",
                "What's the weather in {c}?",
                "Is the weather good in {c}?",
                "I want to know the weather in {c}.",
            ),
            "zh": (
                "{c}的天气怎么样？",
                "{c}天气如何？",
                "{c}今天天气怎么样？",
                "查一下{c}的天气。",
                "请告诉我{c}的天气。",
                "{c}天气怎么样？",
                "我想知道{c}的天气。",
                "{c}现在的天气好吗？",
            ),
        },
    ),
    Intent(
        "time",
        ("get_time", "get_local_time", "get_current_time", "current_time"),
        (
            "Get the local time of a city",
            "Current time in a city",
            "查询城市的当地时间",
            "获取一个城市的当前时间",
        ),
        {"c": _CITY},
        {
            "en": (
                "What time is it in {c}?",
                "What is the time in {c}?",
                "Tell me the time in {c}.",
                "What is the local time in {c}?",
                "What's the time in {c}?",
                "I want to know the time in {c}.",
            ),
            "zh": (
                "{c}现在几点？",
                "{c}的时间是几点？",
                "请告诉我{c}的时间。",
                "{c}当地时间是几点？",
                "{c}现在是几点？",
                "我想知道{c}的时间。",
            ),
        },
    ),
    Intent(
        "search",
        ("search", "web_search", "search_web", "find_pages"),
        ("Search the web", "Search pages for a query", "搜索网页", "按关键词搜索"),
        {"w": (("query", "query", "keyword", "text"), "string", "word")},
        {
            "en": (
                "Search for {w}.",
                "Search the web for {w}.",
                "Find pages about {w}.",
                "Look up {w}.",
            ),
            "zh": ("搜索{w}。", "请搜索{w}。", "查找关于{w}的网页。", "搜一下{w}。"),
        },
    ),
    Intent(
        "currency",
        ("convert_currency", "convert_money", "exchange_currency"),
        (
            "Convert an amount between currencies",
            "Convert money",
            "货币换算",
            "把金额换成另一种货币",
        ),
        {
            "a": (("amount", "amount", "value"), "number", "number"),
            "f": (("from", "from", "from_currency"), "string", "currency"),
            "t": (("to", "to", "to_currency"), "string", "currency"),
        },
        {
            "en": (
                "Convert {a} {f} to {t}.",
                "How much is {a} {f} in {t}?",
                "Change {a} {f} into {t}.",
            ),
            "zh": ("把 {a} {f} 换成 {t}。", "{a} {f} 等于多少 {t}？", "请将 {a} {f} 换算成 {t}。"),
        },
    ),
    Intent(
        "alarm",
        ("set_alarm", "create_alarm", "add_alarm"),
        ("Set an alarm", "Set an alarm clock", "设置闹钟", "新建一个闹钟"),
        {
            "h": (("hour",), "integer", "hour"),
            "m": (("minute", "minute", "minutes"), "integer", "minute"),
        },
        {
            "en": ("Set an alarm for {h}:{m}.", "Wake me at {h}:{m}.", "Alarm at {h}:{m}, please."),
            "zh": ("设一个 {h}:{m} 的闹钟。", "{h}:{m} 叫醒我。", "请设置 {h}:{m} 的闹钟。"),
        },
    ),
    Intent(
        "order",
        ("get_order", "track_order", "get_order_status", "find_order"),
        ("Get the status of an order", "Track an order", "查询订单的状态", "跟踪订单"),
        {"n": (("order_id", "order_number", "number"), "string", "number")},
        {
            "en": (
                "Where is my order {n}?",
                "Track order {n}.",
                "What is the status of order {n}?",
            ),
            "zh": ("我的订单 {n} 到哪了？", "查询订单 {n}。", "订单 {n} 的状态是什么？"),
        },
    ),
    Intent(
        "message",
        ("send_message", "send_text", "write_message"),
        ("Send a message to a person", "Send a text message", "给一个人发消息", "发送消息"),
        {
            "p": (("name", "to", "person", "recipient"), "string", "name"),
            "w": (("text", "message", "content"), "string", "word"),
        },
        {
            "en": ("Send {p} the message {w}.", "Tell {p}: {w}.", "Write {w} to {p}."),
            "zh": ("给{p}发消息：{w}。", "告诉{p}：{w}。", "发消息给{p}，内容是{w}。"),
        },
    ),
)
