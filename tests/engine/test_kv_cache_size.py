"""The memory formula against what the CPU engine says of its own KV cache."""

from __future__ import annotations

import re

import pytest

from helpers.doctor import known_models, memory
from helpers.models import Model
from helpers.server import Server


def first_number(server: Server, pattern: str) -> float:
    """Return the number that a pattern captures in the server's log."""
    lines = "\n".join(server.find_in_log(pattern))
    found = re.search(pattern, lines)
    assert found is not None, lines
    return float(found[1].replace(",", ""))


def test_kv_cache_size_in_the_log_is_what_the_formula_says(served: Server, model: Model) -> None:
    tokens = first_number(served, r"KV cache size: ([\d,]+) tokens")
    space = first_number(served, r"Explicitly set \(([\d.]+)/")
    assert model.path is not None

    found = memory.cached_tokens(int(space * 2**30), known_models.shape_in(model.path))

    assert found == pytest.approx(tokens, rel=0.02)
