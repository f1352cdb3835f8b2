"""Make the guide's pages of versions and of installing from versions.yml; nothing is typed twice.

Usage: python course/version_pages.py

The commands on the install page are composed by helpers.doctor.install, as `python -m helpers
install-command` does for a machine that it sees.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from helpers import catalog, messages, paths
from helpers.doctor import install, stacks
from helpers.doctor.machine import Machine, Node, Tool

PARTS = (
    *("vllm", "vllm_ascend", "python", "cann", "nnal", "torch", "torch_npu", "torchvision"),
    *("triton_ascend", "transformers", "numpy", "glibc", "image"),
)
BOARDS = {"A2": ("910B3", 8), "A3": ("Ascend910", 16), "310P": ("310P3", 2)}
"""Chips for the examples: a name that npu-smi prints, how many device nodes such a machine has."""

WORDS: dict[str, dict[str, str]] = {
    "zh": {
        "versions_title": "# 版本组合",
        "versions_lead": "课程支持的几套版本，每一格都有出处。"
        "本页由 `python course/version_pages.py` 从 `course/versions.yml` 生成，请改那里。"
        "在机器上运行 `python -m helpers doctor`，会逐项对照这张表。",
        "part": "组件",
        "none": "没有",
        "any": "不限",
        "status": "核对程度",
        "ran-on-cpu": "在 CPU 上运行过",
        "unverified-on-npu": "读过源码和文档，没有在昇腾卡上运行过",
        "read-in-source": "读过源码",
        "tools": "工具调用（解析器 minicpm5）",
        "yes": "有",
        "no": "没有",
        "default": "推荐",
        "images": "## 镜像",
        "chips": "芯片",
        "system": "系统",
        "image": "镜像",
        "base": "底下的 CANN 镜像",
        "notes": "## 出处和说明",
        "defaults": "## vLLM 的默认值",
        "defaults_lead": "课程没有给的选项，由 vLLM 自己决定；各版本的默认值不同。"
        "括号里是实际生效的值。",
        "install_title": "# 安装引擎",
        "install_lead": "引擎（vLLM 和插件）装在自己的 Python 里，和笔记本内核分开。"
        "先运行 `python -m helpers doctor` 看这台机器能跑什么，"
        "再运行 `python -m helpers install-command`，它按看到的芯片、设备和挂载打印命令。"
        "下面是同样的命令在几种典型机器上的样子。本页由 `python course/version_pages.py` 生成。",
        "choose": "## 走哪条路",
        "choose_rows": "有 NPU、能用 docker（宿主机）|用镜像;"
        "有 NPU、在容器里、CANN 对得上|用 pip 装;"
        "有 NPU、在托管笔记本里、版本对不上|请平台换镜像;"
        "没有 NPU，Linux|装 CPU 引擎;macOS、Windows|连老师的服务器（BASE_URL）",
        "situation": "情况",
        "way": "做法",
        "docker": "## docker",
        "docker_lead": "在宿主机上、课程目录里运行。容器里的编号从 0 数起，"
        "和 `/dev/davinciN` 的 N 不一定相同。",
        "pip": "## pip",
        "pip_lead": "只在已经有对应 CANN 的环境里（例如官方 CANN 镜像）。",
        "platform": "## 托管平台",
        "cpu": "## CPU 引擎",
        "cpu_lead": "任何 Linux（x86_64、aarch64）上都行，不需要 root。",
        "after": "## 装完之后",
        "after_lead": "`python -m helpers doctor --deep` 会真的导入 torch_npu 和 vLLM，"
        "看平台是不是 NPUPlatform、看得到几个设备。",
        "colon": "：",
        "brackets": "（{}）",
    },
    "en": {
        "versions_title": "# Versions",
        "versions_lead": "The stacks that the course supports, each cell with its source. "
        "`python course/version_pages.py` makes this page from `course/versions.yml`; change it "
        "there. `python -m helpers doctor` compares a machine with this table, part by part.",
        "part": "part",
        "none": "none",
        "any": "any",
        "status": "checked how",
        "ran-on-cpu": "run on a CPU",
        "unverified-on-npu": "read in sources and documents, not run on an Ascend card",
        "read-in-source": "read in sources",
        "tools": "tool calling (parser minicpm5)",
        "yes": "yes",
        "no": "no",
        "default": "recommended",
        "images": "## Images",
        "chips": "chips",
        "system": "system",
        "image": "image",
        "base": "the CANN image below it",
        "notes": "## Sources and notes",
        "defaults": "## vLLM's defaults",
        "defaults_lead": "What the course does not set is left to vLLM, and the defaults differ "
        "between versions. In brackets, the value that is then in force.",
        "install_title": "# Installing an engine",
        "install_lead": "The engine (vLLM and its plugin) lives in a Python of its own, apart from "
        "the notebook's kernel. See first with `python -m helpers doctor` what this machine can "
        "run, then let `python -m helpers install-command` print the commands for the chips, "
        "devices and mounts that it sees. Below are the same commands for some typical machines. "
        "`python course/version_pages.py` makes this page.",
        "choose": "## Which way",
        "choose_rows": "an NPU, and docker (the host)|an image;"
        "an NPU, inside a container whose CANN fits|pip;"
        "an NPU, on a hosted notebook with other versions|ask the platform for an image;"
        "no NPU, Linux|the CPU engine;macOS, Windows|an instructor's server (BASE_URL)",
        "situation": "situation",
        "way": "way",
        "docker": "## docker",
        "docker_lead": "Run it on the host, in the course's folder. Inside the container devices "
        "are counted from 0, which need not be the N of `/dev/davinciN`.",
        "pip": "## pip",
        "pip_lead": "Only where the right CANN is there already, for instance in an official CANN "
        "image.",
        "platform": "## A hosted platform",
        "cpu": "## The CPU engine",
        "cpu_lead": "On any Linux (x86_64, aarch64), without root.",
        "after": "## Afterwards",
        "after_lead": "`python -m helpers doctor --deep` really imports torch_npu and vLLM, and "
        "tells whether the platform is NPUPlatform and how many devices there are.",
        "colon": ": ",
        "brackets": " ({})",
    },
}


def versions_page(language: str) -> str:
    """Return the page of versions in a language ("zh" or "en")."""
    words = WORDS[language]
    found = stacks.all_stacks()
    head = [words["part"], *(_titled(stack, words) for stack in found)]
    rows = [[part, *(_value(stack[part], words) for stack in found)] for part in PARTS]
    rows.append([words["tools"], *(words["yes" if s["tool_calling"] else "no"] for s in found)])
    rows.append([words["status"], *(words[stack["status"]] for stack in found)])
    lines = [words["versions_title"], "", words["versions_lead"], "", *_table(head, rows), ""]
    lines += [words["images"], ""]
    images = [
        [
            f"`{stack['id']}`",
            one["chips"],
            one["system"],
            f"`{one['value']}`",
            f"`{one['cann_image']}`",
        ]
        for stack in found
        for one in stack.get("images", [])
    ]
    head = ["", words["chips"], words["system"], words["image"], words["base"]]
    lines += [*_table(head, images), "", words["defaults"], "", words["defaults_lead"], ""]
    messages.use(language)
    knobs = catalog.knobs(*(e["name"] for e in catalog.versions()["defaults"] if "flag" in e))
    lines += [*_table(knobs.head, [[f"`{row[0]}`", *row[1:]] for row in knobs.rows]), ""]
    lines += [words["notes"], ""]
    for stack in found:
        lines += [f"### `{stack['id']}`", "", *_sources(stack, words, language), ""]
    return "\n".join(lines)


def install_page(language: str) -> str:
    """Return the page of installing in a language ("zh" or "en")."""
    words = WORDS[language]
    messages.use(language)
    rows = [line.split("|") for line in words["choose_rows"].split(";")]
    lines = [words["install_title"], "", words["install_lead"], "", words["choose"], ""]
    lines += [*_table([words["situation"], words["way"]], rows), "", words["docker"], ""]
    lines += [words["docker_lead"], ""]
    for kind, (name, count) in BOARDS.items():
        lines += [f"### {kind}", "", *_plan(install.docker(board(name, count)))]
    lines += [words["pip"], "", words["pip_lead"], ""]
    for stack in stacks.all_stacks():
        if stack["engine"] == "ascend":
            lines += [f"### `{stack['id']}`", "", *_plan(install.pip(stack))]
    lines += [words["platform"], "", *_plan(install.platform(board("910B3", 8)))]
    lines += [words["cpu"], "", words["cpu_lead"], "", *_plan(install.cpu())]
    return "\n".join([*lines, words["after"], "", words["after_lead"], ""])


def board(name: str, count: int) -> Machine:
    """Return a machine with `count` chips of a name, as far as a docker command needs it."""
    rows = [
        f"| {n} {name} | OK | - 40 0 / 0 |\n| 0 {n} | NA | 0 0 / 0 0 / 65536 |"
        for n in range(count)
    ]
    nodes = tuple(Node(name=f"davinci{n}") for n in range(count))
    return Machine(npu_smi=Tool(state="ran", output="\n".join(rows)), nodes=nodes, docker=True)


def _plan(plan: install.Plan) -> list[str]:
    lines = [f"- {note}" for note in plan.notes]
    if plan.commands:
        lines += ["", "```bash", *plan.commands, "```"]
    return [*lines, ""]


def _titled(stack: dict[str, Any], words: dict[str, str]) -> str:
    chosen = stack["id"] == catalog.versions()["default_stack"]
    return f"`{stack['id']}`" + (f" ({words['default']})" if chosen else "")


def _value(part: dict[str, Any], words: dict[str, str]) -> str:
    if part["value"] is None:
        return words["any"] if "cap" in part.get("note", "") else words["none"]
    return f"`{part['value']}`"


def _sources(stack: dict[str, Any], words: dict[str, str], language: str) -> list[str]:
    lines = []
    for name in (*PARTS, "pip"):
        part = stack[name]
        said = part.get("note_zh" if language == "zh" else "note")
        note = words["brackets"].format(said) if said else ""
        lines.append(f"- `{name}`{words['colon']}{part['source']}{note}")
    return lines


def _image(stack: str, entry: dict[str, Any]) -> list[str]:
    names = (stack, entry["value"], entry["cann_image"])
    own, image, base = (f"`{name}`" for name in names)
    return [own, entry["chips"], entry["system"], image, base]


def _table(head: Any, rows: Any) -> list[str]:
    cells = [[str(cell).replace("|", "\\|") for cell in row] for row in (head, *rows)]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return [lines[0], "|" + "---|" * len(cells[0]), *lines[1:]]


PAGES = {"versions": versions_page, "install": install_page}


def target(name: str, language: str) -> Path:
    """Return the path of a page ("versions" or "install")."""
    return paths.COURSE / "guide" / f"{name}.{language}.md"


def main() -> None:
    """Write the pages."""
    for name, page in PAGES.items():
        for language in messages.LANGUAGES:
            target(name, language).write_text(page(language), encoding="utf-8")


if __name__ == "__main__":
    main()
