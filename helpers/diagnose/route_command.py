"""`python -m helpers route "…"`: which repository a question belongs to, how to ask it in English,
and where to search. The rules are in `routing` and routes.yml.
"""

from __future__ import annotations

import click

from helpers import messages
from helpers.diagnose import routing


def told(route: routing.Route, language: str | None = None) -> str:
    """Return a route as text."""
    labels = messages.catalogue(language or messages.language())["diagnose.route"]
    assert isinstance(labels, dict)
    out = [labels[f"kind.{route.kind}"] + route.reason]
    for place in route.places:
        out.append(f"{place.repository}  ({labels[f'role.{place.role}']})")
        out.append(f"  {labels['wiki']}{place.wiki}")
        out.append(f"  {labels['issues']}{place.issues}")
        if place.search:
            out.append(f"  {labels['search']}{place.search}")
    if route.question:
        out.append(labels["question"] + route.question)
    return "\n".join(out)


@click.command(name="route")
@click.argument("question", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True)
@click.option("--language", type=click.Choice(messages.LANGUAGES), help="zh | en")
def command(question: tuple[str, ...], as_json: bool, language: str | None) -> None:
    """Say which repository a QUESTION (zh or en) belongs to, and how to ask it there."""
    route = routing.find(" ".join(question), language)
    click.echo(route.model_dump_json(by_alias=True, indent=2) if as_json else told(route, language))
