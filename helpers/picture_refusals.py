"""What a server says no with where pictures are in the request, and the typed error for each.

`refusals` asks here; nothing is sent, and no picture is opened.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from helpers import errors
from helpers import picture_errors as wrong

# Seen on vLLM 0.32. In 0.18 and 0.23 (multimodal/media/connector.py, media/image.py) the texts are
# the same, but the answer of a picture's host comes through as aiohttp words it: "404, message=…".
# A fetch that runs out of time ends in an error without any text.
_CAUSES: tuple[tuple[str, type[errors.RequestRefused]], ...] = (
    (r"At most (?P<limit>\d+) image", wrong.TooManyPictures),
    (r"is not a multimodal model", wrong.TextOnlyModel),
    (
        r"allowed domains: (?P<allowed>\[.*?\])\. Input URL domain: (?P<host>\S*)",
        wrong.DomainNotAllowed,
    ),
    (
        r"must be either a HTTP, data or file URL|Failed to parse: |is empty but multi",
        wrong.NoUrlScheme,
    ),
    (r"Only base64 data URLs|missing ',' separator", wrong.DataUrlWithoutBase64),
    (r"Non-base64 digit|Incorrect padding|Invalid base64", wrong.BadBase64),
    (r"--allowed-local-media-path", wrong.FileUrlRefused),
    (r"of \d+ pixels|VLLM_MAX_MEDIA_DOWNLOAD_SIZE_MB", wrong.ServerPictureLimit),
    (
        r"is truncated|broken PNG|broken data stream|payload is not completed",
        wrong.ServerSawTruncated,
    ),
    (r"cannot identify image file|Failed to load image", wrong.ServerCannotOpen),
    (r"from URL: HTTP (?P<answered>\d+)|(?P<told>\d{3}), message=", wrong.PictureUrlStatus),
    (r"Cannot connect to host (?P<host>\S+)|Connection refused", wrong.PictureHostUnreachable),
    (r'[Tt]imeout|timed out|"message": ?""', wrong.PictureHostSlow),
)
_COMPILED = tuple((re.compile(pattern), kind) for pattern, kind in _CAUSES)


def addresses(body: Mapping[str, Any]) -> list[str]:
    """Return image_url.url of every picture in a request, in order."""
    parts = [
        part
        for turn in body.get("messages", [])
        if isinstance(turn.get("content"), (list, tuple))
        for part in turn["content"]
        if isinstance(part, Mapping) and part.get("type") == "image_url"
    ]
    return [str(part["image_url"].get("url", "")) for part in parts if "image_url" in part]


def refused(status: int, said: str, body: Mapping[str, Any]) -> errors.RequestRefused | None:
    """Return the typed error for a refusal of a request with pictures, or None where it names no
    cause that has to do with them.

    Args:
        status: HTTP status.
        said: the server's own text, which is kept.
        body: the request's JSON.
    """
    sent = addresses(body)
    if not sent:
        return None
    fetched = any(url.lower().startswith("http") for url in sent)
    for pattern, kind in _COMPILED:
        found = pattern.search(said)
        if found is None or (kind is wrong.PictureHostSlow and not fetched):
            continue
        told = {name: value for name, value in found.groupdict().items() if value}
        values: dict[str, Any] = {"host": "?", "answered": told.pop("told", "?"), **told}
        bare = [url for url in sent if "://" not in url and url[:5].lower() != "data:"]
        values |= {"sent": len(sent), "begins": repr(bare[0][:24] if bare else "")}
        return kind(original=said, status=status, model=body.get("model"), **values)
    return None


def too_long(status: int, said: str, body: Mapping[str, Any]) -> errors.PromptTooLong:
    """Return the error for a prompt that does not fit in the context: with pictures, it is they
    that weigh.

    Args: as `refused`.
    """
    told: dict[str, Any] = {"status": status, "max_tokens": body.get("max_tokens")}
    sent = addresses(body)
    if not sent:
        return errors.PromptTooLong(original=said, **told)
    return wrong.PicturesTooLong(original=said, sent=len(sent), **told)
