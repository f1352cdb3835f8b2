"""What a picture shows, as data, and random scenes. Standard library only; drawing is in draw.py.

The scenes of HELD_OUT are never drawn for training: the labs' pictures show them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

COLOURS = {
    "red": (214, 40, 40),
    "orange": (240, 120, 10),
    "yellow": (228, 184, 0),
    "green": (40, 150, 65),
    "blue": (35, 90, 210),
    "purple": (130, 50, 165),
    "pink": (230, 75, 145),
    "black": (25, 25, 25),
}
"""Name → RGB, moved a little at random when drawn; each is clearly darker than every background."""
BACKGROUNDS = {
    "white": (255, 255, 255),
    "grey": (222, 222, 222),
    "light blue": (200, 228, 250),
    "light green": (208, 242, 210),
}
SHAPES = ("circle", "square", "triangle", "star", "cross", "heart")
MOST = 5
"""The largest number of shapes in one picture."""
LONGEST = 4
"""The largest number of digits."""


@dataclass(frozen=True)
class Scene:
    """Either `count` equal shapes, or a number (then shape is "" and count 0)."""

    colour: str
    background: str
    shape: str = ""
    count: int = 0
    number: str = ""

    @property
    def key(self) -> tuple[str, str, int, str]:
        """Return what makes two pictures show the same: everything but the background."""
        return self.colour, self.shape, self.count, self.number


HELD_OUT = frozenset(
    {
        ("red", "circle", 3, ""),
        ("blue", "square", 1, ""),
        ("green", "triangle", 5, ""),
        ("orange", "star", 4, ""),
        ("purple", "heart", 2, ""),
        ("black", "cross", 4, ""),
        ("yellow", "circle", 5, ""),
        ("pink", "star", 2, ""),
        ("blue", "triangle", 4, ""),
        ("green", "heart", 1, ""),
        ("red", "square", 2, ""),
        ("purple", "circle", 2, ""),
    }
)
"""(colour, shape, count, "") that no training picture shows."""
HELD_OUT_NUMBERS = frozenset({"7", "42", "58", "305", "910", "2026", "4096", "8417"})
"""Numbers that no training picture shows, in whatever colour."""


def is_held_out(scene: Scene) -> bool:
    """Return whether the scene is kept out of the training."""
    return scene.number in HELD_OUT_NUMBERS or scene.key in HELD_OUT


def any_scene(rng: random.Random, numbers: float = 0.5) -> Scene:
    """Return a random scene; `numbers` is the share of printed numbers."""
    colour, background = rng.choice(list(COLOURS)), rng.choice(list(BACKGROUNDS))
    if rng.random() < numbers:
        digits = rng.randint(1, LONGEST)
        first = rng.choice("123456789") if digits > 1 else rng.choice("0123456789")
        number = first + "".join(rng.choices("0123456789", k=digits - 1))
        return Scene(colour, background, number=number)
    return Scene(colour, background, rng.choice(SHAPES), rng.randint(1, MOST))


def training_scene(rng: random.Random, numbers: float = 0.5) -> Scene:
    """Return a random scene that is not held out."""
    while True:
        scene = any_scene(rng, numbers)
        if not is_held_out(scene):
            return scene
