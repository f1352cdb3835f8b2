"""Make the guide's troubleshooting pages from the errors' own texts; nothing is typed twice.

Usage: python course/troubleshooting.py   (`make notebooks` runs it too)
"""

from __future__ import annotations

import re
from pathlib import Path

from helpers import errors, messages, paths

HEADS = {
    "zh": (
        "# 错误代码：原因和下一步",
        "课程的错误信息第一行方括号里是代码，例如 `[server.port_taken]`。"
        "花括号表示出错时填进去的值。"
        "本页由 `make notebooks` 从 `helpers/messages/zh.yml` 生成，请改那里。",
    ),
    "en": (
        "# Error codes: cause and next step",
        "The first line of an error of this course has its code in brackets, for instance "
        "`[server.port_taken]`. Braces stand for values that are filled in when it happens. "
        "`make notebooks` makes this page from `helpers/messages/en.yml`; change it there.",
    ),
}


def classes() -> list[type[errors.LabError]]:
    """Return every typed error, in the order of helpers/errors.py."""
    found = [one for one in vars(errors).values() if isinstance(one, type)]
    return [one for one in found if issubclass(one, errors.LabError) and one is not errors.LabError]


def anchor(code: str) -> str:
    """Return the anchor of a code: "server.port_taken" → "server-port-taken"."""
    return re.sub(r"[._]", "-", code)


def page(language: str) -> str:
    """Return the page in a language ("zh" or "en")."""
    title, lead = HEADS[language]
    labels = {
        name: messages.text(f"error.label.{name}", language).strip() for name in ("why", "next")
    }
    lines = [title, "", lead, ""]
    for one in classes():
        said = messages.catalogue(language)[one.code]
        assert isinstance(said, dict)
        lines += [
            f'<a id="{anchor(one.code)}"></a>',
            "",
            f"## `{one.code}`",
            "",
            said["what"],
            "",
            f"- {labels['why']} {said['why']}",
            f"- {labels['next']} {said['next']}",
            "",
        ]
    return "\n".join(lines)


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
