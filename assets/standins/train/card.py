"""Writes the model card: what the stand-in is, how it was made, and what was measured.

Standard library only. Training writes the card with an empty table; `evaluate.py --card` fills the
numbers in, so that none is ever typed by hand.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from train import facts

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
COMMAND = "python assets/standins/train/minicpm5.py"

_HEAD = """---
language: [zh, en]
tags: [stand-in, course]
---

# STAND-IN for MiniCPM5-2B · MiniCPM5-2B 的替身模型（STAND-IN）

"""

_ZH = """## 中文

**它是什么**：一个 LlamaForCausalLM（与 MiniCPM5 同一架构），{parameters:,} 个参数，\
由本课程在自己生成的语料上从头训练。没有 NPU 时，同一份 notebook 用真正的 `vllm serve` 加载它：\
调度、采样、流式输出、工具解析都是真的，而且它真的读提示——问题里换一个城市，回答里的城市也会换。

**它不是什么**：它不是 MiniCPM5，不含 MiniCPM5 的任何权重，它的回答和速度都不代表 MiniCPM5 的质量。\
凡是显示它的回答的地方，都标有 STAND-IN。

**怎么训练的**：`{command}`（种子 {seed}；先做 {copy_steps} 步随机词元的抄写，\
再在 {samples:,} 条生成样本的语料上做 {steps} 步，\
然后 {both_steps} 步两者一起做，\
最后 {settling_steps} 步还是一起做，但双调用、语法约束的 JSON、工具结果、\
闲聊和英语样本更多；\
在 {cores} 核机器上，{threads} 个线程用了 {minutes} 分钟；语料里带工具的样本四个一组，\
共用同一份工具列表，一起训练）。\
前两层的几个注意力头有意初始化为“看前几个词元”和“抄写”。\
保存前把最后的归一化层放大 {sharpen} 倍：这会让分布更尖锐，\
所以课程用的 temperature 1.0、top_p 0.95 仍能给出训练过的回答。\
这也意味着它对自己的答案显得比应有的更有把握。

**局限**：只认得下面这些问题、几种“先陈述再提问”的句式，\
和做七件事的工具（天气、时间、搜索、换汇、闹钟、订单、消息），工具名、参数名和说明可以变；\
不填可选参数。其他话，包括闲聊，应回答“{unknown_zh}”，但不保证。不会算术。\
训练样本不超过约 {longest} 个词元，更长的提示没有练过。思考文本是固定句式，不是推理。

"""

_EN = """## English

**What it is**: a LlamaForCausalLM (the architecture of MiniCPM5) of {parameters:,} parameters,
trained from scratch by this course on a corpus that the course generates. Without an NPU the same
notebook serves it with the real `vllm serve`: scheduling, sampling, streaming and tool parsing are
real, and it truly reads its prompt: another city in the question gives another city in the answer.

**What it is not**: it is not MiniCPM5, holds none of its weights, and its answers and speed say
nothing about MiniCPM5's quality. Wherever one of its answers is shown, the label STAND-IN stands
beside it.

**How it was trained**: `{command}` (seed {seed}; {copy_steps} steps of copying random tokens, then
{steps} steps over a generated corpus of {samples:,} samples, then {both_steps} steps of both, and
{settling_steps} more with a larger share of double calls, of JSON as a grammar forces it, of tools'
results, of small talk and of English; {minutes} minutes with {threads} thread(s) on a machine
of {cores} cores; samples with tools are trained four at a time that share one list of tools).
Some attention heads of the first two layers start as look-back and copying heads. Before
saving, the final norm is scaled by {sharpen}: this sharpens the distribution, so that the
course's temperature 1.0 and top_p 0.95 still give the trained answer. It also makes the model
look surer of itself than it should.

**Limits**: it knows the questions below, a few ways to state something and ask for it, and tools
for seven things (weather, time, search, currency, alarm, order, message), whose names, arguments
and descriptions may vary; it leaves optional arguments out. Anything else, small talk included,
should be answered "{unknown_en}", without guarantee. No arithmetic. No
training sample is longer than about {longest} tokens; longer prompts were never practised. The
thinking text is a fixed phrase, not reasoning.

"""


def _questions() -> str:
    lines = ["## 语料中的固定问题 · The general questions of the corpus", ""]
    for lang, title in (("zh", "中文"), ("en", "English")):
        lines += [f"### {title}", ""]
        lines += [f"- {fact.questions[0]} → {fact.answer}" for fact in facts.of_language(lang)]
        lines.append("")
    return "\n".join(lines)


def text(training: dict[str, Any]) -> str:
    """Return the card with an empty table.

    Args:
        training: seed, copy_steps, steps, both_steps, settling_steps, samples, parameters,
            minutes, threads, cores, sharpen, longest, unknown_zh and unknown_en, as the training
            script knows them.
    """
    filled = [part.format(command=COMMAND, **training) for part in (_ZH, _EN)]
    measured = f"## 测得的准确率 · Measured accuracy\n\n{BEGIN}\n{END}\n\n"
    return _HEAD + "".join(filled) + measured + _questions()


def write(out: Path, training: dict[str, Any]) -> None:
    """Write README.md into the model folder."""
    (out / "README.md").write_text(text(training), encoding="utf-8")


def fill(out: Path, rows: list[tuple[str, int, int]], margin: float, question: str) -> None:
    """Put the measured rows (group, right, asked) and the smallest margin into the card."""
    lines = [
        "由 `evaluate.py --card` 通过 `vllm serve` 测得；留出的值不在语料中。 · Measured by",
        "`evaluate.py --card` through `vllm serve`; held-out values are not in the corpus.",
        "",
        "| group | right | asked |",
        "|---|---|---|",
        *(f"| {group} | {right} | {asked} |" for group, right, asked in rows),
        "",
        "固定问题在 temperature 0 时最小的 top-1/top-2 对数概率差 · Smallest top-1/top-2",
        "log-probability margin of a fixed question at temperature 0: "
        f"**{margin:.2f}** ({question})",
    ]
    path = out / "README.md"
    card = path.read_text(encoding="utf-8")
    before, _, rest = card.partition(BEGIN)
    after = rest.partition(END)[2]
    path.write_text(before + BEGIN + "\n" + "\n".join(lines) + "\n" + END + after, encoding="utf-8")
