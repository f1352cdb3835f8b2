"""Draw 00_cell.zh.svg and 00_cell.en.svg: where a `!` line runs, against a process that the kernel
starts itself. Standard library only.

Usage: python assets/images/draw_cell.py
"""

from __future__ import annotations

from html import escape
from pathlib import Path

FONT = "font-family=\"system-ui, 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', sans-serif\""
MONO = 'font-family="ui-monospace, Menlo, Consolas, monospace"'
WIDTH, HEIGHT = 880, 400
GREY, RED, GREEN, INK = "#6b7280", "#dc2626", "#059669", "#1f2937"

TEXTS = {
    "zh": {
        "kernel": ("笔记本内核", "os.environ · 当前目录", "Python 进程"),
        "shell": ("shell", "只活一行", "在伪终端里"),
        "lost": "变量、目录、后台任务：随 shell 一起消失",
        "hangup": "挂断信号",
        "child": ("后台任务", "… &", "多半也没了"),
        "server": ("服务器", "自己的会话 · 日志文件", "内核不在了也还在"),
        "inherits": "继承环境变量 env=",
        "nothing": "什么也不带回来（除了输出和返回码）",
        "group": "自己的进程组：停的时候一起停",
        "engine": ("引擎", "第二个进程", "名字不同"),
    },
    "en": {
        "kernel": ("notebook kernel", "os.environ · directory", "a Python process"),
        "shell": ("shell", "lives for one line", "in a pseudo-terminal"),
        "lost": "variables, directory, background jobs: gone with the shell",
        "hangup": "hang-up signal",
        "child": ("background job", "… &", "mostly gone as well"),
        "server": ("server", "own session · log file", "outlives the kernel"),
        "inherits": "inherits the environment, env=",
        "nothing": "nothing comes back (but output and exit code)",
        "group": "its own process group: stopped as one",
        "engine": ("engine", "the second process", "another name"),
    },
}


def text(
    x: float, y: float, content: str, size: float = 13, colour: str = INK, font: str = FONT
) -> str:
    """Return one centred line of text."""
    return (
        f'<text x="{x}" y="{y}" {font} font-size="{size}" fill="{colour}" '
        f'text-anchor="middle">{escape(content)}</text>'
    )


def box(
    x: float, y: float, lines: tuple[str, str, str], fill: str, stroke: str, dashed: bool = False
) -> str:
    """Return a box with a title and two lines; a dashed one is a process that ends at once."""
    dash = ' stroke-dasharray="6 4"' if dashed else ""
    return (
        f'<rect x="{x}" y="{y}" width="178" height="84" rx="10" fill="{fill}" stroke="{stroke}" '
        f'stroke-width="1.5"{dash}/>'
        + text(x + 89, y + 27, lines[0], 16)
        + text(x + 89, y + 49, lines[1], 12)
        + text(x + 89, y + 69, lines[2], 12, GREY)
    )


def arrow(x1: float, y1: float, x2: float, y2: float, colour: str, dashed: bool = False) -> str:
    """Return a line with a head at its end."""
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    return (
        f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour}" stroke-width="1.8"{dash} '
        f'marker-end="url(#{colour[1:]})"/>'
    )


def head(colour: str) -> str:
    """Return the definition of an arrow's head."""
    return (
        f'<marker id="{colour[1:]}" markerWidth="8" markerHeight="8" refX="7" refY="4" '
        f'orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="{colour}"/></marker>'
    )


def picture(language: str) -> str:
    """Return the SVG in a language ("zh" or "en")."""
    said = TEXTS[language]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img">',
        f"<defs>{head(RED)}{head(GREEN)}</defs>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        box(16, 158, said["kernel"], "#eff6ff", "#3b82f6"),
        text(222, 62, "!export X=1", 14, RED, MONO),
        text(222, 82, "!cd dir", 14, RED, MONO),
        arrow(130, 152, 312, 96, RED),
        box(320, 40, said["shell"], "#fef2f2", RED, dashed=True),
        arrow(500, 82, 642, 82, RED, dashed=True),
        text(571, 70, "!cmd & echo x", 12, RED, MONO),
        text(571, 104, said["hangup"], 11.5, GREY),
        box(650, 40, said["child"], "#fef2f2", RED, dashed=True),
        text(586, 26, said["lost"], 12.5, RED),
        text(409, 146, said["nothing"], 12, GREY),
        '<line x1="230" y1="200" x2="864" y2="200" stroke="#d1d5db" stroke-dasharray="3 5"/>',
        text(222, 316, "Popen(argv, env=…,", 13, GREEN, MONO),
        text(222, 334, "start_new_session=True)", 13, GREEN, MONO),
        '<rect x="350" y="236" width="506" height="128" rx="14" fill="#f9fafb" stroke="#9ca3af" '
        'stroke-dasharray="6 4"/>',
        arrow(130, 246, 362, 288, GREEN),
        box(366, 252, said["server"], "#ecfdf5", GREEN),
        arrow(546, 294, 652, 294, GREEN),
        box(660, 252, said["engine"], "#ecfdf5", GREEN),
        text(603, 355, said["group"], 12, GREY),
        text(222, 354, said["inherits"], 12, GREY),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def main() -> None:
    """Write both pictures beside this script."""
    for language in TEXTS:
        Path(__file__).with_name(f"00_cell.{language}.svg").write_text(
            picture(language), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
