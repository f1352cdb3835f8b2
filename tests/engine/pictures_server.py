"""A server of the picture stand-in, for the tests that ask about pictures. Only a start and asking.

The options are those that the lab of the picture model has on the CPU.
"""

from __future__ import annotations

import base64
from typing import Any

import requests

from helpers import catalog, models, paths, server
from helpers.engines import Cpu
from helpers.server import Server

LAB = "01_minicpm_v"
MODEL_DIR = paths.STANDINS / "minicpm_v"
LIMIT_IMAGES = 10


def start(engine: Cpu, **changes: Any) -> Server:
    """Return a server with the lab's options on a free port, ready; whoever starts it stops it.

    Args:
        changes: fields of Options that differ.
    """
    model = models.find(LAB, "cpu")
    own = {"limit_mm_per_prompt": {"image": LIMIT_IMAGES}, "trust_remote_code": True}
    options = catalog.options(LAB, "cpu", served_model_name=model.name, port=0, **own, **changes)
    started = server.start(engine, model, options)
    assert isinstance(started, Server)
    started.wait_ready(300)
    return started


def part(data: bytes, mime: str = "image/png") -> dict[str, Any]:
    """Return the part of a message that carries a picture."""
    url = f"data:{mime};base64,{base64.b64encode(data).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


def ask(
    served: Server,
    question: str,
    pictures: list[bytes] | None = None,
    *,
    mime: str = "image/png",
    **options: Any,
) -> dict[str, Any]:
    """Return the whole reply to a question about pictures, greedy unless asked otherwise."""
    parts = [part(data, mime) for data in pictures or []]
    body = {
        "model": served.served_model_name,
        "messages": [{"role": "user", "content": [*parts, {"type": "text", "text": question}]}],
        "temperature": 0,
        "max_tokens": 96,
        **options,
    }
    response = requests.post(f"{served.base_url}/v1/chat/completions", json=body, timeout=120)
    response.raise_for_status()
    return response.json()


def answer(reply: dict[str, Any]) -> str:
    """Return the text of a reply."""
    return reply["choices"][0]["message"]["content"].strip()


def margin(reply: dict[str, Any]) -> float:
    """Return the smallest difference of the two best log-probabilities of a reply's tokens."""
    gaps = []
    for token in reply["choices"][0]["logprobs"]["content"]:
        best = sorted((top["logprob"] for top in token["top_logprobs"]), reverse=True)
        gaps.append(best[0] - best[1])
    return min(gaps)
