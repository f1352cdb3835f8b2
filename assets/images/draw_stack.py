"""Draw 02_stack.zh.svg and 02_stack.en.svg: which process holds what while a model is served.
Standard library only.

Usage: python assets/images/draw_stack.py
"""

from __future__ import annotations

from html import escape
from pathlib import Path

FONT = "font-family=\"system-ui, 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', sans-serif\""
WIDTH, HEIGHT = 860, 410

TEXTS = {
    "zh": {
        "kernel": ("笔记本内核", "helpers · requests", "没有 vLLM"),
        "http": "HTTP · 127.0.0.1:PORT",
        "group": "一个进程组：vllm serve 启动，停的时候一起停",
        "api": ("API 服务器", "聊天模板 · 切词 · SSE", "vllm serve"),
        "core": ("引擎核心", "调度 · KV 缓存的账本", "VLLM::EngineCore"),
        "worker": ("工作进程", "权重 · KV 缓存 · 采样", "VLLM::Worker"),
        "plugin": "平台插件决定这一层：vllm-ascend → NPU，否则 CPU",
        "npu": ("昇腾 NPU", "Cube · Vector · HBM", "CANN · torch_npu"),
        "cpu": ("CPU", "同一个 vllm serve", "替身模型"),
    },
    "en": {
        "kernel": ("notebook kernel", "helpers · requests", "no vLLM"),
        "http": "HTTP · 127.0.0.1:PORT",
        "group": "one process group: started by vllm serve, stopped as one",
        "api": ("API server", "chat template · tokens · SSE", "vllm serve"),
        "core": ("engine core", "scheduler · KV cache ledger", "VLLM::EngineCore"),
        "worker": ("worker", "weights · KV cache · sampling", "VLLM::Worker"),
        "plugin": "the platform plugin decides this layer: vllm-ascend → NPU, else CPU",
        "npu": ("Ascend NPU", "Cube · Vector · HBM", "CANN · torch_npu"),
        "cpu": ("CPU", "the same vllm serve", "stand-in model"),
    },
}


def text(
    x: float,
    y: float,
    content: str,
    size: float = 14,
    colour: str = "#1f2937",
    weight: str = "normal",
) -> str:
    """Return one centred line of text."""
    return (
        f'<text x="{x}" y="{y}" {FONT} font-size="{size}" font-weight="{weight}" fill="{colour}" '
        f'text-anchor="middle">{escape(content)}</text>'
    )


def box(
    x: float, y: float, width: float, lines: tuple[str, str, str], fill: str, stroke: str
) -> str:
    """Return a box with a title, a line of what it does, and the name that `ps` shows."""
    middle = x + width / 2
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="84" rx="10" fill="{fill}" stroke="{stroke}" stroke-width="1.5"/>'
        + text(middle, y + 26, lines[0], 16, weight="600")
        + text(middle, y + 48, lines[1], 11.5)
        + text(middle, y + 69, lines[2], 12, "#6b7280")
    )


def arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    """Return a line with heads at both ends: requests go one way, tokens the other."""
    return (
        f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#374151" stroke-width="1.6" '
        'marker-start="url(#tail)" marker-end="url(#head)"/>'
    )


def picture(language: str) -> str:
    """Return the SVG in a language ("zh" or "en")."""
    said = TEXTS[language]
    head = '<path d="M0,0 L8,4 L0,8 z" fill="#374151"/>'
    tail = '<path d="M8,0 L0,4 L8,8 z" fill="#374151"/>'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img">',
        f'<defs><marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">{head}</marker>'
        f'<marker id="tail" markerWidth="8" markerHeight="8" refX="1" refY="4" orient="auto">{tail}</marker></defs>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        box(16, 90, 150, said["kernel"], "#eff6ff", "#3b82f6"),
        '<rect x="204" y="40" width="642" height="190" rx="14" fill="#f9fafb" stroke="#9ca3af" stroke-dasharray="6 4"/>',
        text(525, 66, said["group"], 13, "#4b5563"),
        box(220, 90, 186, said["api"], "#ecfdf5", "#10b981"),
        box(432, 90, 186, said["core"], "#ecfdf5", "#10b981"),
        box(644, 90, 186, said["worker"], "#ecfdf5", "#10b981"),
        arrow(168, 132, 218, 132),
        text(91, 198, said["http"], 12, "#4b5563"),
        arrow(408, 132, 430, 132),
        arrow(620, 132, 642, 132),
        '<line x1="20" y1="262" x2="840" y2="262" stroke="#d97706" stroke-width="2" stroke-dasharray="4 4"/>',
        text(230, 284, said["plugin"], 12, "#b45309"),
        box(420, 310, 190, said["npu"], "#fff7ed", "#f97316"),
        box(634, 310, 190, said["cpu"], "#f3f4f6", "#6b7280"),
        arrow(728, 176, 728, 308),
        arrow(690, 176, 540, 308),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def main() -> None:
    """Write both pictures beside this script."""
    for language in TEXTS:
        Path(__file__).with_name(f"02_stack.{language}.svg").write_text(
            picture(language), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
