"""One typed error per way in which a picture can go wrong, here or at the server.

Not for deciding which: `images` looks at a picture before it is sent, `picture_refusals` reads what
the server said.
"""

from __future__ import annotations

from helpers.errors import LabError, PromptTooLong, RequestRefused


class PictureMissing(LabError):
    """A picture's path does not exist, or cannot be read; values: source."""

    code = "image.missing"


class PictureEmpty(LabError):
    """A picture has no bytes at all; values: source."""

    code = "image.empty"


class NotAPicture(LabError):
    """The bytes are no picture that the server can open; values: source, seen."""

    code = "image.not_a_picture"


class PictureTruncated(LabError):
    """A picture's bytes end too early, or are damaged; values: source."""

    code = "image.truncated"


class PictureTooLarge(LabError):
    """A picture has more pixels or bytes than the server takes; values: source, size, limit."""

    code = "image.too_large"


class RawBase64(LabError):
    """Base64 was given without the `data:…;base64,` before it; values: mime."""

    code = "image.raw_base64"


class BadDataUrl(LabError):
    """A data URL is not `data:TYPE;base64,BASE64`; values: begins."""

    code = "image.bad_data_url"


class PictureNotHere(LabError):
    """Something was asked of a picture by URL that only its bytes can tell; values: url."""

    code = "image.not_here"


class UnknownPictureKind(LabError):
    """A picture is none of path, bytes, PIL image, URL; values: kind."""

    code = "image.unknown_kind"


class NoTurnForPicture(LabError):
    """There is no user message that a picture could be put into."""

    code = "image.no_turn"


class TooManyPictures(RequestRefused):
    """A prompt has more pictures than the server allows; values: status, sent, limit."""

    code = "image.too_many"


class TextOnlyModel(RequestRefused):
    """The model that answers takes text only; values: status, model."""

    code = "image.text_only"


class ServerCannotOpen(RequestRefused):
    """The server found no picture in what it was sent, or fetched; values: status."""

    code = "image.server_cannot_open"


class ServerSawTruncated(RequestRefused):
    """The server found a picture that ends too early; values: status."""

    code = "image.server_saw_truncated"


class BadBase64(RequestRefused):
    """What stands after `base64,` is no Base64; values: status."""

    code = "image.bad_base64"


class NoUrlScheme(RequestRefused):
    """image_url.url is neither an HTTP address nor a data URL, such as raw Base64; values: status,
    begins.
    """

    code = "image.no_scheme"


class DataUrlWithoutBase64(RequestRefused):
    """A data URL does not say `;base64`; values: status."""

    code = "image.data_url_without_base64"


class DomainNotAllowed(RequestRefused):
    """The picture's host is none of --allowed-media-domains; values: status, host, allowed."""

    code = "image.domain"


class FileUrlRefused(RequestRefused):
    """A file:// address, and the server may not read local files; values: status."""

    code = "image.file_url"


class PictureUrlStatus(RequestRefused):
    """The picture's host answered with an error; values: status, answered."""

    code = "image.url_status"


class PictureHostUnreachable(RequestRefused):
    """The server could not connect to the picture's host; values: status, host."""

    code = "image.host_unreachable"


class PictureHostSlow(RequestRefused):
    """The picture's host did not answer in time; values: status."""

    code = "image.host_slow"


class ServerPictureLimit(RequestRefused):
    """A picture exceeds the server's own limit of pixels or bytes; values: status."""

    code = "image.server_limit"


class PicturesTooLong(PromptTooLong):
    """Prompt, pictures and answer do not fit in the context; values: status, max_tokens, sent."""

    code = "image.too_long"
