"""Where a question about inference on Ascend belongs: which repository, which one below it, or what
to ask back; with the question in English and where to search.

Not for answering the question, nor for reading logs: `diagnose.read` does that.
"""

from __future__ import annotations

import re
import shlex
from functools import lru_cache
from pathlib import Path
from typing import Literal
from urllib.parse import quote_plus

import yaml
from pydantic import BaseModel, ConfigDict, Field

from helpers import messages

PATH = Path(__file__).parent / "routes.yml"
Role = Literal["main", "upstream", "below"]
_TERM = re.compile(
    r"ERR\d{5}|E[A-Z]\d{4}|\b\d{6}\b|--[a-z][\w-]+|\b\w*(?:Error|Exception)\b(?::[^\n,，。；]{1,80})?"
    r"|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|\baclnn\w+|\b(?:MiniCPM|Qwen|DeepSeek|Llama|GLM|Kimi)[\w.-]*"
)


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True, protected_namespaces=())


class _Repository(_Form):
    name: str
    words: tuple[str, ...]
    issues: str


class _Topic(_Form):
    id: str
    layer: Literal["plugin", "engine", "serving", "boundary"]
    words: tuple[str, ...]
    question: str


class _Routes(_Form):
    repositories: dict[str, _Repository]
    ascend: tuple[str, ...]
    mindie: tuple[str, ...]
    topics: tuple[_Topic, ...]


class Place(_Form):
    """A repository to look in; `wiki` can be asked in English, `search` is a command or None."""

    repository: str
    role: Role
    issues: str
    wiki: str
    search: str | None


class Route(_Form):
    """Where a question goes. kind: go (places say where), ask (ask back), out (not ours)."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    kind: Literal["go", "ask", "out"]
    places: list[Place]
    topic: str | None
    question: str | None
    reason: str


@lru_cache(maxsize=1)
def routes() -> _Routes:
    """Return the routing table, checked."""
    return _Routes.model_validate(yaml.safe_load(PATH.read_text(encoding="utf-8")))


def _has(words: tuple[str, ...], text: str) -> bool:
    return any(re.search(word, text) for word in words)


def find(utterance: str, language: str | None = None) -> Route:
    """Return where a question belongs.

    Args:
        utterance: the question in Chinese or English, an error text included or not.
        language: of the reason; None takes the language in force.
    """
    table, text = routes(), f" {utterance.lower()} "
    named = [key for key, one in table.repositories.items() if _has(one.words, text)]
    topic = next((one for one in table.topics if _has(one.words, text)), None)
    on_ascend = _has(table.ascend, text)
    only_engine = [key for key in named if key != "vllm" or len(named) == 1]
    if named == ["vllm"] and on_ascend:
        return _asked("ask.vllm", language)
    if not named and _has(table.mindie, text):
        return _asked("ask.mindie", language)
    if not named and on_ascend:
        return _asked("ask.ascend", language)
    if not named:
        return Route(
            kind="out", places=[], topic=None, question=None, reason=_said("out", language)
        )
    roles, why = _layers(only_engine, "vllm" in named, topic)
    return _gone(roles, why, topic, utterance, language)


def _layers(
    named: list[str], with_vllm: bool, topic: _Topic | None
) -> tuple[list[tuple[str, Role]], str]:
    """Return the repositories with their roles in the order to look, and why."""
    layer = topic.layer if topic else "plugin"
    roles: list[tuple[str, Role]] = [(key, "main") for key in named]
    if len(named) > 1:
        return roles, "compare"
    key = named[0]
    if key == "vllm-ascend" and (with_vllm or layer in ("engine", "boundary")):
        return [("vllm", "upstream"), (key, "main")], "boundary"
    if key == "mindie-turbo" and layer in ("engine", "boundary"):
        return [(key, "main"), ("vllm", "below"), ("vllm-ascend", "below")], "turbo"
    if key == "mindie-motor" and layer in ("engine", "plugin") and topic is not None:
        return [("mindie-llm", "below"), (key, "main")], "motor"
    if key == "mindie-pymotor" and layer in ("engine", "plugin") and topic is not None:
        return [("vllm-ascend", "below"), ("sglang", "below"), (key, "main")], "pymotor"
    return roles, "one"


def _said(name: str, language: str | None) -> str:
    found = messages.catalogue(language or messages.language())["diagnose.route"]
    assert isinstance(found, dict)
    return found[name]


def _asked(name: str, language: str | None) -> Route:
    return Route(kind="ask", places=[], topic=None, question=None, reason=_said(name, language))


def _gone(
    roles: list[tuple[str, Role]],
    why: str,
    topic: _Topic | None,
    utterance: str,
    language: str | None,
) -> Route:
    terms = list(dict.fromkeys(term.strip() for term in _TERM.findall(utterance)))[:6]
    failure = next((one for one in terms if re.search(r"Error|Exception|^E|^\d{6}$", one)), None)
    subject = topic.question if topic else "Documentation and known issues"
    if failure:
        subject = f'Causes of and solutions for "{failure}" ({subject})'
    names = " and ".join(routes().repositories[key].name for key, _ in roles)
    about = f"; terms: {', '.join(terms)}" if terms else ""
    words = " ".join(terms) or (topic.id if topic else "")
    return Route(
        kind="go",
        places=[_place(key, role, words) for key, role in roles],
        topic=topic.id if topic else None,
        question=f"{subject} in {names}{about}",
        reason=_said(f"reason.{why}", language),
    )


def _place(key: str, role: Role, words: str) -> Place:
    one = routes().repositories[key]
    github = "github.com" in one.issues
    command = f"gh issue list --repo {one.name} --state all --search {shlex.quote(words)}"
    return Place(
        repository=one.name,
        role=role,
        issues=f"{one.issues}?q={quote_plus(words)}" if github else one.issues,
        wiki=f"https://deepwiki.com/{one.name}",
        search=command if github else None,
    )
