"""Pictures for a chat request: a path, bytes, a PIL image or a URL becomes an `image_url` part.

Looks at a picture before anything is sent; changes it only where asked (`max_side`, `upright`).
Colour mode and transparency are the server's business and only explained. Fetches nothing: a URL
is passed on, and the server fetches it.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from PIL import Image

from helpers import messages, paths, picture_bytes
from helpers.errors import BadOption
from helpers.picture_bytes import Picture
from helpers.picture_errors import (
    BadDataUrl,
    NoTurnForPicture,
    PictureMissing,
    PictureNotHere,
    RawBase64,
    UnknownPictureKind,
)

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_DATA = re.compile(r"data:(?P<mime>[^;,]*)(?P<more>(;[^;,]*)*),(?P<body>.*)", re.DOTALL | re.I)
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]{64,}={0,2}\s*")

One: TypeAlias = "str | os.PathLike[str] | bytes | bytearray | memoryview | Image.Image | Picture"
Given: TypeAlias = "One | Sequence[One]"


def load(source: One, *, max_side: int | None = None, upright: bool = False) -> Picture:
    """Return a picture, looked at and ready to be sent.

    Args:
        source: path, bytes, PIL image, data URL, or an address (http://…), which is not fetched.
        max_side: longest side in pixels; a larger picture is made smaller, and upright. None sends
            the bytes as they are.
        upright: True turns a photo as its EXIF orientation asks. vLLM 0.32 does that itself; 0.18
            and 0.23 do not (multimodal/media/image.py of each).
    Raises:
        PictureMissing, PictureEmpty, NotAPicture, PictureTruncated, PictureTooLarge: the source.
        RawBase64, BadDataUrl: a text that is almost a data URL.
        PictureNotHere: max_side or upright for an address.
        UnknownPictureKind: none of the above.
        BadOption: max_side is no positive number.
    """
    if max_side is not None and (isinstance(max_side, bool) or max_side < 1):
        raise BadOption(name="max_side", value=repr(max_side), rule=">= 1 (int)")
    change = max_side is not None or upright
    if isinstance(source, Picture) and not change:
        return source
    if isinstance(source, Picture):
        source = source.url
    if isinstance(source, str) and _SCHEME.match(source):
        if change:
            raise PictureNotHere(url=source)
        return Picture(source, remarks=(messages.text("image.remark.by_url"),))
    if isinstance(source, Image.Image):
        name, declared = f"PIL.{type(source).__name__}", ""
        data = picture_bytes.encoded(source, name)
    else:
        data, name, declared = _read(source)
    picture = picture_bytes.inspected(data, name, declared)
    return picture_bytes.changed(data, name, picture, max_side) if change else picture


def load_all(given: Given | None, *, max_side: int | None = None) -> list[Picture]:
    """Return the pictures of one source, or of a list of them; [] for None.

    Raises: as `load`.
    """
    if given is None:
        return []
    if isinstance(given, (list, tuple)):
        return [load(one, max_side=max_side) for one in given]
    return [load(given, max_side=max_side)]  # type: ignore[arg-type]


def attach(turns: Sequence[Mapping[str, Any]], given: Given | None) -> list[Mapping[str, Any]]:
    """Return the messages with the pictures put before the text of the last user message.

    Raises:
        NoTurnForPicture: there is no user message; else as `load`.
    """
    parts = [picture.part() for picture in load_all(given)]
    if not parts:
        return list(turns)
    places = [number for number, turn in enumerate(turns) if turn.get("role") == "user"]
    if not places:
        raise NoTurnForPicture()
    content = turns[places[-1]].get("content") or []
    rest = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
    turn = {**turns[places[-1]], "content": [*parts, *rest]}
    return [*turns[: places[-1]], turn, *turns[places[-1] + 1 :]]


def shortened(body: Any, keep: int = 32) -> Any:
    """Return a copy of a request in which each data URL is cut, to be looked at.

    Args:
        body: JSON of a request, for instance `answer.request`.
        keep: characters of a data URL to keep.
    """
    if isinstance(body, Mapping):
        return {name: shortened(value, keep) for name, value in body.items()}
    if isinstance(body, list):
        return [shortened(value, keep) for value in body]
    if isinstance(body, str) and body.startswith("data:") and len(body) > keep:
        return f"{body[:keep]}… ({len(body):,})"
    return body


def _read(source: object) -> tuple[bytes, str, str]:
    """Return a source's bytes, its name for people, and the type that a data URL declares."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source), type(source).__name__, ""
    if isinstance(source, str) and source[:5].lower() == "data:":
        return _from_data_url(source)
    if not isinstance(source, (str, os.PathLike)):
        raise UnknownPictureKind(kind=type(source).__name__)
    if isinstance(source, str):
        _refuse_raw_base64(source)
    name = paths.shown(source)
    try:
        path = Path(source).expanduser()
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):  # reading a device or a pipe may never end
            raise PictureMissing(source=name[:200])
        if found.st_size > picture_bytes.MAX_BYTES:
            raise picture_bytes.too_large(name, f"{found.st_size:,} B")
        return path.read_bytes(), name, ""
    except (OSError, ValueError, RuntimeError) as error:
        raise PictureMissing(source=name[:200], original=paths.shown(error)[:500]) from error


def _from_data_url(url: str) -> tuple[bytes, str, str]:
    found = _DATA.fullmatch(url)
    if found is None or found["more"].lower().rpartition(";")[2] != "base64":
        raise BadDataUrl(begins=url[:40])
    try:
        data = base64.b64decode("".join(found["body"].split()), validate=True)
    except binascii.Error as error:
        raise BadDataUrl(begins=url[:40], original=str(error)) from error
    return data, "data:", found["mime"].lower()


def _refuse_raw_base64(text: str) -> None:
    """Raise where a text is no path but the Base64 of a picture: a name of a file is not that
    long, and does not decode to a picture.
    """
    if not _BASE64.fullmatch(text):
        return
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except binascii.Error:
        return
    if data.startswith(picture_bytes.SIGNATURES):
        raise RawBase64(mime=picture_bytes.inspected(data, "base64").mime)
