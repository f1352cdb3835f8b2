"""Tests of images: what becomes of a path, bytes, PIL images and addresses, and what is refused."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from helpers import images, messages, picture_bytes
from helpers.errors import BadOption, LabError
from helpers.picture_errors import (
    BadDataUrl,
    NotAPicture,
    NoTurnForPicture,
    PictureEmpty,
    PictureMissing,
    PictureNotHere,
    PictureTooLarge,
    PictureTruncated,
    RawBase64,
    UnknownPictureKind,
)

MIMES = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "WEBP": "image/webp",
    "GIF": "image/gif",
    "BMP": "image/bmp",
    "TIFF": "image/tiff",
}
SIDEWAYS = 6  # EXIF orientation: to be turned by 90°
TURN = 0x0112  # EXIF tag of the orientation


@pytest.fixture(autouse=True)
def english() -> None:
    messages.use("en")


def _picture(size: tuple[int, int] = (20, 10), mode: str = "RGB") -> Image.Image:
    """Return a picture whose left half differs from its right."""
    image = Image.new("RGB", size, "red")
    image.paste((0, 0, 255), (size[0] // 2, 0, *size))
    return image.convert(mode)


def _bytes(kind: str = "PNG", image: Image.Image | None = None, **options: Any) -> bytes:
    buffer = io.BytesIO()
    (image or _picture()).save(buffer, kind, **options)
    return buffer.getvalue()


def _sideways(kind: str = "JPEG") -> bytes:
    exif = Image.Exif()
    exif[TURN] = SIDEWAYS
    return _bytes(kind, exif=exif)


def _data(picture: images.Picture) -> bytes:
    return base64.b64decode(picture.url.partition(",")[2])


@pytest.mark.parametrize("kind", MIMES)
def test_bytes_of_a_format_get_its_type_and_are_sent_unchanged(kind: str) -> None:
    data = _bytes(kind)

    picture = images.load(data)

    assert picture.url.startswith(f"data:{MIMES[kind]};base64,")
    assert _data(picture) == data
    assert (picture.mime, picture.size, picture.length) == (MIMES[kind], (20, 10), len(data))


def test_path_with_a_wrong_ending_gets_the_type_of_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "photo.jpg"
    path.write_bytes(_bytes("PNG"))

    assert images.load(path).mime == images.load(str(path)).mime == "image/png"


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview])
def test_bytes_of_any_kind_are_taken(wrap: Any) -> None:
    assert _data(images.load(wrap(_bytes()))) == _bytes()


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "HSV", "YCbCr"])
def test_pil_image_of_any_mode_is_sent_as_png_with_its_pixels(mode: str) -> None:
    image = _picture(mode=mode)

    sent = Image.open(io.BytesIO(_data(images.load(image))))

    assert sent.format == "PNG"
    assert sent.convert("RGB").tobytes() == image.convert("RGB").tobytes()


def test_pil_image_is_sent_as_it_shows_without_its_exif() -> None:
    shown = Image.open(io.BytesIO(_sideways()))

    picture = images.load(shown)

    assert picture.size == shown.size == (20, 10)
    assert Image.open(io.BytesIO(_data(picture))).getexif().get(TURN) is None


@pytest.mark.parametrize("address", ["http://host/a.png", "HTTPS://host/a", "file:///a.png"])
def test_address_is_passed_on_without_being_fetched(address: str) -> None:
    picture = images.load(address)

    assert (picture.url, picture.mime, picture.size) == (address, None, None)
    assert "server fetches" in str(picture)


def test_data_url_is_taken_and_its_type_put_right() -> None:
    given = f"data:image/jpeg;base64,{base64.b64encode(_bytes('PNG')).decode()}"

    picture = images.load(given)

    assert picture.url.startswith("data:image/png;base64,")
    assert "image/jpeg" in picture.remarks[0]


def test_data_url_with_the_right_type_and_line_breaks_has_no_remark() -> None:
    body = base64.encodebytes(_bytes("PNG", _picture((200, 100)))).decode()

    picture = images.load(f"data:image/png;base64,{body}")

    assert picture.remarks == ()
    assert "\n" not in picture.url


@pytest.mark.parametrize(
    ("image", "options", "remark"),
    [
        (_picture(mode="RGBA"), {}, "transparency"),
        (_picture(mode="P"), {"transparency": 0}, "transparency"),
        (_picture(mode="P"), {}, "colour mode is P"),
        (_picture(mode="L"), {}, "colour mode is L"),
    ],
    ids=["rgba", "palette-transparent", "palette", "grey"],
)
def test_colour_mode_is_left_to_the_server_and_explained(
    image: Image.Image, options: dict[str, Any], remark: str
) -> None:
    data = _bytes("PNG", image, **options)

    picture = images.load(data)

    assert _data(picture) == data
    assert remark in "\n".join(picture.remarks)


def test_cmyk_jpeg_is_left_to_the_server_and_explained() -> None:
    picture = images.load(_bytes("JPEG", _picture(mode="CMYK")))

    assert (picture.mime, picture.mode) == ("image/jpeg", "CMYK")
    assert "CMYK" in picture.remarks[0]


def test_sideways_photo_is_left_to_the_server_and_measured_upright() -> None:
    data = _sideways()

    picture = images.load(data)

    assert _data(picture) == data
    assert picture.size == (10, 20)
    assert "upright=True" in picture.remarks[0]


@pytest.mark.parametrize(("kind", "mime"), [("JPEG", "image/jpeg"), ("PNG", "image/png")])
def test_sideways_photo_made_upright_is_turned_for_good(kind: str, mime: str) -> None:
    picture = images.load(_sideways(kind), upright=True)

    turned = Image.open(io.BytesIO(_data(picture)))
    assert (turned.size, turned.getexif().get(TURN), picture.mime) == ((10, 20), None, mime)


def test_animation_is_explained() -> None:
    second = Image.new("RGB", (20, 10), "green")

    picture = images.load(_bytes("GIF", save_all=True, append_images=[second]))

    assert any("frames" in remark for remark in picture.remarks)


def test_picture_is_made_smaller_only_where_asked() -> None:
    data = _bytes("PNG", _picture((400, 100)))

    untouched, smaller = images.load(data), images.load(data, max_side=100)

    assert (untouched.size, smaller.size) == ((400, 100), (100, 25))
    assert "400×100" in smaller.remarks[0]


def test_picture_that_is_small_enough_stays_as_it_is() -> None:
    data = _bytes()

    assert _data(images.load(data, max_side=20, upright=True)) == data


def test_picture_given_again_is_the_same_and_can_be_made_smaller() -> None:
    picture = images.load(_bytes("PNG", _picture((400, 100))))

    assert images.load(picture) is picture
    assert images.load(picture, max_side=40).size == (40, 10)


@pytest.mark.parametrize("side", [0, -1, True])
def test_side_that_no_picture_can_have_is_refused(side: int) -> None:
    with pytest.raises(BadOption, match="max_side"):
        images.load(_bytes(), max_side=side)


def test_missing_path_names_it_and_keeps_the_systems_text(tmp_path: Path) -> None:
    with pytest.raises(PictureMissing) as caught:
        images.load(tmp_path / "gone.png")

    assert "gone.png" in caught.value.what
    assert "No such file" in str(caught.value.original)


@pytest.mark.parametrize(
    "source", ["", ".", "/dev/zero", "~no-such-user/a.png", "a\0b", "x" * 5000]
)
def test_path_that_is_no_file_is_told_as_missing(source: str) -> None:
    with pytest.raises(PictureMissing):
        images.load(source)


@pytest.mark.parametrize("source", [b"", Image.new("RGB", (0, 0)), "data:image/png;base64,"])
def test_picture_without_bytes_or_pixels_is_empty(source: Any) -> None:
    with pytest.raises(PictureEmpty):
        images.load(source)


def test_file_without_bytes_is_empty_and_named(tmp_path: Path) -> None:
    path = tmp_path / "zero.png"
    path.touch()

    with pytest.raises(PictureEmpty, match=r"zero\.png"):
        images.load(path)


@pytest.mark.parametrize(
    "data",
    [
        b"<!DOCTYPE html><html>please log in</html>",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0",
        b"%PDF-1.7",
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 1 1\n",
        b"\0\0\0\x18ftypheic",
    ],
    ids=["html", "svg", "lfs", "pdf", "eps", "heic"],
)
def test_bytes_that_are_no_picture_are_told_with_their_beginning(data: bytes) -> None:
    with pytest.raises(NotAPicture) as caught:
        images.load(data)

    assert repr(data[:24]) in caught.value.why
    assert "0x" not in str(caught.value.original)


@pytest.mark.parametrize("kind", MIMES)
def test_picture_that_ends_too_early_is_truncated(kind: str) -> None:
    noisy = Image.effect_noise((200, 200), 90).convert("RGB")
    data = _bytes(kind, noisy)

    with pytest.raises(PictureTruncated) as caught:
        images.load(data[: len(data) // 2])

    assert caught.value.original


def test_picture_whose_header_alone_is_there_is_truncated() -> None:
    with pytest.raises(PictureTruncated):
        images.load(_bytes()[:20])


def test_pil_image_of_a_truncated_file_is_truncated(tmp_path: Path) -> None:
    noisy = Image.effect_noise((200, 200), 90)
    path = tmp_path / "cut.png"
    path.write_bytes(_bytes("PNG", noisy)[:9000])

    with Image.open(path) as lazy, pytest.raises(PictureTruncated):
        images.load(lazy)


def test_picture_with_too_many_pixels_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_bytes, "MAX_PIXELS", 199)

    with pytest.raises(PictureTooLarge) as caught:
        images.load(_bytes())

    assert "20×10" in caught.value.what


def test_picture_that_pillow_calls_a_bomb_is_too_large() -> None:
    huge = _bytes("PNG", Image.new("1", (14_000, 14_000)))  # 196 million pixels in a few kB

    with pytest.raises(PictureTooLarge) as caught:
        images.load(huge)

    assert f"{picture_bytes.MAX_PIXELS:,}" in caught.value.why


def test_file_with_too_many_bytes_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "sparse.png"
    with path.open("wb") as file:
        file.truncate(picture_bytes.MAX_BYTES + 1)

    with pytest.raises(PictureTooLarge, match=r"sparse\.png"):
        images.load(path)


def test_bytes_with_too_many_bytes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_bytes, "MAX_BYTES", 10)

    with pytest.raises(PictureTooLarge):
        images.load(_bytes())


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_raw_base64_is_told_with_the_beginning_that_it_lacks(kind: str) -> None:
    with pytest.raises(RawBase64) as caught:
        images.load(base64.b64encode(_bytes(kind)).decode())

    assert f"data:{MIMES[kind]};base64," in caught.value.next


def test_long_name_of_letters_is_a_path_and_not_base64() -> None:
    with pytest.raises(PictureMissing):
        images.load("a" * 80)


@pytest.mark.parametrize(
    "url",
    [
        "data:image/png,abc",
        "data:image/png;base64",
        "data:image/png;base64,%%%",
        "data:image/png;base64,abc",
        "data:;charset=utf-8,abc",
    ],
)
def test_data_url_of_another_form_is_refused(url: str) -> None:
    with pytest.raises(BadDataUrl) as caught:
        images.load(url)

    assert url[:14] in caught.value.what


@pytest.mark.parametrize("source", [3, 3.5, {"a": 1}, object()])
def test_source_of_an_unknown_kind_is_named(source: Any) -> None:
    with pytest.raises(UnknownPictureKind) as caught:
        images.load(source)

    assert type(source).__name__ in caught.value.what


@pytest.mark.parametrize("change", [{"max_side": 10}, {"upright": True}])
def test_address_cannot_be_changed_here(change: dict[str, Any]) -> None:
    with pytest.raises(PictureNotHere, match="never sees"):
        images.load("http://host/a.png", **change)


def test_attach_puts_pictures_before_the_text_of_the_last_user_turn() -> None:
    turns = [
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": "last"},
    ]

    told = images.attach(turns, ["http://host/1.png", "http://host/2.png"])

    urls = [part["image_url"]["url"] for part in told[2]["content"][:2]]
    assert urls == ["http://host/1.png", "http://host/2.png"]
    assert told[2]["content"][2] == {"type": "text", "text": "last"}
    assert told[:2] == turns[:2]
    assert turns[2]["content"] == "last"


def test_attach_keeps_the_parts_that_a_turn_has() -> None:
    part = {"type": "text", "text": "hello"}

    told = images.attach([{"role": "user", "content": [part]}], "http://host/1.png")

    assert [one["type"] for one in told[0]["content"]] == ["image_url", "text"]


@pytest.mark.parametrize("nothing", [None, []])
def test_attach_of_nothing_changes_nothing(nothing: Any) -> None:
    turns = [{"role": "user", "content": "hello"}]

    assert images.attach(turns, nothing) == turns


def test_attach_without_a_user_turn_is_refused() -> None:
    with pytest.raises(NoTurnForPicture):
        images.attach([{"role": "system", "content": "x"}], "http://host/1.png")


def test_shortened_request_cuts_data_urls_and_nothing_else() -> None:
    body = {"n": 1, "messages": images.attach([{"role": "user", "content": "hi"}], [_bytes()])}

    short = images.shortened(body, keep=30)

    url = short["messages"][0]["content"][0]["image_url"]["url"]
    assert url.startswith("data:image/png;base64,iVBORw0K…")
    assert short["messages"][0]["content"][1] == {"type": "text", "text": "hi"}
    assert len(body["messages"][0]["content"][0]["image_url"]["url"]) > len(url)


def test_picture_shows_what_it_is_and_never_its_base64() -> None:
    assert str(images.load(_bytes())).startswith("PNG · 20×10 · RGB · ")
    assert repr(images.load(_bytes())) == str(images.load(_bytes()))


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_errors_of_pictures_are_told_in_both_languages(language: str, tmp_path: Path) -> None:
    bad: list[Any] = [tmp_path / "gone.png", b"", b"<html>", _bytes()[:40], 3]
    errors: list[LabError] = []
    for source in bad:
        with pytest.raises(LabError) as caught:
            images.load(source)
        errors.append(caught.value)

    assert len({type(error) for error in errors}) == len(bad)
    assert all(error.told(language).startswith(f"[{error.code}] ") for error in errors)
