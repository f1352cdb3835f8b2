"""Tests of images: what becomes of a path, bytes, PIL images and addresses."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import pytest
from light import light_pictures as made
from light.light_pictures import MIMES, ORIENTATION, encoded, sideways
from PIL import Image

from helpers import images, messages
from helpers.errors import BadOption
from helpers.picture_errors import NoTurnForPicture


@pytest.fixture(autouse=True)
def english() -> None:
    messages.use("en")


def _data(picture: images.Picture) -> bytes:
    return base64.b64decode(picture.url.partition(",")[2])


@pytest.mark.parametrize("kind", MIMES)
def test_bytes_of_a_format_get_its_type_and_are_sent_unchanged(kind: str) -> None:
    data = encoded(kind)

    picture = images.load(data)

    assert picture.url.startswith(f"data:{MIMES[kind]};base64,")
    assert _data(picture) == data
    assert (picture.mime, picture.size, picture.length) == (MIMES[kind], (20, 10), len(data))


def test_path_with_a_wrong_ending_gets_the_type_of_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "photo.jpg"
    path.write_bytes(encoded("PNG"))

    assert images.load(path).mime == images.load(str(path)).mime == "image/png"


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview])
def test_bytes_of_any_kind_are_taken(wrap: Any) -> None:
    assert _data(images.load(wrap(encoded()))) == encoded()


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "HSV", "YCbCr"])
def test_pil_image_of_any_mode_is_sent_as_png_with_its_pixels(mode: str) -> None:
    image = made.picture(mode=mode)

    sent = Image.open(io.BytesIO(_data(images.load(image))))

    assert sent.format == "PNG"
    assert sent.convert("RGB").tobytes() == image.convert("RGB").tobytes()


def test_pil_image_is_sent_as_it_shows_without_its_exif() -> None:
    shown = Image.open(io.BytesIO(sideways()))

    picture = images.load(shown)

    assert picture.size == shown.size == (20, 10)
    assert Image.open(io.BytesIO(_data(picture))).getexif().get(ORIENTATION) is None


@pytest.mark.parametrize("address", ["http://host/a.png", "HTTPS://host/a", "file:///a.png"])
def test_address_is_passed_on_without_being_fetched(address: str) -> None:
    picture = images.load(address)

    assert (picture.url, picture.mime, picture.size) == (address, None, None)
    assert "server fetches" in str(picture)


def test_data_url_is_taken_and_its_type_put_right() -> None:
    given = f"data:image/jpeg;base64,{base64.b64encode(encoded('PNG')).decode()}"

    picture = images.load(given)

    assert picture.url.startswith("data:image/png;base64,")
    assert "image/jpeg" in picture.remarks[0]


def test_data_url_with_the_right_type_and_line_breaks_has_no_remark() -> None:
    body = base64.encodebytes(encoded("PNG", made.picture((200, 100)))).decode()

    picture = images.load(f"data:image/png;base64,{body}")

    assert picture.remarks == ()
    assert "\n" not in picture.url


@pytest.mark.parametrize(
    ("image", "options", "remark"),
    [
        (made.picture(mode="RGBA"), {}, "transparency"),
        (made.picture(mode="P"), {"transparency": 0}, "transparency"),
        (made.picture(mode="P"), {}, "colour mode is P"),
        (made.picture(mode="L"), {}, "colour mode is L"),
    ],
    ids=["rgba", "palette-transparent", "palette", "grey"],
)
def test_colour_mode_is_left_to_the_server_and_explained(
    image: Image.Image, options: dict[str, Any], remark: str
) -> None:
    data = encoded("PNG", image, **options)

    picture = images.load(data)

    assert _data(picture) == data
    assert remark in "\n".join(picture.remarks)


def test_cmyk_jpeg_is_left_to_the_server_and_explained() -> None:
    picture = images.load(encoded("JPEG", made.picture(mode="CMYK")))

    assert (picture.mime, picture.mode) == ("image/jpeg", "CMYK")
    assert "CMYK" in picture.remarks[0]


def test_sideways_photo_is_left_to_the_server_and_measured_upright() -> None:
    data = sideways()

    picture = images.load(data)

    assert _data(picture) == data
    assert picture.size == (10, 20)
    assert "upright=True" in picture.remarks[0]


@pytest.mark.parametrize(("kind", "mime"), [("JPEG", "image/jpeg"), ("PNG", "image/png")])
def test_sideways_photo_made_upright_is_turned_for_good(kind: str, mime: str) -> None:
    picture = images.load(sideways(kind), upright=True)

    turned = Image.open(io.BytesIO(_data(picture)))
    assert (turned.size, turned.getexif().get(ORIENTATION), picture.mime) == ((10, 20), None, mime)


def test_animation_is_explained() -> None:
    second = Image.new("RGB", (20, 10), "green")

    picture = images.load(encoded("GIF", save_all=True, append_images=[second]))

    assert any("frames" in remark for remark in picture.remarks)


def test_picture_is_made_smaller_only_where_asked() -> None:
    data = encoded("PNG", made.picture((400, 100)))

    untouched, smaller = images.load(data), images.load(data, max_side=100)

    assert (untouched.size, smaller.size) == ((400, 100), (100, 25))
    assert "400×100" in smaller.remarks[0]


def test_picture_that_is_small_enough_stays_as_it_is() -> None:
    data = encoded()

    assert _data(images.load(data, max_side=20, upright=True)) == data


def test_picture_given_again_is_the_same_and_can_be_made_smaller() -> None:
    picture = images.load(encoded("PNG", made.picture((400, 100))))

    assert images.load(picture) is picture
    assert images.load(picture, max_side=40).size == (40, 10)


@pytest.mark.parametrize("side", [0, -1, True])
def test_side_that_no_picture_can_have_is_refused(side: int) -> None:
    with pytest.raises(BadOption, match="max_side"):
        images.load(encoded(), max_side=side)


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
    body = {"n": 1, "messages": images.attach([{"role": "user", "content": "hi"}], [encoded()])}

    short = images.shortened(body, keep=30)

    url = short["messages"][0]["content"][0]["image_url"]["url"]
    assert url.startswith("data:image/png;base64,iVBORw0K…")
    assert short["messages"][0]["content"][1] == {"type": "text", "text": "hi"}
    assert len(body["messages"][0]["content"][0]["image_url"]["url"]) > len(url)


def test_picture_shows_what_it_is_and_never_its_base64() -> None:
    assert str(images.load(encoded())).startswith("PNG · 20×10 · RGB · ")
    assert repr(images.load(encoded())) == str(images.load(encoded()))
