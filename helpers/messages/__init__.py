"""Every user-facing text by code, in zh and en: one mechanism for errors, checkpoints, tables and,
later, knowledge entries.

A text is looked up and filled in here; who shows it, and when, is the caller's business.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

import yaml

LANGUAGES = ("zh", "en")
_chosen: str | None = None


def use(language: str) -> None:
    """Choose the language of every later text in this process.

    Args:
        language: "zh" or "en".
    Raises:
        ValueError: another language.
    """
    global _chosen
    if language not in LANGUAGES:
        raise ValueError(f"LANGUAGE: zh | en, not {language!r}")
    _chosen = language


def language() -> str:
    """Return the language in force: the one chosen by `use`, else LAB_LANGUAGE, else Chinese, the
    course's first language.
    """
    if _chosen:
        return _chosen
    asked = os.environ.get("LAB_LANGUAGE", "")
    return asked if asked in LANGUAGES else "zh"


@lru_cache(maxsize=len(LANGUAGES))
def catalogue(language: str) -> dict[str, dict[str, str] | str]:
    """Return all texts of one language: code → text, or → {what, why, next} for an error.

    Read from zh.yml or en.yml, and from a file a family beside it (download.zh.yml, …).
    """
    folder = Path(__file__).parent
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    texts: dict[str, dict[str, str] | str] = {}
    for path in (folder / f"{language}.yml", *sorted(folder.glob(f"*.{language}.yml"))):
        texts.update(yaml.load(path.read_text(encoding="utf-8"), Loader=loader))
    return texts


def text(code: str, in_language: str | None = None, **values: object) -> str:
    """Return one text with its placeholders filled in.

    Args:
        code: key in zh.yml and en.yml.
        in_language: "zh" or "en"; None takes the language in force.
        values: what the placeholders stand for.
    Raises:
        KeyError: no such code, or a placeholder without a value.
    """
    entry = catalogue(in_language or language())[code]
    if not isinstance(entry, str):
        raise KeyError(f"{code} has parts; use messages.parts")
    return entry.format(**values)


def parts(code: str, in_language: str | None = None, **values: object) -> dict[str, str]:
    """Return an error's three texts (`what`, `why`, `next`) with their placeholders filled in.

    Raises:
        KeyError: no such code, or a placeholder without a value.
    """
    entry = catalogue(in_language or language())[code]
    if isinstance(entry, str):
        raise KeyError(f"{code} is a single text; use messages.text")
    return {name: template.format(**values) for name, template in entry.items()}
