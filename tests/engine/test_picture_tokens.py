"""What a picture costs, as the real server counts it: image_tokens says it before it is sent."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pictures_server import LIMIT_IMAGES, MODEL_DIR
from PIL import Image

from helpers import chat, image_tokens
from helpers.picture_errors import PicturesTooLong
from helpers.server import RemoteServer, Server

QUESTION = "Describe this picture."
SIZES = [(1, 1), (448, 448), (449, 448), (896, 448), (448, 896), (2000, 500), (1344, 1344)]
GREEDY = {"temperature": 0.0, "max_tokens": 1}


def _picture(size: tuple[int, int]) -> Image.Image:
    return Image.new("RGB", size, "red")


def _slicing() -> ModuleType:
    """Return the module with which the stand-in's image processor cuts pictures."""
    path = MODEL_DIR / "slicing.py"
    spec = importlib.util.spec_from_file_location("standin_slicing", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CUT = _slicing()


@given(st.integers(1, 6000), st.integers(1, 6000))
def test_grid_is_the_one_that_the_standins_processor_cuts(width: int, height: int) -> None:
    ours = image_tokens.Slicing().grid(width, height)

    assert ours == (CUT.sliced_grid((width, height), 9, 448) or (0, 0))


@pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))
def test_tokens_of_a_picture_are_those_that_the_server_counts(
    pictured: Server, size: tuple[int, int]
) -> None:
    (cost,) = chat.image_tokens(_picture(size), model=MODEL_DIR)
    text = chat.ask(QUESTION, server=pictured, **GREEDY).usage["prompt_tokens"]

    answer = chat.ask(QUESTION, image=_picture(size), server=pictured, **GREEDY)

    assert answer.usage["prompt_tokens"] == text + cost.total


def test_tokens_of_ten_pictures_are_those_that_the_server_counts(pictured: Server) -> None:
    pictures = [_picture(size) for size in [*SIZES, (300, 300), (600, 300), (300, 900)]]
    costs = chat.image_tokens(pictures, model=MODEL_DIR)
    text = len(chat.prompt_as_seen(QUESTION, server=pictured))

    answer = chat.ask(QUESTION, image=pictures, server=pictured, **GREEDY)

    assert len(costs) == LIMIT_IMAGES
    assert answer.usage["prompt_tokens"] == text + sum(cost.total for cost in costs)


def test_prompt_as_seen_counts_the_pictures_too(pictured: Server) -> None:
    picture = _picture((896, 448))

    seen = chat.prompt_as_seen(QUESTION, image=picture, server=pictured)

    answer = chat.ask(QUESTION, image=picture, server=pictured, **GREEDY)
    assert len(seen) == answer.usage["prompt_tokens"]


def test_budget_draws_the_line_where_the_server_does(pictured: Server) -> None:
    """The longest text that the budget lets pass is answered, one word more is refused."""
    pictures = [_picture((1344, 1344))] * 10
    limit = pictured.max_model_len
    bare = len(chat.prompt_as_seen("picture", server=pictured)) - 1  # a word is a token
    room = (
        limit - 1 - bare - image_tokens.budget(pictures, max_model_len=limit, max_tokens=1).prompt
    )
    asked = {"image": pictures, "server": pictured, **GREEDY}

    fits = image_tokens.budget(
        pictures, max_model_len=limit, max_tokens=1, text_tokens=bare + room, model=MODEL_DIR
    )
    answer = chat.ask(" ".join(["picture"] * room), **asked)

    assert fits.fits and fits.needed == limit == answer.usage["total_tokens"]
    with pytest.raises(PicturesTooLong):
        chat.ask(" ".join(["picture"] * (room + 1)), **asked)


def test_server_of_somebody_else_shows_that_it_reads_pictures(pictured: Server) -> None:
    remote = RemoteServer(pictured.base_url, pictured.served_model_name)

    remote.wait_ready()

    assert remote.capabilities is not None
    assert {"images", "course_facts"} <= remote.capabilities
