"""Sentences about scenes in both languages: the answers that the model learns. Standard library."""

from __future__ import annotations

from .scene import Scene

LANGUAGES = ("zh", "en")
ZH = {
    "red": "红色",
    "orange": "橙色",
    "yellow": "黄色",
    "green": "绿色",
    "blue": "蓝色",
    "purple": "紫色",
    "pink": "粉色",
    "black": "黑色",
    "white": "白色",
    "grey": "灰色",
    "light blue": "浅蓝色",
    "light green": "浅绿色",
    "circle": "圆形",
    "square": "正方形",
    "triangle": "三角形",
    "star": "五角星",
    "cross": "十字形",
    "heart": "心形",
}
"""English name of a colour or a shape → Chinese name."""
COUNTS = {
    "en": ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    "zh": ("零", "一", "两", "三", "四", "五", "六", "七", "八", "九", "十"),
}
ORDINALS = {
    "en": ("first", "second", "third", "fourth"),
    "zh": ("第一张", "第二张", "第三张", "第四张"),
}


def plural(shape: str, count: int) -> str:
    """Return the English name of a shape for that many."""
    if count == 1:
        return shape
    return shape + ("es" if shape == "cross" else "s")


def content(scene: Scene, lang: str) -> str:
    """Return what is in the picture, as part of a sentence."""
    if lang == "zh":
        if scene.number:
            return f"{ZH[scene.colour]}的数字 {scene.number}"
        return f"{COUNTS['zh'][scene.count]}个{ZH[scene.colour]}的{ZH[scene.shape]}"
    if scene.number:
        return f"the number {scene.number} in {scene.colour}"
    shapes = plural(scene.shape, scene.count)
    return f"{COUNTS['en'][scene.count]} {scene.colour} {shapes}"


def describe(scene: Scene, lang: str) -> str:
    """Return the description of a picture."""
    if lang == "zh":
        return f"图中有{content(scene, lang)}，背景是{ZH[scene.background]}。"
    return f"The picture shows {content(scene, lang)} on a {scene.background} background."


def colour(scene: Scene, lang: str) -> str:
    """Return the answer to the question about the colour."""
    if lang == "zh":
        return f"{'数字' if scene.number else ZH[scene.shape]}是{ZH[scene.colour]}的。"
    if scene.number:
        return f"The number is {scene.colour}."
    verb = "is" if scene.count == 1 else "are"
    return f"The {plural(scene.shape, scene.count)} {verb} {scene.colour}."


def shape(scene: Scene, lang: str) -> str:
    """Return the answer to the question about the shape."""
    if lang == "zh":
        if scene.number:
            return f"图中没有形状，只有数字 {scene.number}。"
        return f"图中的形状是{ZH[scene.shape]}。"
    if scene.number:
        return f"There is no shape in the picture, only the number {scene.number}."
    if scene.count == 1:
        return f"The shape is a {scene.shape}."
    return f"The shapes are {plural(scene.shape, scene.count)}."


def count(scene: Scene, lang: str) -> str:
    """Return the answer to the question how many shapes there are."""
    if scene.number:
        return shape(scene, lang)
    if lang == "zh":
        return f"图中有{COUNTS['zh'][scene.count]}个{ZH[scene.shape]}。"
    verb = "is" if scene.count == 1 else "are"
    return f"There {verb} {COUNTS['en'][scene.count]} {plural(scene.shape, scene.count)}."


def number(scene: Scene, lang: str) -> str:
    """Return the answer to the question which number is printed."""
    if lang == "zh":
        return f"图中印的数字是 {scene.number}。" if scene.number else "图中没有数字。"
    if scene.number:
        return f"The number is {scene.number}."
    return "There is no number in the picture."


def background(scene: Scene, lang: str) -> str:
    """Return the answer to the question about the background."""
    if lang == "zh":
        return f"背景是{ZH[scene.background]}的。"
    return f"The background is {scene.background}."


def one_of(scene: Scene, place: int, lang: str) -> str:
    """Return what the picture at `place` (from 0) shows."""
    if lang == "zh":
        return f"{ORDINALS['zh'][place]}图中有{content(scene, lang)}。"
    return f"The {ORDINALS['en'][place]} picture shows {content(scene, lang)}."


def difference(first: Scene, second: Scene, lang: str) -> str:
    """Return what two pictures show."""
    if lang == "zh":
        return f"第一张图中有{content(first, lang)}，第二张图中有{content(second, lang)}。"
    return (
        f"The first picture shows {content(first, lang)}, "
        f"the second picture shows {content(second, lang)}."
    )


def how_many_pictures(total: int, lang: str) -> str:
    """Return the answer to the question how many pictures were sent."""
    if lang == "zh":
        return f"一共有{COUNTS['zh'][total]}张图片。"
    verb, noun = ("is", "picture") if total == 1 else ("are", "pictures")
    return f"There {verb} {COUNTS['en'][total]} {noun}."


NO_PICTURE = {"zh": "这条消息里没有图片。", "en": "There is no picture in this message."}
THINKING = {
    "zh": "我先看图片，再回答问题。",
    "en": "I look at the picture and then answer the question.",
}
