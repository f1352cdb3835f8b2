"""Pictures for tests, made here: a small one whose halves differ, a larger one with two shapes, and
the bytes of any file.
"""

from __future__ import annotations

import io
from typing import Any

from PIL import Image, ImageDraw

MIMES = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "WEBP": "image/webp",
    "GIF": "image/gif",
    "BMP": "image/bmp",
    "TIFF": "image/tiff",
}
"""Pillow's name of a format → its MIME type."""
ORIENTATION = 0x0112
"""EXIF tag of the orientation; 6 is "to be turned by 90°"."""


def picture(size: tuple[int, int] = (20, 10), mode: str = "RGB") -> Image.Image:
    """Return a picture whose left half differs from its right."""
    image = Image.new("RGB", size, "red")
    image.paste((0, 0, 255), (size[0] // 2, 0, *size))
    return image.convert(mode)


def drawn(size: tuple[int, int] = (448, 448), colour: str = "red") -> Image.Image:
    """Return a picture that is not the same after any turn."""
    image = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(image)
    draw.ellipse((20, 20, size[0] // 2, size[1] // 2), fill=colour)
    draw.rectangle((size[0] * 3 // 4, size[1] * 3 // 4, size[0] - 5, size[1] - 20), fill="blue")
    return image


def encoded(kind: str = "PNG", image: Image.Image | None = None, **options: Any) -> bytes:
    """Return the bytes of a picture's file; options as Pillow's save takes them."""
    buffer = io.BytesIO()
    (image or picture()).save(buffer, kind, **options)
    return buffer.getvalue()


def sideways(kind: str = "JPEG", image: Image.Image | None = None) -> bytes:
    """Return the bytes of a photo that lies on its side and says so in its EXIF."""
    exif = Image.Exif()
    exif[ORIENTATION] = 6
    return encoded(kind, image, exif=exif)
