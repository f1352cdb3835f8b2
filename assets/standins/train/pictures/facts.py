"""The questions without a picture that the model knows, each with one fixed, true answer.

Standard library only: the evaluation and the model card read this list too.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fact:
    """One question in one language: its phrasings, the canonical one first, and the answer."""

    lang: str
    questions: tuple[str, ...]
    answer: str


def _what_en(term: str) -> tuple[str, ...]:
    return (
        f"What is {term}?",
        f"What is {term}? Answer in one sentence.",
        f"Explain {term} in one sentence.",
        f"Introduce {term} in one sentence.",
        f"Explain {term}.",
        f"Briefly introduce {term}.",
        f"Tell me about {term}.",
    )


def _what_zh(term: str) -> tuple[str, ...]:
    return (
        f"{term} 是什么？",
        f"什么是 {term}？",
        f"用一句话介绍 {term}。",
        f"用一句话解释 {term}。",
        f"用一句话说明什么是 {term}。",
        f"请介绍一下 {term}。",
        f"简单介绍一下 {term}。",
        f"请用一句话介绍 {term}。",
    )


NPU_EN = (
    "The Ascend NPU is a processor by Huawei for neural networks, "
    "with cube units for matrices and vector units for the rest."
)
NPU_ZH = (
    "昇腾 NPU 是华为面向神经网络的处理器，矩阵乘法由 Cube 单元完成，其余计算由 Vector 单元完成。"
)
UNKNOWN = {
    "en": "I am a small stand-in model and I do not know that.",
    "zh": "我是小型替身模型，我不知道这个。",
}
"""The honest answer to everything else."""

FACTS = (
    Fact(
        "en",
        ("Hello", "Hello!", "Hi", "Hi!", "Hello there.", "Good morning."),
        "Hello! Send me a picture and I will describe it.",
    ),
    Fact(
        "zh",
        ("你好", "你好！", "您好", "您好！", "嗨", "早上好！", "你好呀"),
        "你好！发一张图片给我，我来描述它。",
    ),
    Fact(
        "en",
        (
            "Which model are you?",
            "Who are you?",
            "What are you?",
            "What model are you?",
            "Are you MiniCPM-V?",
            "Introduce yourself.",
            "What is your name?",
            "Please introduce yourself.",
        ),
        "I am a small stand-in for MiniCPM-V-4_5, trained for this course.",
    ),
    Fact(
        "zh",
        (
            "你是谁？",
            "你是什么模型？",
            "你是哪个模型？",
            "你叫什么名字？",
            "你是 MiniCPM-V 吗？",
            "介绍一下你自己。",
            "请介绍一下你自己。",
            "请做个自我介绍。",
        ),
        "我是 MiniCPM-V-4_5 的小型替身模型，为本课程训练。",
    ),
    Fact(
        "en",
        (*_what_en("the Ascend NPU")[3:4], *_what_en("the Ascend NPU"), *_what_en("an Ascend NPU")),
        NPU_EN,
    ),
    Fact(
        "zh",
        (
            "用一句话介绍昇腾 NPU。",
            *_what_zh("昇腾 NPU"),
            "用一句话介绍昇腾NPU。",
            "用一句话介绍昇腾。",
            "昇腾NPU是什么？",
        ),
        NPU_ZH,
    ),
    Fact(
        "en", _what_en("vLLM"), "vLLM is an open-source engine that serves large language models."
    ),
    Fact("zh", _what_zh("vLLM"), "vLLM 是一个开源的大语言模型推理和服务引擎。"),
    Fact(
        "en",
        _what_en("vllm-ascend"),
        "vllm-ascend is a platform plugin that lets vLLM run on Ascend NPUs.",
    ),
    Fact("zh", _what_zh("vllm-ascend"), "vllm-ascend 是让 vLLM 在昇腾 NPU 上运行的平台插件。"),
    Fact("en", _what_en("CANN"), "CANN is the software stack for computing on Ascend processors."),
    Fact("zh", _what_zh("CANN"), "CANN 是昇腾处理器的计算软件栈。"),
    Fact(
        "en",
        _what_en("MiniCPM-V"),
        "MiniCPM-V is a family of models that read pictures and text and answer in text.",
    ),
    Fact("zh", _what_zh("MiniCPM-V"), "MiniCPM-V 是一系列读取图片和文字、用文字回答的模型。"),
    Fact(
        "en",
        _what_en("a multimodal model"),
        "A multimodal model reads more than text, for instance pictures.",
    ),
    Fact(
        "zh",
        (
            "什么是多模态模型？",
            "用一句话解释多模态模型。",
            "多模态模型是什么？",
            "请介绍一下多模态模型。",
        ),
        "多模态模型除了文字还能读取别的内容，例如图片。",
    ),
    Fact(
        "en", _what_en("Base64"), "Base64 writes bytes as text, so that a picture fits into JSON."
    ),
    Fact("zh", _what_zh("Base64"), "Base64 把字节写成文本，这样图片就能放进 JSON。"),
    Fact(
        "en",
        _what_en("the KV cache"),
        "The KV cache keeps the keys and values of past tokens, "
        "so that they are not computed again.",
    ),
    Fact(
        "zh",
        ("什么是 KV 缓存？", "KV 缓存是什么？", "用一句话解释 KV 缓存。", "请介绍一下 KV 缓存。"),
        "KV 缓存保存已处理词元的键和值，避免重复计算。",
    ),
    Fact("en", ("Thank you.", "Thanks.", "Thank you!", "Thanks a lot!"), "You are welcome."),
    Fact("zh", ("谢谢。", "谢谢你。", "谢谢！", "多谢。"), "不客气。"),
    Fact("en", ("Goodbye.", "Bye.", "Bye!", "See you."), "Goodbye!"),
    Fact("zh", ("再见。", "再见！", "拜拜。"), "再见！"),
)

ASKED_UNKNOWN = {
    "en": (
        "What is the weather today?",
        "Who won the football match?",
        "What is the capital of France?",
        "Write a poem about the sea.",
        "How do I cook rice?",
        "What is 17 times 23?",
        "Tell me a joke.",
        "Translate this sentence into German.",
        "Who wrote this book?",
        "When does the train leave?",
        "What is the price of gold?",
        "How tall is this mountain?",
        "Which song is the best?",
        "Recommend a good film.",
        "Write a program in Python.",
        "What time is it?",
        "Why is the sea salty?",
        "How old is the universe?",
        "Where is the nearest station?",
        "What should I eat for dinner?",
    ),
    "zh": (
        "今天天气怎么样？",
        "谁赢了比赛？",
        "法国的首都是哪里？",
        "写一首关于大海的诗。",
        "米饭怎么做？",
        "17 乘以 23 等于多少？",
        "讲个笑话。",
        "把这句话翻译成德语。",
        "这本书是谁写的？",
        "火车几点开？",
        "黄金多少钱？",
        "这座山有多高？",
        "哪首歌最好听？",
        "推荐一部电影。",
        "用 Python 写一个程序。",
        "现在几点了？",
        "为什么海水是咸的？",
        "宇宙有多少岁？",
        "最近的车站在哪里？",
        "晚饭吃什么？",
    ),
}
"""Questions that are trained to be answered with UNKNOWN."""
TESTED_UNKNOWN = {
    "en": (
        "What is the tallest building?",
        "Who invented the telephone?",
        "Write a story about a dog.",
        "How many planets are there?",
        "What is your favourite food?",
    ),
    "zh": (
        "最高的楼在哪里？",
        "电话是谁发明的？",
        "写一个关于小狗的故事。",
        "太阳系有几颗行星？",
        "你最喜欢吃什么？",
    ),
}
"""Questions that the training never sees, for the evaluation."""
