"""Draws the pictures of the labs, with the drawing code of the picture stand-in's training.

    python assets/images/draw_pictures.py [--out DIR]

What they show is held out of that training (`scene.HELD_OUT`). Pillow only, and the font that Pillow
carries: the same version of Pillow writes the same bytes.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "standins"))

from PIL import Image, ImageChops  # noqa: E402
from train.pictures import draw  # noqa: E402
from train.pictures.scene import Scene  # noqa: E402


@dataclass(frozen=True)
class Lab:
    """A file, what it shows, its size in pixels, and the seed of its layout."""

    name: str
    scene: Scene
    size: tuple[int, int]
    seed: int = 1


PICTURES = (
    Lab("circles.png", Scene("red", "white", "circle", 3), (448, 448)),
    Lab("square.jpg", Scene("blue", "grey", "square", 1), (448, 448)),
    Lab("triangles.png", Scene("green", "white", "triangle", 5), (448, 448)),
    Lab("stars.jpg", Scene("orange", "light blue", "star", 4), (448, 448)),
    Lab("hearts.png", Scene("purple", "light green", "heart", 2), (320, 320)),
    Lab("number.png", Scene("blue", "white", number="42"), (448, 448)),
    Lab("year.jpg", Scene("red", "grey", number="2026"), (448, 448)),
    Lab("digit.png", Scene("black", "light blue", number="7"), (224, 224)),
    Lab("wide.png", Scene("purple", "white", number="4096"), (560, 320)),
    Lab("tall.jpg", Scene("pink", "white", "star", 2), (320, 560)),
    Lab("medium.jpg", Scene("yellow", "light blue", "circle", 5), (900, 600)),
    Lab("large.png", Scene("green", "white", number="305"), (1344, 1344)),
    Lab("transparent.png", Scene("blue", "white", "triangle", 4), (448, 448)),
)
"""transparent.png has no background of its own: the server puts it on white."""


def image_of(lab: Lab) -> Image.Image:
    """Return the picture of a lab, RGBA where the file is to be transparent."""
    image = draw.picture(lab.scene, lab.size, lab.seed)
    if lab.name != "transparent.png":
        return image
    ground = Image.new("RGB", image.size, image.getpixel((0, 0)))
    drawn = ImageChops.difference(image, ground).convert("L")
    image.putalpha(drawn.point(lambda value: 255 if value else 0))
    return image


def write(out: Path) -> None:
    """Write every picture into a folder."""
    for lab in PICTURES:
        options = {"quality": 92} if lab.name.endswith(".jpg") else {"optimize": True}
        image_of(lab).save(out / lab.name, **options)


def main() -> None:
    """Read the command line and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE)
    write(parser.parse_args().out)


if __name__ == "__main__":
    main()
