"""Draws a scene with Pillow. The same scene, size and seed give the same pixels.

Nothing is read from the system: the digits are drawn in the font that Pillow carries.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from functools import lru_cache

from PIL import Image, ImageDraw, ImageFont

from .scene import BACKGROUNDS, COLOURS, Scene

Point = tuple[float, float]
DIGITS, LARGEST = (0.32, 0.42), 0.3
"""Least and greatest height of digits, and greatest radius of a shape, in shorter sides."""


@dataclass(frozen=True)
class Mark:
    """A shape's name or a digit, and the pixel of its middle."""

    name: str
    x: float
    y: float


def _shade(rgb: tuple[int, int, int], rng: random.Random, spread: int) -> tuple[int, int, int]:
    moved = [min(255, max(0, value + rng.randint(-spread, spread))) for value in rgb]
    return moved[0], moved[1], moved[2]


def _turned(points: list[Point], centre: Point, radius: float, angle: float) -> list[Point]:
    cos, sin = math.cos(angle), math.sin(angle)
    return [
        (centre[0] + radius * (x * cos - y * sin), centre[1] + radius * (x * sin + y * cos))
        for x, y in points
    ]


def _star() -> list[Point]:
    points = []
    for corner in range(10):
        length = 1.1 if corner % 2 == 0 else 0.45
        angle = -math.pi / 2 + corner * math.pi / 5
        points.append((length * math.cos(angle), length * math.sin(angle)))
    return points


def _heart() -> list[Point]:
    points = []
    for step in range(40):
        t = 2 * math.pi * step / 40
        x = 16 * math.sin(t) ** 3
        y = 13 * math.cos(t) - 5 * math.cos(2 * t) - 2 * math.cos(3 * t) - math.cos(4 * t)
        points.append((x / 16, -y / 16))
    return points


def _cross() -> list[Point]:
    arm, width = 1.0, 0.34
    quarter = [(-width, -arm), (width, -arm), (width, -width)]
    points: list[Point] = []
    for turn in range(4):
        points += _turned(quarter, (0, 0), 1, turn * math.pi / 2)
    return points


OUTLINES: dict[str, list[Point]] = {
    "circle": [(math.cos(k * math.pi / 24), math.sin(k * math.pi / 24)) for k in range(48)],
    "square": [(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)],
    "triangle": [(0, -1.0), (0.95, 0.75), (-0.95, 0.75)],
    "star": _star(),
    "cross": _cross(),
    "heart": _heart(),
}
"""Corners around the origin, for a radius of one."""


def _places(
    count: int, size: tuple[int, int], rng: random.Random
) -> list[tuple[float, float, float]]:
    """Return (x, y, radius) of shapes that neither touch each other nor leave the picture."""
    width, height = size
    largest = min(0.36 * math.sqrt(width * height / count), LARGEST * min(size))
    for attempt in range(400):
        shrink = 1 - 0.4 * attempt / 400
        radius = largest * shrink * rng.uniform(0.62, 1.0)
        places: list[tuple[float, float, float]] = []
        for _ in range(count * 12):
            own = radius * rng.uniform(0.9, 1.1)
            edge = own * 1.15
            x, y = rng.uniform(edge, width - edge), rng.uniform(edge, height - edge)
            if all(math.hypot(x - a, y - b) > 1.2 * (own + r) for a, b, r in places):
                places.append((x, y, own))
            if len(places) == count:
                return places
    raise ValueError(f"{count} shapes do not fit into {size}")


def _shapes(
    draw: ImageDraw.ImageDraw, scene: Scene, size: tuple[int, int], rng: random.Random
) -> list[Mark]:
    fill = _shade(COLOURS[scene.colour], rng, 12)
    places = _places(scene.count, size, rng)
    for x, y, radius in places:
        angle = math.radians(rng.uniform(-9, 9))
        draw.polygon(_turned(OUTLINES[scene.shape], (x, y), radius, angle), fill=fill)
    return [Mark(scene.shape, x, y) for x, y, _ in places]


@lru_cache(maxsize=512)
def _font(size: int) -> ImageFont.FreeTypeFont:
    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont), "Pillow was built without FreeType"
    return font


def _number(
    draw: ImageDraw.ImageDraw, scene: Scene, size: tuple[int, int], rng: random.Random
) -> list[Mark]:
    width, height = size
    fill = _shade(COLOURS[scene.colour], rng, 12)
    left, top, right, bottom = draw.textbbox((0, 0), scene.number, font=_font(100))
    tall = rng.uniform(*DIGITS) * min(size)
    scale = min(0.95 * width / (right - left), tall / (bottom - top))
    font = _font(max(8, round(100 * scale)))
    left, top, right, bottom = draw.textbbox((0, 0), scene.number, font=font)
    x = rng.uniform(0.02 * width, 0.98 * width - (right - left))
    y = rng.uniform(0.06 * height, 0.94 * height - (bottom - top))
    draw.text((x - left, y - top), scene.number, font=font, fill=fill)
    ends = [font.getlength(scene.number[:index]) for index in range(len(scene.number) + 1)]
    return [
        Mark(digit, x - left + (ends[index] + ends[index + 1]) / 2, y + (bottom - top) / 2)
        for index, digit in enumerate(scene.number)
    ]


def marked(scene: Scene, size: tuple[int, int], seed: int) -> tuple[Image.Image, list[Mark]]:
    """Return the RGB picture of a scene, and where each shape or digit lies.

    Args:
        size: pixels, (width, height).
        seed: decides places, sizes and shades.
    Raises:
        ValueError: so many shapes do not fit into the size.
    """
    rng = random.Random(f"{scene}{size}{seed}")
    image = Image.new("RGB", size, _shade(BACKGROUNDS[scene.background], rng, 4))
    draw = ImageDraw.Draw(image)
    return image, (_number if scene.number else _shapes)(draw, scene, size, rng)


def picture(scene: Scene, size: tuple[int, int], seed: int) -> Image.Image:
    """Return the RGB picture of a scene; see `marked`."""
    return marked(scene, size, seed)[0]
