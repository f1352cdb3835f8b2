"""A server of the picture stand-in, for the tests that ask about pictures. Only a start and asking.

The options are those that the lab of the picture model has on the CPU.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import requests

from helpers import models, server
from helpers.engines import Cpu
from helpers.models import Model
from helpers.options import Options
from helpers.server import Server

MODEL_DIR = Path(__file__).resolve().parents[2] / "assets" / "standins" / "minicpm_v"
NAME = "MiniCPM-V-4_5"
LIMIT_IMAGES = 10


def model() -> Model:
    """Return the picture stand-in."""
    return models.inspect(MODEL_DIR, NAME)


def options(**changes: Any) -> Options:
    """Return the options of its server, on a free port.

    Args:
        changes: fields of Options that differ.
    """
    course = Options(
        served_model_name=NAME,
        port=0,
        dtype="bfloat16",
        max_model_len=8192,
        max_num_seqs=2,
        enforce_eager=True,
        limit_mm_per_prompt={"image": LIMIT_IMAGES},
        trust_remote_code=True,
    )
    return course.with_values(**changes)


def start(engine: Cpu, **changes: Any) -> Server:
    """Return a started server, ready; whoever starts it stops it."""
    started = server.start(engine, model(), options(**changes))
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
