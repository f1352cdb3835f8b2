"""Writes the model card: what the picture stand-in is, how it was made, and what was measured.

Standard library only. Training writes the card with an empty table; `evaluate.py --card` fills the
numbers in, so that none is ever typed by hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import facts, scene, words

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
COMMAND = "python -m assets.standins.train.pictures"

_HEAD = """---
language: [zh, en]
tags: [stand-in, course]
---

# STAND-IN for MiniCPM-V-4_5 · MiniCPM-V-4_5 的替身模型（STAND-IN）

"""

_ZH = """## 中文

**它是什么**：一个 MiniCPM-V 4.5 架构的检查点\
（SigLIP 式视觉塔、4.5 的 resampler、Qwen3 语言模型），{parameters:,} 个参数，\
由本课程在自己画的图片上从头训练。没有 NPU 时，同一份 notebook 用真正的 `vllm serve` 加载它，\
用的是 vLLM 自带的 MiniCPM-V 4.5 实现：图片的下载、解码、切片、编码、调度都是真的，\
而且它真的看像素——换一张图，描述就会换。

**它不是什么**：它不是 MiniCPM-V，不含 MiniCPM-V 的任何权重，\
它的回答和速度都不代表 MiniCPM-V 的质量。\
凡是显示它的回答的地方，都标有 STAND-IN。

**与真模型相同的**：切片算法（scale_resolution {scale}、最多 {slices} 片）\
和每片 {queries} 个视觉词元，\
所以一张图片占用的词元数与真模型一致；需要 `--trust-remote-code`，因为目录里有 Python 代码。\
**不同的**：图块边长 {patch}（真模型是 14），网络小得多，词表不同。

**怎么训练的**：`{command}`（种子 {seed}；先让视觉塔和 resampler 学 {seeing_steps} 步，\
再让整个网络学 {reading_steps} 步；在 {cores} 核机器上，{threads} 个线程，\
与其他任务共用，用了 {minutes} 分钟）。\
图片在训练时现画。第一阶段的分类头训练后丢弃。\
保存前把最后的归一化层放大 {sharpen} 倍，这会让分布更尖锐，也让它显得比应有的更有把握。

**局限**：只见过纯色背景上 1 到 {most} 个相同的形状，\
或一个最多 {longest} 位的印刷数字，只有一种字体；\
只认得 {colours} 种颜色、{shapes} 种形状、{backgrounds} 种背景。\
别的图片（照片、空白图、截图）会得到胡乱的回答。\
多张图片时，能说出一共几张（最多 10 张），但只练过描述前四张。\
不认识的问题应回答“{unknown_zh}”，但不保证。思考文本是固定句式，不是推理。

"""

_EN = """## English

**What it is**: a checkpoint of the MiniCPM-V 4.5 architecture (a SigLIP-style tower, the resampler
of 4.5, a Qwen3 language model) of {parameters:,} parameters, trained from scratch by this course on
pictures that the course draws. Without an NPU the same notebook serves it with the real
`vllm serve` and vLLM's own MiniCPM-V 4.5 class: fetching, decoding, slicing, encoding and
scheduling are real, and it truly looks at the pixels: another picture, another description.

**What it is not**: it is not MiniCPM-V, holds none of its weights, and its answers and speed say
nothing about MiniCPM-V's quality. Wherever one of its answers is shown, the label STAND-IN stands
beside it.

