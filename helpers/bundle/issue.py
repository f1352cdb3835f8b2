"""The text of an issue, in English since the repositories are: for the right one, and why it is.

Not for posting it, nor for taking secrets out: what it is given has none.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from helpers.bundle.excerpt import Excerpt
from helpers.diagnose import Diagnosis, routing
from helpers.diagnose.routing import Route
from helpers.server import log as logs

_ON_ASCEND = re.compile(
    r"vllm[_-]ascend|torch_npu|Platform plugin ascend|\bCANN\b|\bdavinci\d|\bacl(?:nn|rt)|\bHCCL\b"
)
TAIL, BEFORE, AFTER = 40, 3, 12


@dataclass(frozen=True)
class Issue:
    """An issue's text as Markdown, and where it belongs."""

    body: str
    route: Route


def engine_of(texts: Iterable[str]) -> str:
    """Return "ascend" where texts speak of an NPU's software, else "cpu"."""
    return "ascend" if any(_ON_ASCEND.search(text) for text in texts) else "cpu"


def compose(
    found: Diagnosis, log: Excerpt, server: dict[str, Any] | None, versions: dict[str, Any]
) -> Issue:
    """Return the issue about a log.

    Args:
        found: its diagnosis, in English. log: its excerpt.
        server: as contents' server.json. versions: as versions.json, `engine` among them.
    """
    route = route_of(found, versions["engine"], "en")
    first = found.evidence[0] if found.evidence else None
    shown = log.around(first.line, BEFORE, AFTER) if first else []
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent.with_name("templates")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    packages = versions.get("engine_packages") or {}
    machine = {name: versions.get(name) for name in ("os", "system")}
    rows = [(name, value) for name, value in (packages | machine).items() if value]
    command = shlex.join((server or {}).get("command", []))
    body = environment.get_template("issue.md.j2").render(
        found=found,
        route=route,
        first=first,
        summary=_summary(found),
        rows=rows,
        command=fenced(command) if command else "",
        evidence=fenced("\n".join(shown)) if shown else "",
        tail=fenced("\n".join(log.end(TAIL))),
        log=log,
    )
    return Issue(body, route)


def _summary(found: Diagnosis) -> str:
    """Return the issue's title: what the log says itself, since a reader's own words are not
    searched for.
    """
    return " ".join((found.title if found.entry else _said(found) or found.title).split())[:120]


def route_of(found: Diagnosis, engine: str, language: str | None = None) -> Route:
    """Return where to ask about a diagnosis: always a repository, the engine's own where the words
    do not tell.

    Args:
        found: in English. engine: "ascend" or another.
        language: of the reason; None takes the language in force.
    """
    project = "vllm-ascend" if engine == "ascend" else "vllm"
    for words in (f"{project} {found.title} {_said(found)}", f"{project} {found.title}"):
        route = routing.find(words, language)
        names = [place.repository for place in route.places]
        if route.kind == "go" and any(name.endswith(f"/{project}") for name in names):
            return route
    return routing.find(project, language)


def _said(found: Diagnosis) -> str:
    """Return the exception that the evidence ends in, else its first line, without prefixes."""
    texts = [one.text for one in found.evidence]
    said = logs.last_error("\n".join(texts)) or (texts[0] if texts else "")
    said = logs.without_prefix(said)[:300]
    plain = re.split(r"\s*[({\[]", said, maxsplit=1)[0]  # what follows is values, or a list of them
    return plain if len(plain) > 20 else said


def fenced(text: str) -> str:
    """Return a text as a Markdown block that nothing in it can end."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{text}\n{fence}"
