"""What a picture costs in tokens, before it is sent, and what to change where the context is short.

Follows MiniCPM-V's own slicing rule. Not for looking at pictures: `images` does.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from helpers import images, messages
from helpers.images import Given
from helpers.picture_bytes import Picture

ROUND = 1024
"""Context lengths are advised in multiples of this many tokens."""


@dataclass(frozen=True)
class Slicing:
    """The numbers of the rule.

    A picture of at most scale_resolution² pixels is one slice. A larger one is an overview, plus a
    grid of up to max_slice_nums slices whose shape is nearest to the picture's own.

    Attributes:
        scale_resolution: side of the square, in pixels, whose area one slice stands for.
        max_slice_nums: slices of the grid at most, the overview not counted.
        image_feature_size: tokens of one slice (the resampler's queries).
        use_image_id: True where each picture is numbered, which vLLM does.
        slice_mode: False where no picture is sliced.

    Source: MiniCPM-V 4.5's image_processing_minicpmv.py (get_sliced_grid,
    get_slice_image_placeholder), called by vLLM 0.18, 0.23 and 0.32,
    model_executor/models/minicpmv.py (get_num_image_tokens).
    """

    scale_resolution: int = 448
    max_slice_nums: int = 9
    image_feature_size: int = 64
    use_image_id: bool = True
    slice_mode: bool = True

    def grid(self, width: int, height: int) -> tuple[int, int]:
        """Return columns and rows of the grid for a picture in pixels; (0, 0) where it is not
        sliced.
        """
        wanted = math.ceil(width * height / self.scale_resolution**2)
        most = min(wanted, self.max_slice_nums)
        if most <= 1 or not self.slice_mode:
            return 0, 0
        counts = [n for n in (most - 1, most, most + 1) if 1 < n <= self.max_slice_nums]
        shapes = [(n // rows, rows) for n in counts for rows in _divisors_down(n)]
        ratio = math.log(width / height)
        return min(shapes, key=lambda shape: abs(ratio - math.log(shape[0] / shape[1])))

    def cost(self, size: tuple[int, int] | None, number: int = 0) -> Cost:
        """Return the cost of one picture.

        Args:
            size: width and height in pixels; None where it is not known: then the most that one
                picture can cost.
            number: its place in the prompt, from 0; its digits are tokens too.
        """
        most = (1, self.max_slice_nums) if self.slice_mode else (0, 0)
        columns, rows = most if size is None else self.grid(*size)
        tiles = columns * rows
        digits = 2 + len(str(number)) if self.use_image_id else 0
        breaks = max(rows - 1, 0) + 1
        return Cost(
            size,
            (columns, rows),
            (tiles + 1) * self.image_feature_size,
            2 * (tiles + 1) + digits + breaks,
        )


@dataclass(frozen=True)
class Cost:
    """Tokens of one picture.

    Attributes:
        size: width and height in pixels; None where only the upper bound is known.
        grid: columns and rows of slices beside the overview; (0, 0) without any.
        visual: tokens of its slices, the overview included.
        markers: tokens around them: <image_id>0</image_id>, <image>, <slice>, and line breaks, with
            the one that vLLM puts between a picture and what follows it.
    """

    size: tuple[int, int] | None
    grid: tuple[int, int]
    visual: int
    markers: int

    @property
    def slices(self) -> int:
        """Return the number of slices, the overview included."""
        return self.grid[0] * self.grid[1] + 1

    @property
    def total(self) -> int:
        """Return all tokens."""
        return self.visual + self.markers

    def __str__(self) -> str:
        return messages.text(
            "image.cost.exact" if self.size else "image.cost.bound",
            size="×".join(map(str, self.size or ("?", "?"))),
            grid="×".join(map(str, self.grid)),
            slices=self.slices,
            visual=self.visual,
            markers=self.markers,
            total=self.total,
        )


@dataclass(frozen=True)
class Budget:
    """Whether pictures, text and answer fit in the context, and what to change where not.

    Attributes:
        costs: of each picture.
        text_tokens, max_tokens, max_model_len: tokens.
        advice: each line alone makes it fit; () where it fits.
    """

    costs: tuple[Cost, ...]
    text_tokens: int
    max_tokens: int
    max_model_len: int
    advice: tuple[str, ...] = ()

    @property
    def prompt(self) -> int:
        """Return the tokens of pictures and text together."""
        return sum(cost.total for cost in self.costs) + self.text_tokens

    @property
    def needed(self) -> int:
        """Return the context length that prompt and answer need, in tokens."""
        return self.prompt + self.max_tokens

    @property
    def fits(self) -> bool:
        """Return True where the context holds them."""
        return self.needed <= self.max_model_len

    def __str__(self) -> str:
        told = messages.text(
            "image.budget.fits" if self.fits else "image.budget.too_long",
            pictures=sum(cost.total for cost in self.costs),
            text=self.text_tokens,
            answer=self.max_tokens,
            needed=self.needed,
            limit=self.max_model_len,
        )
        return "\n".join([*map(str, self.costs), told, *self.advice])

    __repr__ = __str__


def rule(model: Any = None) -> Slicing:
    """Return the slicing rule of a checkpoint.

    Args:
        model: directory of the checkpoint, or an object with `path`; what its
            preprocessor_config.json or config.json does not say, and everything for None, is
            MiniCPM-V 4.5's.
    """
    path = getattr(model, "path", model)
    if path is None:
        return Slicing()
    config = _json(Path(path) / "config.json")
    found = {**config, **(config.get("slice_config") or {})}
    if "query_num" in config:
        found["image_feature_size"] = config["query_num"]
    found |= _json(Path(path) / "preprocessor_config.json")
    # vLLM numbers each picture whatever the file says (minicpmv.py, use_image_id=True).
    named = {field.name for field in fields(Slicing)} - {"use_image_id"}
    return Slicing(**{name: value for name, value in found.items() if name in named})


def image_tokens(given: Given, *, model: Any = None) -> list[Cost]:
    """Return what each picture adds to the prompt's tokens, before anything is sent.

    Args:
        given: as `image` of chat.ask; the size of an address is not known, so it counts as the most
            that a picture can cost.
        model: as in `rule`.
    Raises: as `images.load`.
    """
    return _costs(images.load_all(given), rule(model))


def budget(
    given: Given,
    *,
    max_model_len: int,
    max_tokens: int,
    text_tokens: int = 0,
    model: Any = None,
) -> Budget:
    """Return whether pictures, text and answer fit in a context length, with advice where not.

    Args:
        given, model: as in `image_tokens`.
        max_model_len: the server's context length in tokens.
        max_tokens: tokens of the answer.
        text_tokens: tokens of the prompt without pictures; len(chat.prompt_as_seen(…)) counts them.
    Raises: as `images.load`.
    """
    pictures, slicing = images.load_all(given), rule(model)
    costs = tuple(_costs(pictures, slicing))
    plan = Budget(costs, text_tokens, max_tokens, max_model_len)
    return plan if plan.fits else replace(plan, advice=tuple(_advice(plan, pictures, slicing)))


def _advice(plan: Budget, pictures: Sequence[Picture], slicing: Slicing) -> list[str]:
    """Return one line for each single change that would make it fit."""
    rounded = math.ceil(plan.needed / ROUND) * ROUND
    lines = [messages.text("image.advice.context", now=plan.max_model_len, needed=rounded)]
    count = len(plan.costs)
    while count and not replace(plan, costs=plan.costs[:count]).fits:
        count -= 1
    if count:
        lines.append(messages.text("image.advice.fewer", now=len(plan.costs), count=count))
    side = _side(plan, pictures, slicing)
    if side:
        lines.append(messages.text("image.advice.smaller", side=side))
    left = plan.max_model_len - plan.prompt
    if left >= 1:
        lines.append(messages.text("image.advice.answer", now=plan.max_tokens, left=left))
    return lines


def _side(plan: Budget, pictures: Sequence[Picture], slicing: Slicing) -> int | None:
    """Return the largest side in pixels at which all pictures fit, or None where none does."""
    sizes = [picture.size for picture in pictures]
    longest = max((max(size) for size in sizes if size), default=0)
    for side in range(longest // 32 * 32, 0, -32):
        smaller = [_thumbnail(size, side) for size in sizes]
        costs = tuple(slicing.cost(size, number) for number, size in enumerate(smaller))
        if replace(plan, costs=costs).fits:
            return side
        if side <= slicing.scale_resolution:  # every picture is one slice: no smaller one is less
            return None
    return None


def _thumbnail(size: tuple[int, int] | None, side: int) -> tuple[int, int] | None:
    if size is None or max(size) <= side:
        return size
    share = side / max(size)
    return max(round(size[0] * share), 1), max(round(size[1] * share), 1)


def _costs(pictures: Sequence[Picture], slicing: Slicing) -> list[Cost]:
    return [slicing.cost(picture.size, number) for number, picture in enumerate(pictures)]


def _divisors_down(number: int) -> list[int]:
    """Return the divisors, largest first: the order in which the rule tries rows, so that of two
    equally near shapes the same one is taken.
    """
    return [n for n in range(number, 0, -1) if number % n == 0]


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
