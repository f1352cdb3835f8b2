"""Make the guide's troubleshooting pages from the errors' own texts; nothing is typed twice.

Usage: python course/troubleshooting.py   (`make notebooks` runs it too)

Every typed error of the package is on the page, by family (the first word of its code) and code.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import helpers
from helpers import messages, paths
from helpers.errors import LabError

HEADS = {
    "zh": (
        "# 错误代码：原因和下一步",
        "课程的错误信息第一行方括号里是代码，例如 `[server.port_taken]`。"
        "花括号表示出错时填进去的值。"
        "本页由 `make notebooks` 从 `helpers/messages/` 里的中文文件生成，请改那里。",
    ),
    "en": (
        "# Error codes: cause and next step",
        "The first line of an error of this course has its code in brackets, for instance "
        "`[server.port_taken]`. Braces stand for values that are filled in when it happens. "
        "`make notebooks` makes this page from the English files of `helpers/messages/`; change "
        "them there.",
    ),
}

FAMILIES = {
    "setup": {"zh": "安装", "en": "Setup"},
    "environment": {"zh": "环境变量和脚本", "en": "Variables and scripts"},
    "engine": {"zh": "引擎", "en": "Engines"},
    "doctor": {"zh": "体检和安装命令", "en": "The doctor and its install commands"},
    "download": {"zh": "下载权重", "en": "Downloading weights"},
    "model": {"zh": "模型目录", "en": "Model directories"},
    "offline": {"zh": "离线推理", "en": "Offline inference"},
    "server": {"zh": "服务器", "en": "Servers"},
    "remote": {"zh": "别人的服务器", "en": "Somebody else's server"},
    "chat": {"zh": "对话请求", "en": "Chat requests"},
    "image": {"zh": "图片", "en": "Pictures"},
    "tools": {"zh": "工具调用", "en": "Tool calling"},
    "diagnose": {"zh": "日志诊断", "en": "Diagnosing a log"},
    "bundle": {"zh": "打包求助材料", "en": "Packing what others need to help"},
    "checkpoint": {"zh": "检查点", "en": "Checkpoints"},
    "run": {"zh": "批量运行", "en": "Batch runs"},
    "evidence": {"zh": "NPU 上的证据", "en": "Evidence from an NPU"},
    "classview": {"zh": "班级视图", "en": "The class view"},
    "report": {"zh": "运行报告", "en": "Run reports"},
}
"""First word of a code → the family's heading, in the order in which a learner meets them."""


def classes() -> list[type[LabError]]:
    """Return every typed error of the package, by family and code.

    Raises:
        KeyError: an error of a family that has no heading here.
    """
    for module in pkgutil.walk_packages(helpers.__path__, "helpers."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    order = {name: number for number, name in enumerate(FAMILIES)}
    found = {one for one in _below(LabError) if one.__module__.startswith("helpers.")}
    return sorted(found, key=lambda one: (order[family(one.code)], one.code))


def _below(error: type[LabError]) -> list[type[LabError]]:
    return [one for sub in error.__subclasses__() for one in (sub, *_below(sub))]


def family(code: str) -> str:
    """Return the family of a code: "server.port_taken" → "server"."""
    return code.partition(".")[0]


def anchor(code: str) -> str:
    """Return the anchor of a code: "server.port_taken" → "server-port-taken"."""
    return re.sub(r"[._]", "-", code)


def page(language: str) -> str:
    """Return the page in a language ("zh" or "en")."""
    title, lead = HEADS[language]
    found = classes()
    present = [name for name in FAMILIES if name in {family(one.code) for one in found}]
    links = [f"[{FAMILIES[name][language]}](#family-{name})" for name in present]
    lines = [title, "", lead, "", " · ".join(links), ""]
    for name in present:
        lines += [f'<a id="family-{name}"></a>', "", f"## {FAMILIES[name][language]}", ""]
        for one in found:
            if family(one.code) == name:
                lines += _section(one.code, language)
    return "\n".join(lines)


def _section(code: str, language: str) -> list[str]:
    """Return the lines of one error."""
    why, following = (
        messages.text(f"error.label.{name}", language).strip() for name in ("why", "next")
    )
    said = messages.catalogue(language)[code]
    assert isinstance(said, dict)
    return [
        f'<a id="{anchor(code)}"></a>',
        "",
        f"### `{code}`",
        "",
        said["what"],
        "",
        f"- {why} {said['why']}",
        f"- {following} {said['next']}",
        "",
    ]


def target(language: str) -> Path:
    """Return the path of a page."""
    return paths.COURSE / "guide" / f"troubleshooting.{language}.md"


def main() -> None:
    """Write the pages."""
    for language in messages.LANGUAGES:
        target(language).parent.mkdir(parents=True, exist_ok=True)
        target(language).write_text(page(language), encoding="utf-8")


if __name__ == "__main__":
    main()
