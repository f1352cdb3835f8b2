"""Renders conversations with the chat template, as the server does."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2
import jinja2.sandbox

TEMPLATE = Path(__file__).with_name("chat_template.jinja")


def _tojson(value: Any, **options: Any) -> str:
    """Return JSON as transformers' template filter writes it: no HTML escapes, letters kept."""
    return json.dumps(value, ensure_ascii=False, **options)


@lru_cache(maxsize=4)
def _compiled(path: Path) -> jinja2.Template:
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = _tojson
    return environment.from_string(path.read_text(encoding="utf-8"))


def prompt(
    messages: list[dict[str, Any]],
    tools: list[dict[str, Any]] | None = None,
    enable_thinking: bool | None = None,
    *,
    path: Path = TEMPLATE,
) -> str:
    """Return the prompt up to the place where the model writes.

    Args:
        enable_thinking: None leaves it unset, as a request without chat_template_kwargs does.
    """
    options: dict[str, Any] = (
        {} if enable_thinking is None else {"enable_thinking": enable_thinking}
    )
    return _compiled(path).render(
        messages=messages,
        tools=tools or None,
        add_generation_prompt=True,
        bos_token="<s>",
        **options,
    )