**As in the real model**: the slicing (scale_resolution {scale}, at most {slices} slices) and
{queries} visual tokens a slice, so that a picture costs as many tokens as with the real model; and
`--trust-remote-code` is needed, because Python code lies in the folder. **Different**: patches of
{patch} pixels (the real model's have 14), a far smaller network, another vocabulary.

**How it was trained**: `{command}` (seed {seed}; {seeing_steps} steps for tower and resampler,
then {reading_steps} steps for the whole network; {minutes} minutes with {threads} thread(s) on a
machine of {cores} cores that others used too). The pictures are drawn while training. The
classification heads of the first stage are thrown away. Before saving, the final norm is scaled by
{sharpen}: this sharpens the next-token distribution and makes the model look surer of itself than
it should.

**Limits**: it has seen only one to {most} equal shapes, or a printed number of up to {longest}
digits in one font, on a plain background; {colours} colours, {shapes} shapes, {backgrounds}
backgrounds. Any other picture (a photograph, a blank one, a screenshot) gets a meaningless answer.
Of several pictures it can say how many there are (up to 10), but it has practised describing the
first four only. A question that it does not know should be answered
"{unknown_en}", without guarantee. The thinking text is a fixed phrase, not reasoning.

"""


@dataclass(frozen=True)
class Row:
    """A group of cases: how many were right, and the smallest margin of the right answers."""

    group: str
    right: int
    asked: int
    margin: float


def _both(names: Iterable[str]) -> str:
    return ", ".join(f"{name} {words.ZH[name]}" for name in names)


def _known() -> str:
    held = [f"{colour} {shape} × {count}" for colour, shape, count, _ in sorted(scene.HELD_OUT)]
    lines = [
        "## 词汇与固定问题 · Vocabulary and fixed questions",
        "",
        f"颜色 · Colours: {_both(scene.COLOURS)}",
        "",
        f"形状 · Shapes: {_both(scene.SHAPES)}",
        "",
        f"背景 · Backgrounds: {_both(scene.BACKGROUNDS)}",
        "",
        "训练中从不出现，实验的图片用的就是它们 ·",
        "Never drawn for training; the labs' pictures show these: "
        f"{', '.join([*held, *sorted(scene.HELD_OUT_NUMBERS)])}",
        "",
    ]
    for lang, title in (("zh", "中文"), ("en", "English")):
        known = [fact for fact in facts.FACTS if fact.lang == lang]
        lines += [f"### {title}", ""]
        lines += [f"- {fact.questions[0]} → {fact.answer}" for fact in known]
        lines.append("")
    return "\n".join(lines)


def text(made: dict[str, Any]) -> str:
    """Return the card with an empty table.

    Args:
        made: seed, seeing_steps, reading_steps, parameters, minutes, threads, cores, sharpen,
            scale, patch, queries and slices, as the training knows them.
    """
    filled = {
        **made,
        "command": COMMAND,
        "most": scene.MOST,
        "longest": scene.LONGEST,
        "colours": len(scene.COLOURS),
        "shapes": len(scene.SHAPES),
        "backgrounds": len(scene.BACKGROUNDS),
        **{f"unknown_{lang}": answer for lang, answer in facts.UNKNOWN.items()},
    }
    measured = f"## 测得的准确率 · Measured accuracy\n\n{BEGIN}\n{END}\n\n"
    return _HEAD + _ZH.format(**filled) + _EN.format(**filled) + measured + _known()


def write(out: Path, made: dict[str, Any]) -> None:
    """Write README.md into the model folder."""
    (out / "README.md").write_text(text(made), encoding="utf-8")


def fill(out: Path, rows: list[Row]) -> None:
    """Put the measured rows into the card."""
    lines = [
        "由 `evaluate.py --card` 通过 `vllm serve` 在 temperature 0 测得；图片都不在训练集中。",
        "margin 是答对的回答里，top-1 与 top-2 对数概率之差的最小值。 · Measured by",
        "`evaluate.py --card` through `vllm serve` at temperature 0, on pictures that the training",
        "did not see. The margin is the smallest top-1/top-2 log-probability difference within the",
        "right answers.",
        "",
        "| group | right | asked | margin |",
        "|---|---|---|---|",
        *(f"| {row.group} | {row.right} | {row.asked} | {row.margin:.2f} |" for row in rows),
    ]
    path = out / "README.md"
    before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    path.write_text(before + BEGIN + "\n" + "\n".join(lines) + "\n" + END + after, encoding="utf-8")
