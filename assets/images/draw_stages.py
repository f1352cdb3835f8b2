"""Draw 04_stages.zh.svg and 04_stages.en.svg: the stages of a start, who writes to the log, what
fails there. Standard library only.

Usage: python assets/images/draw_stages.py
"""

from __future__ import annotations

from draw_pixels import BLUE, GREEN, ORANGE, arrow, box, text, write

WIDTH, HEIGHT = 1010, 300

TEXTS = {
    "zh": {
        "stages": (
            ("参数", "没有横幅"),
            ("配置", "non-default args"),
            ("引擎进程", "Initializing a V1"),
            ("权重", "Starting to load"),
            ("KV cache", "KV cache size"),
            ("服务", "startup complete"),
        ),
        "faults": (
            ("不认识的参数", "值写错、缺解析器"),
            ("变量、端口", "模型自带的代码"),
            ("设备、内存", "插件没有激活"),
            ("文件不完整", "量化格式不支持"),
            ("上下文太长", "内存份额不够"),
            ("名字不对", "引擎被杀"),
        ),
        "writers": "APIServer 写：",
        "engine": "EngineCore、Worker 写：",
        "rule": "日志停在哪一段，原因就在那一段；后面的进程只是转述",
    },
    "en": {
        "stages": (
            ("arguments", "no banner yet"),
            ("configuration", "non-default args"),
            ("engine process", "Initializing a V1"),
            ("weights", "Starting to load"),
            ("KV cache", "KV cache size"),
            ("service", "startup complete"),
        ),
        "faults": (
            ("unknown flag", "bad value, no parser"),
            ("variable, port", "the model's own code"),
            ("device, memory", "plugin not active"),
            ("incomplete file", "foreign quantisation"),
            ("context too long", "share too small"),
            ("wrong name", "engine killed"),
        ),
        "writers": "written by APIServer:",
        "engine": "written by EngineCore and Worker:",
        "rule": "where the log stops, there the cause is; what comes after it only passes it on",
    },
}


def picture(language: str) -> str:
    """Return the SVG in a language ("zh" or "en")."""
    said = TEXTS[language]
    stages, faults = said["stages"], said["faults"]
    head = '<path d="M0,0 L8,4 L0,8 z" fill="#374151"/>'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="img">',
        '<defs><marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="4" '
        f'orient="auto">{head}</marker></defs>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        text(170, 36, str(said["writers"]), 13, "#4b5563"),
        text(589, 36, str(said["engine"]), 13, "#4b5563"),
    ]
    for number in range(6):
        left = 16 + number * 167
        colours = GREEN if 2 <= number <= 4 else BLUE
        parts += [
            box(left, 56, (stages[number][0], stages[number][1]), colours),
            box(left, 172, (faults[number][0], faults[number][1]), ORANGE),
            arrow((left + 71, 122), (left + 71, 170)),
        ]
        if number < 5:
            parts.append(arrow((left + 142, 88), (left + 165, 88)))
    parts += [text(WIDTH / 2, 276, str(said["rule"]), 13, "#b45309"), "</svg>"]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    write("04_stages", picture)
