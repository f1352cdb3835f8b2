"""Values that the stand-in never saw: the lab and the tests ask about these.

Standard library only, and no imports from the package, so that a notebook can load this file alone.
The corpus generator refuses every text that contains one of them, and a unit test regenerates
the corpus to prove it.
"""

from __future__ import annotations

CITIES_EN = (
    "Tromso",
    "Gdansk",
    "Cusco",
    "Nantes",
    "Bergen",
    "Porto",
    "Malmo",
    "Quito",
    "Zagreb",
    "Tampere",
    "Davos",
    "Leeds",
    "Utrecht",
    "Halifax",
    "Windhoek",
)
CITIES_ZH = (
    "泉州",
    "洛阳",
    "桂林",
    "烟台",
    "珠海",
    "绍兴",
    "徐州",
    "保定",
    "南宁",
    "柳州",
    "湛江",
    "镇江",
    "襄阳",
    "唐山",
    "包头",
)
NAMES_EN = (
    "Zelda",
    "Quentin",
    "Ottilie",
    "Fergus",
    "Maribel",
    "Kasimir",
    "Odette",
    "Rupert",
    "Ingrid",
    "Barnaby",
    "Philippa",
    "Leopold",
    "Xanthe",
    "Dmitri",
    "Rosalind",
)
NAMES_ZH = (
    "沈知微",
    "顾清源",
    "陆子衿",
    "苏慕白",
    "程若溪",
    "韩晓峰",
    "许文静",
    "叶知秋",
    "江海燕",
    "秦思远",
    "唐婉如",
    "宋立言",
    "白景行",
    "方以宁",
    "邓可欣",
)
NUMBERS = (
    "8417",
    "59302",
    "7264",
    "3091",
    "46185",
    "2573",
    "90714",
    "6138",
    "15826",
    "9405",
    "38729",
    "5617",
    "72043",
    "1864",
    "64953",
)
WORDS_EN = (
    "lantern",
    "pebble",
    "harvest",
    "compass",
    "thunder",
    "meadow",
    "whistle",
    "anchor",
    "velvet",
    "glacier",
)
WORDS_ZH = (
    "灯笼",
    "罗盘",
    "麦田",
    "风筝",
    "琥珀",
    "竹筏",
    "雷声",
    "贝壳",
    "毛笔",
    "屋檐",
)

ALL = CITIES_EN + CITIES_ZH + NAMES_EN + NAMES_ZH + NUMBERS + WORDS_EN + WORDS_ZH

# (what, language): the prompts that the tests substitute held-out values into.
PROMPTS: dict[tuple[str, str], str] = {
    ("name", "en"): "My name is {v}. What is my name?",
    ("name", "zh"): "我叫{v}。我叫什么名字？",
    ("city", "en"): "I live in {v}. Which city do I live in?",
    ("city", "zh"): "我住在{v}。我住在哪个城市？",
    ("port", "en"): "The server listens on port {v}. Which port does it listen on?",
    ("port", "zh"): "服务器监听端口 {v}。它监听哪个端口？",
    ("order", "en"): "The order number is {v}. What is the order number?",
    ("order", "zh"): "订单号是 {v}。订单号是多少？",
    ("word", "en"): "Repeat this word: {v}",
    ("word", "zh"): "请重复这个词：{v}",
}
VALUES: dict[tuple[str, str], tuple[str, ...]] = {
    ("name", "en"): NAMES_EN,
    ("name", "zh"): NAMES_ZH,
    ("city", "en"): CITIES_EN,
    ("city", "zh"): CITIES_ZH,
    ("port", "en"): NUMBERS,
    ("port", "zh"): NUMBERS,
    ("order", "en"): NUMBERS,
    ("order", "zh"): NUMBERS,
    ("word", "en"): WORDS_EN,
    ("word", "zh"): WORDS_ZH,
}
_FOLDED = tuple(value.casefold() for value in ALL)


def is_clean(text: str) -> bool:
    """Return whether no held-out value occurs in the text, in whatever letter case."""
    folded = text.casefold()
    return not any(value in folded for value in _FOLDED)
