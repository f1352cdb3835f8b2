"""Draw 01_pixels.zh.svg and 01_pixels.en.svg: where a picture's bytes go until they are an answer.
Standard library only.

Usage: python assets/images/draw_pixels.py
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path

FONT = "font-family=\"system-ui, 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', sans-serif\""
WIDTH, HEIGHT = 860, 430
BLUE, GREEN, ORANGE, GREY = ("#eff6ff", "#3b82f6"), ("#ecfdf5", "#10b981"), ("#fff7ed", "#f97316"), ("#f3f4f6", "#6b7280")  # fmt: skip

TEXTS = {
    "zh": {
        "kernel": ("笔记本内核", "网址，或 Base64"),
        "host": ("图片主机", "只回答服务器"),
        "cpu": "主机 CPU：API 服务器",
        "fetch": ("取图、解码", "域名限制 · 时限"),
        "slice": ("切片", "概览 + 最多 9 片"),
        "prompt": ("提示词", "每片 64 个占位"),
        "device": "设备：工作进程（NPU 或 CPU）",
        "tower": ("视觉塔", "每片一遍"),
        "resampler": ("resampler", "每片 64 个向量"),
        "cache": ("编码器缓存", "用完可丢"),
        "model": ("语言模型", "填进占位处"),
        "kv": ("KV 缓存", "占到请求结束"),
        "units": "Cube：矩阵乘　·　Vector：softmax、归一化、激活　·　HBM：权重、编码器缓存、KV 缓存",
        "given": "像素",
    },
    "en": {
        "kernel": ("notebook kernel", "a URL, or Base64"),
        "host": ("picture host", "asked by the server"),
        "cpu": "host CPU: API server",
        "fetch": ("fetch, decode", "allowed hosts · timeout"),
        "slice": ("slice", "overview + up to 9"),
        "prompt": ("prompt", "64 places a slice"),
        "device": "device: worker (NPU or CPU)",
        "tower": ("vision tower", "every slice once"),
        "resampler": ("resampler", "64 vectors a slice"),
        "cache": ("encoder cache", "droppable after use"),
        "model": ("language model", "fills the places"),
        "kv": ("KV cache", "until the request ends"),
        "units": "Cube: matrix products  ·  Vector: softmax, norms, activations  ·  HBM: weights, encoder cache, KV cache",
        "given": "pixels",
    },
}


def text(x: float, y: float, content: str, size: float = 13, colour: str = "#1f2937") -> str:
    """Return one centred line of text."""
    weight = "600" if size > 14 else "normal"
    return (
        f'<text x="{x}" y="{y}" {FONT} font-size="{size}" font-weight="{weight}" fill="{colour}" '
        f'text-anchor="middle">{escape(content)}</text>'
    )


def box(x: float, y: float, lines: tuple[str, str], colours: tuple[str, str]) -> str:
    """Return a box of 142 × 64 with a title and what happens there."""
    fill, stroke = colours
    return (
        f'<rect x="{x}" y="{y}" width="142" height="64" rx="10" fill="{fill}" stroke="{stroke}" '
        f'stroke-width="1.5"/>{text(x + 71, y + 27, lines[0], 14.5)}'
        f"{text(x + 71, y + 48, lines[1], 11.5, '#4b5563')}"
    )


def area(x: float, y: float, width: float, height: float, title: str, middle: float) -> str:
    """Return a dashed frame with its title inside the upper edge, around the abscissa `middle`."""
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="14" fill="#f9fafb" '
        f'stroke="#9ca3af" stroke-dasharray="6 4"/>{text(middle, y + 22, title, 13, "#4b5563")}'
    )


def arrow(*points: tuple[float, float]) -> str:
    """Return a line through the points with a head at its end."""
    path = " ".join(f"{x},{y}" for x, y in points)
    return (
        f'<polyline points="{path}" fill="none" stroke="#374151" stroke-width="1.6" '
        'marker-end="url(#head)"/>'
    )


def picture(language: str) -> str:
    """Return the SVG in a language ("zh" or "en")."""
    said = TEXTS[language]
    head = '<path d="M0,0 L8,4 L0,8 z" fill="#374151"/>'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="img">',
        '<defs><marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="4" '
        f'orient="auto">{head}</marker></defs>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        area(196, 14, 648, 126, said["cpu"], 520),
        area(16, 196, 828, 218, said["device"], 287),
        box(16, 54, said["kernel"], BLUE),
        box(16, 128, said["host"], GREY),
        box(216, 54, said["fetch"], GREEN),
        box(449, 54, said["slice"], GREEN),
        box(682, 54, said["prompt"], GREEN),
        box(449, 232, said["tower"], ORANGE),
        box(216, 232, said["resampler"], ORANGE),
        box(36, 320, said["cache"], ORANGE),
        box(449, 320, said["model"], ORANGE),
        box(682, 320, said["kv"], ORANGE),
        arrow((158, 86), (214, 86)),
        arrow((158, 160), (287, 160), (287, 120)),
        arrow((358, 86), (447, 86)),
        arrow((591, 86), (680, 86)),
        arrow((520, 118), (520, 230)),
        text(548, 182, said["given"], 12, "#4b5563"),
        arrow((449, 264), (360, 264)),
        arrow((216, 264), (107, 264), (107, 318)),
        arrow((178, 352), (447, 352)),
        arrow((753, 118), (753, 300), (560, 300), (560, 318)),
        arrow((591, 352), (680, 352)),
        text(430, 404, said["units"], 11.5, "#b45309"),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def write(stem: str, drawn: Callable[[str], str]) -> None:
    """Write a picture's two languages beside this script."""
    for language in ("zh", "en"):
        path = Path(__file__).with_name(f"{stem}.{language}.svg")
        path.write_text(drawn(language), encoding="utf-8")


if __name__ == "__main__":
    write("01_pixels", picture)
