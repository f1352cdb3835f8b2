"""Draw 03_loop.zh.svg and 03_loop.en.svg: who does what in a tool call, and what goes where.
Standard library only.

Usage: python assets/images/draw_loop.py
"""

from __future__ import annotations

from pathlib import Path

from draw_stack import box, text

WIDTH, HEIGHT = 860, 330

TEXTS = {
    "zh": {
        "code": ("你的代码", "校验参数 · 执行 · 限时", "run_tools"),
        "parser": ("API 服务器", "聊天模板 ↓ · 解析器 ↑", "--tool-call-parser"),
        "model": ("模型", "只写文本，什么也不执行", "MiniCPM5"),
        "tool": ("工具", "一个普通的 Python 函数", "get_weather(city)"),
        "down": ("messages + tools", "提示词：工具的 JSON Schema"),
        "up": ("tool_calls：名字 + JSON 参数", '<function name="…">…'),
        "run": "调用",
        "result": "结果，成为 role=tool 的消息",
    },
    "en": {
        "code": ("your code", "validates · runs · times out", "run_tools"),
        "parser": ("API server", "chat template ↓ · parser ↑", "--tool-call-parser"),
        "model": ("model", "writes text, runs nothing", "MiniCPM5"),
        "tool": ("tool", "a plain Python function", "get_weather(city)"),
        "down": ("messages + tools", "prompt with the schemas"),
        "up": ("tool_calls: name + JSON", '<function name="…">…'),
        "run": "call",
        "result": "result, a message with role=tool",
    },
}


def arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    """Return a line with a head at its end."""
    return (
        f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#374151" stroke-width="1.6" '
        'marker-end="url(#head)"/>'
    )


def picture(language: str) -> str:
    """Return the SVG in a language ("zh" or "en")."""
    said = TEXTS[language]
    head = '<path d="M0,0 L8,4 L0,8 z" fill="#374151"/>'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img">',
        f'<defs><marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">{head}</marker></defs>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        box(16, 60, 170, said["code"], "#eff6ff", "#3b82f6"),
        box(345, 60, 180, said["parser"], "#ecfdf5", "#10b981"),
        box(690, 60, 154, said["model"], "#ecfdf5", "#10b981"),
        box(16, 230, 170, said["tool"], "#fff7ed", "#f97316"),
        arrow(188, 86, 343, 86),
        text(265, 76, said["down"][0], 11.5, "#4b5563"),
        arrow(343, 118, 188, 118),
        text(265, 136, said["up"][0], 10.5, "#4b5563"),
        arrow(527, 86, 688, 86),
        text(607, 76, said["down"][1], 10.5, "#4b5563"),
        arrow(688, 118, 527, 118),
        text(607, 136, said["up"][1], 11.5, "#4b5563"),
        arrow(76, 146, 76, 228),
        text(50, 192, said["run"], 12, "#b45309"),
        arrow(126, 228, 126, 146),
        text(236, 192, said["result"], 12, "#b45309"),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def main() -> None:
    """Write both pictures beside this script."""
    for language in TEXTS:
        path = Path(__file__).with_name(f"03_loop.{language}.svg")
        path.write_text(picture(language), encoding="utf-8")


if __name__ == "__main__":
    main()
