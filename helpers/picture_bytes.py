"""What the bytes of a picture are: decoded wholly, measured, made smaller or upright where asked.

Not for where they come from: `images` reads paths, data URLs and PIL images.
"""

from __future__ import annotations

import base64
import io
import re
import warnings
from dataclasses import dataclass, replace
from typing import Any

from PIL import ExifTags, Image, ImageOps, UnidentifiedImageError

from helpers import messages
from helpers.picture_errors import NotAPicture, PictureEmpty, PictureTooLarge, PictureTruncated

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")
MAX_PIXELS = 178_956_970
"""Pixels of one picture. Source: vLLM 0.32 envs.py, VLLM_MAX_IMAGE_PIXELS; 0.18 and 0.23 have no
such variable, but Pillow itself refuses more (Image.MAX_IMAGE_PIXELS, twice).
"""
MAX_BYTES = 256 * 2**20
"""Bytes of one picture. Source: vLLM 0.32 envs.py, VLLM_MAX_MEDIA_DOWNLOAD_SIZE_MB, which holds for
pictures by URL; the course takes no more in a request either.
"""

SIGNATURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"BM", b"II*\0", b"MM\0*")
_PNG_MODES = ("1", "L", "LA", "P", "RGB", "RGBA", "I;16")
_JPEG_MODES = ("L", "RGB", "CMYK")
_DAMAGED = (OSError, SyntaxError, ValueError, EOFError, IndexError)


@dataclass(frozen=True, repr=False)
class Picture:
    """One picture as it is sent.

    Attributes:
        url: what stands in image_url.url: a data URL, or the address that the server fetches.
        mime: type found from the bytes, for instance "image/png"; None for an address.
        size: width and height in pixels, upright; None for an address.
        mode: Pillow's name of the colour mode, for instance "RGBA"; "" for an address.
        length: bytes of the file; 0 for an address.
        remarks: what the server does with it, in the reader's language.
    """

    url: str
    mime: str | None = None
    size: tuple[int, int] | None = None
    mode: str = ""
    length: int = 0
    remarks: tuple[str, ...] = ()

    def part(self) -> dict[str, Any]:
        """Return the part of a message's content that holds this picture."""
        return {"type": "image_url", "image_url": {"url": self.url}}

    def __str__(self) -> str:
        if self.size is None:
            return "\n".join([self.url, *self.remarks])
        kind = (self.mime or "").removeprefix("image/").upper()
        told = f"{kind} · {self.size[0]}×{self.size[1]} · {self.mode} · {self.length / 1e3:,.1f} kB"
        return "\n".join([told, *self.remarks])

    __repr__ = __str__


def inspected(data: bytes, name: str, declared: str = "") -> Picture:
    """Return what the bytes are, after decoding all of them.

    Args:
        data: the file's bytes.
        name: what the source is called in an error.
        declared: the type that a data URL declares, or "".
    Raises:
        PictureEmpty, NotAPicture, PictureTruncated, PictureTooLarge.
    """
    if not data:
        raise PictureEmpty(source=name)
    if len(data) > MAX_BYTES:
        raise too_large(name, f"{len(data):,} B")
    opened = _opened(data, name)
    kind = "JPEG" if opened.format == "MPO" else str(opened.format)  # MPO: a JPEG with a second one
    mime = Image.MIME[kind]
    turned = _orientation(opened) >= 5
    size = (opened.height, opened.width) if turned else opened.size
    remarks = _remarks(opened)
    if declared not in ("", mime):
        remarks.append(messages.text("image.remark.declared", declared=declared, mime=mime))
    url = f"data:{mime};base64,{base64.b64encode(data).decode()}"
    return Picture(url, mime, size, opened.mode, len(data), tuple(remarks))


