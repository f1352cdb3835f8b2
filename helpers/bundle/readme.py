"""What stands at the top of a bundle: what is in it, what was taken out, and that it is to be read
before it is posted. Chinese first, then English.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from helpers import messages
from helpers.diagnose.routing import Route


def text(files: Sequence[str], removed: Mapping[str, int], route: Route) -> str:
    """Return the page.

    Args:
        files: the other files' names.
        removed: how often something was taken out, by kind.
        route: where to ask.
    """
    return "\n\n".join(_page(files, removed, route, one) for one in messages.LANGUAGES) + "\n"


def _page(files: Sequence[str], removed: Mapping[str, int], route: Route, language: str) -> str:
    lines = [f"# {messages.text('bundle.readme.title', language)}", ""]
    lines += [messages.text("bundle.readme.first", language), ""]
    lines += [f"- `{name}`: {purpose(name, language)}" for name in files]
    where = ", ".join(place.repository for place in route.places)
    lines += ["", messages.text("bundle.readme.removed", language, removed=told(removed, language))]
    lines += ["", messages.text("bundle.readme.where", language, where=where)]
    return "\n".join(lines)


def purpose(name: str, language: str | None = None) -> str:
    """Return what a file of the bundle is for."""
    kind = name.partition("/")[0].partition(".")[0].partition("-")[0].lower()
    return messages.text(f"bundle.file.{kind}", language)


def told(removed: Mapping[str, int], language: str | None = None) -> str:
    """Return what was taken out, in words."""
    counts: dict[str, int] = {}
    for kind, count in removed.items():
        known = kind.strip("<>")
        counts[known] = counts.get(known, 0) + count
    if not counts:
        return messages.text("bundle.removed.nothing", language)
    parts = [
        messages.text(f"bundle.removed.{kind}", language, count=n) for kind, n in counts.items()
    ]
    return messages.text("bundle.comma", language).join(parts)
