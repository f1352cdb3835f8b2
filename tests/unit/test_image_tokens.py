"""Tests of image_tokens: MiniCPM-V's slicing rule, the tokens of a picture, and the advice."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from helpers import chat, images, messages
from helpers.image_tokens import Slicing, budget, image_tokens, rule

SIDES = st.integers(1, 6000)
REAL = Slicing()


@pytest.fixture(autouse=True)
def english() -> None:
    messages.use("en")


def _picture(width: int, height: int) -> Image.Image:
    return Image.new("L", (width, height))


# (width, height), grid, slices: worked out by hand from the rule, ceil(w*h / 448²) slices wanted.
KNOWN = [
    ((448, 448), (0, 0), 1),
    ((100, 2000), (0, 0), 1),
    ((449, 448), (2, 1), 3),
    ((896, 448), (2, 1), 3),
    ((448, 896), (1, 2), 3),
    ((896, 896), (2, 2), 5),
    ((1344, 1344), (3, 3), 10),
    ((4000, 3000), (3, 3), 10),
    ((8000, 1000), (8, 1), 9),
    ((1000, 8000), (1, 8), 9),
]


@pytest.mark.parametrize(("size", "grid", "slices"), KNOWN)
def test_cost_of_a_known_size_is_its_grid_and_64_a_slice(
    size: tuple[int, int], grid: tuple[int, int], slices: int
) -> None:
    cost = REAL.cost(size)

    assert (cost.grid, cost.slices, cost.visual) == (grid, slices, 64 * slices)


def test_most_that_a_picture_costs_is_640_and_its_markers() -> None:
    cost = REAL.cost((1344, 1344))

    # <image_id>0</image_id>, <image>…</image>, nine <slice>…</slice>, two line breaks and the last
    assert (cost.visual, cost.markers, cost.total) == (640, 3 + 2 + 18 + 2 + 1, 666)


def test_markers_of_an_unsliced_picture_count_the_digits_of_its_number() -> None:
    assert [REAL.cost((10, 10), number).markers for number in (0, 9, 10, 100)] == [6, 6, 7, 8]


@given(SIDES, SIDES, st.integers(1, 12))
def test_slices_never_exceed_their_most(width: int, height: int, most: int) -> None:
    columns, rows = Slicing(max_slice_nums=most).grid(width, height)

    assert columns * rows <= most
    assert columns * rows != 1


@given(SIDES, SIDES)
def test_no_picture_costs_more_than_one_of_unknown_size(width: int, height: int) -> None:
    assert REAL.cost((width, height)).total <= REAL.cost(None).total


def test_slice_mode_off_makes_every_picture_one_slice() -> None:
    assert Slicing(slice_mode=False).cost((4000, 3000)).slices == 1


def test_rule_without_a_checkpoint_is_minicpm_v_4_5s(tmp_path: Path) -> None:
    assert rule() == rule(tmp_path) == REAL


def test_rule_is_read_from_the_checkpoints_files(tmp_path: Path) -> None:
    config = {"query_num": 16, "slice_config": {"max_slice_nums": 4, "scale_resolution": 112}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    processor = {"max_slice_nums": 6, "use_image_id": False, "norm_mean": [0.5]}
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(processor))

    found = rule(SimpleNamespace(path=tmp_path))

    assert found == Slicing(scale_resolution=112, max_slice_nums=6, image_feature_size=16)


@pytest.mark.parametrize("text", ["", "[]", "{"])
def test_rule_of_an_unreadable_file_is_the_default(tmp_path: Path, text: str) -> None:
    (tmp_path / "preprocessor_config.json").write_text(text)

    assert rule(tmp_path) == REAL


def test_image_tokens_number_the_pictures_of_one_prompt() -> None:
    costs = image_tokens([_picture(10, 10)] * 11)

    assert [cost.markers for cost in costs] == [6] * 10 + [7]
    assert chat.image_tokens is image_tokens


def test_image_tokens_of_an_address_are_an_upper_bound() -> None:
    (cost,) = image_tokens("http://host/a.png")

    assert (cost.size, cost.total) == (None, REAL.cost(None).total)
    assert "at most 10 slices" in str(cost)


def test_original_2048_holds_three_full_pictures_and_ten_small_ones() -> None:
    full, small = _picture(1344, 1344), _picture(448, 448)

    held = [
        budget([full] * 3, max_model_len=2048, max_tokens=48).fits,
        budget([full] * 4, max_model_len=2048, max_tokens=48).fits,
        budget([small] * 10, max_model_len=2048, max_tokens=512).fits,
    ]

    assert held == [True, False, True]


def test_budget_that_fits_has_no_advice() -> None:
    plan = budget(_picture(10, 10), max_model_len=2048, max_tokens=100, text_tokens=20)

    assert (plan.needed, plan.advice) == (70 + 100 + 20, ())
    assert "fit in a context of 2048" in str(plan)


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_each_advice_alone_makes_ten_full_pictures_fit(language: str) -> None:
    messages.use(language)
    pictures = [_picture(1344, 1344)] * 10
    asked = {"max_model_len": 2048, "max_tokens": 512, "text_tokens": 30}

    plan = budget(pictures, **asked)

    context, fewer, smaller = plan.advice
    assert not plan.fits
    assert budget(pictures, **asked | {"max_model_len": _last(context)}).fits
    assert _last(context) == 8192
    count = 2
    assert str(count) in fewer
    assert budget(pictures[:count], **asked).fits
    assert not budget(pictures[: count + 1], **asked).fits
    side = _last(smaller)
    assert budget([images.load(one, max_side=side) for one in pictures], **asked).fits
    assert not budget([images.load(one, max_side=side + 32) for one in pictures], **asked).fits


def test_advice_on_the_answer_is_what_is_left_for_it() -> None:
    picture = _picture(448, 448)

    plan = budget(picture, max_model_len=1024, max_tokens=1000, text_tokens=30)

    left = _last(plan.advice[-1])
    assert left == 1024 - 70 - 30
    assert budget(picture, max_model_len=1024, max_tokens=left, text_tokens=30).fits


def test_advice_for_addresses_never_speaks_of_making_them_smaller() -> None:
    plan = budget(["http://host/a.png"] * 10, max_model_len=2048, max_tokens=64)

    assert not any("max_side" in line for line in plan.advice)
    assert len(plan.advice) == 2


def _last(line: str) -> int:
    """Return the last number of a line of advice, whatever the language."""
    return int(re.findall(r"\d+", line)[-1])