def _opened(data: bytes, name: str) -> Image.Image:
    """Return the decoded picture.

    Raises:
        NotAPicture, PictureTruncated, PictureTooLarge.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # our own limit follows
            opened = Image.open(io.BytesIO(data), formats=FORMATS)
    except Image.DecompressionBombError as error:
        raise too_large(name, str(error)) from error
    except UnidentifiedImageError as error:
        if data.startswith(SIGNATURES):
            raise PictureTruncated(source=name, original=_said(error)) from error
        raise NotAPicture(source=name, seen=repr(data[:24]), original=_said(error)) from error
    except _DAMAGED as error:
        raise PictureTruncated(source=name, original=_said(error)) from error
    if opened.width * opened.height > MAX_PIXELS:
        raise too_large(name, f"{opened.width}×{opened.height}")
    try:
        opened.load()
    except _DAMAGED as error:
        raise PictureTruncated(source=name, original=_said(error)) from error
    return opened


def _remarks(opened: Image.Image) -> list[str]:
    """Return what the server does with this picture that the learner may not expect."""
    told = []
    if _orientation(opened) != 1:
        told.append(messages.text("image.remark.orientation"))
    if opened.mode in ("RGBA", "LA", "PA") or "transparency" in opened.info:
        told.append(messages.text("image.remark.transparent"))
    elif opened.mode != "RGB":
        told.append(messages.text("image.remark.converted", mode=opened.mode))
    if getattr(opened, "n_frames", 1) > 1 and opened.format != "MPO":
        told.append(messages.text("image.remark.frames"))
    return told


def changed(data: bytes, name: str, before: Picture, max_side: int | None) -> Picture:
    """Return the picture upright and no larger than asked; as it was where it is both already.

    Args:
        data: the file's bytes.
        name: what the source is called in an error.
        before: what `inspected` returned for them.
        max_side: longest side in pixels, or None for any.
    Raises:
        as `inspected`.
    """
    opened = _opened(data, name)
    fits = max_side is None or max(opened.size) <= max_side
    if fits and _orientation(opened) == 1:
        return before
    image = ImageOps.exif_transpose(opened)
    if max_side is not None:
        image.thumbnail((max_side, max_side), Image.Resampling.LANCZOS)
    kind = "JPEG" if before.mime == "image/jpeg" else "PNG"
    made = inspected(encoded(image, name, kind), name)
    was = "×".join(str(side) for side in before.size or opened.size)
    return replace(made, remarks=(messages.text("image.remark.changed", was=was), *made.remarks))


def encoded(image: Image.Image, name: str, kind: str = "PNG") -> bytes:
    """Return a PIL image as the bytes of a file, without the EXIF that it was opened with: what is
    sent is what the image shows.

    Args:
        image: any mode; one that the format does not know becomes RGB, as the server would make it.
        name: what the source is called in an error.
        kind: "PNG" (lossless) or "JPEG" (quality 95).
    Raises:
        PictureTruncated: it was opened lazily, from a file that ends too early.
        PictureEmpty: it has no pixels.
    """
    if 0 in image.size:
        raise PictureEmpty(source=name)
    buffer = io.BytesIO()
    options: dict[str, Any] = {"quality": 95} if kind == "JPEG" else {}
    try:
        fits = image.mode in (_PNG_MODES if kind == "PNG" else _JPEG_MODES)
        bare = image.copy() if fits else image.convert("RGB")
        bare.info.pop("exif", None)
        bare.save(buffer, kind, **options)
    except _DAMAGED as error:
        raise PictureTruncated(source=name, original=_said(error)) from error
    return buffer.getvalue()


def too_large(name: str, size: str) -> PictureTooLarge:
    """Return the error for a picture over the limits, which it names."""
    return PictureTooLarge(
        source=name, size=size, limit=f"{MAX_PIXELS:,} px, {MAX_BYTES >> 20} MiB"
    )


def _orientation(opened: Image.Image) -> int:
    """Return the EXIF orientation: 1 upright, 3 upside down, 5 to 8 lying on a side."""
    return int(opened.getexif().get(ExifTags.Base.Orientation, 1))


def _said(error: Exception) -> str:
    """Return an exception's text without the address of an object in memory."""
    return re.sub(r" ?<_io\.BytesIO object at 0x[0-9a-f]+>", "", str(error)) or type(error).__name__
