"""The questions about pictures, in several phrasings a language. Standard library only.

The first phrasing of each is the canonical one: the labs and the tests ask it.
"""

from __future__ import annotations

ABOUT_ONE: dict[str, dict[str, tuple[str, ...]]] = {
    "describe": {
        "en": (
            "Describe this picture.",
            "Describe the picture.",
            "Describe this image.",
            "Please describe the image.",
            "What is in this picture?",
            "What is in this image?",
            "What do you see in the picture?",
            "What does the picture show?",
            "Describe the image in one sentence.",
            "Describe this picture in one sentence.",
            "Please describe this picture.",
            "Describe the content of this image.",
        ),
        "zh": (
            "描述这张图片。",
            "描述一下这张图片。",
            "请描述这张图片。",
            "请描述一下这张图片。",
            "请描述这张图片的内容。",
            "描述图片内容。",
            "请用一句话描述这张图片。",
            "用一句话描述这张图。",
            "图片里有什么？",
            "这张图片里有什么？",
            "这张图里有什么？",
            "图中有什么？",
            "你在图中看到了什么？",
        ),
    },
    "colour": {
        "en": (
            "What colour is it?",
            "What color is it?",
            "What colour are the shapes?",
            "What color are the shapes?",
            "What colour is the shape?",
            "What colour do you see in the picture?",
            "Which colour is it?",
            "What color is the number?",
            "What colour is the number?",
            "What is the colour of the shapes in the picture?",
        ),
        "zh": (
            "是什么颜色？",
            "图中的形状是什么颜色？",
            "形状是什么颜色的？",
            "这是什么颜色？",
            "它是什么颜色的？",
            "图中的数字是什么颜色？",
            "数字是什么颜色的？",
            "图里是什么颜色？",
        ),
    },
    "shape": {
        "en": (
            "What shape is it?",
            "What shapes are in the picture?",
            "Which shape is in the picture?",
            "Which shapes do you see?",
            "What shape do you see?",
            "What is the shape?",
            "What shape is in the picture?",
        ),
        "zh": (
            "是什么形状？",
            "图中是什么形状？",
            "这是什么形状？",
            "图中有什么形状？",
            "图里的形状是什么？",
            "图中的图形是什么形状？",
        ),
    },
    "count": {
        "en": (
            "How many shapes are there?",
            "How many shapes are in the picture?",
            "How many are there?",
            "How many shapes do you see?",
            "How many are in the picture?",
            "Count the shapes.",
            "How many objects are in the picture?",
        ),
        "zh": (
            "图中有几个形状？",
            "有几个？",
            "图中有几个？",
            "一共有几个形状？",
            "图里有多少个形状？",
            "图中有多少个图形？",
            "图中有几个图形？",
            "数一数有几个形状。",
        ),
    },
    "number": {
        "en": (
            "What number is printed?",
            "What number is printed in the picture?",
            "What number is in the picture?",
            "Which number is printed in the picture?",
            "Which number do you see?",
            "What is the number?",
            "Read the number.",
            "Read the number in the picture.",
        ),
        "zh": (
            "图中印的数字是多少？",
            "图中的数字是多少？",
            "数字是多少？",
            "图里印的是什么数字？",
            "图中印着什么数字？",
            "读出图中的数字。",
            "请读出图中的数字。",
            "上面写的数字是多少？",
        ),
    },
    "background": {
        "en": (
            "What colour is the background?",
            "What color is the background?",
            "Which colour is the background?",
            "What is the colour of the background?",
        ),
        "zh": ("背景是什么颜色？", "背景是什么颜色的？", "图片的背景是什么颜色？"),
    },
}
"""What is asked about one picture → language → phrasings."""

DIFFERENCE = {
    "en": (
        "What is different between the two pictures?",
        "What is the difference between the two pictures?",
        "What is the difference between the two images?",
        "What is different between these two images?",
        "Describe both pictures.",
        "Describe the two pictures.",
        "Describe the two images.",
        "Compare the two pictures.",
        "Compare these two images.",
        "What do the two pictures show?",
    ),
    "zh": (
        "两张图片有什么不同？",
        "这两张图片有什么不同？",
        "两张图有什么不同？",
        "这两张图有什么区别？",
        "两张图片有什么区别？",
        "比较这两张图片。",
        "请比较这两张图片。",
        "分别描述这两张图片。",
        "请分别描述两张图片。",
        "两张图片里分别是什么？",
    ),
}
ONE_OF = {
    "en": (
        "What is in the {place} picture?",
        "Describe the {place} picture.",
        "What does the {place} picture show?",
        "What is in the {place} image?",
        "Describe the {place} image.",
    ),
    "zh": (
        "{place}图片里有什么？",
        "{place}图里有什么？",
        "描述{place}图片。",
        "请描述{place}图片。",
        "{place}图中有什么？",
        "{place}是什么？",
    ),
}
HOW_MANY_PICTURES = {
    "en": (
        "How many pictures are there?",
        "How many pictures did I send?",
        "How many images are there?",
        "How many images did I send?",
        "How many pictures do you see?",
    ),
    "zh": (
        "一共有几张图片？",
        "我发了几张图片？",
        "有几张图片？",
        "这里有多少张图片？",
        "一共有多少张图片？",
        "我发了几张图？",
    ),
}
