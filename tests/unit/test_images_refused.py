"""Tests of images: pictures that cannot be sent are refused before anything is, each with its type."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from light.light_pictures import MIMES, encoded
from PIL import Image

from helpers import images, messages, picture_bytes
from helpers.errors import LabError
from helpers.picture_errors import (
    BadDataUrl,
    NotAPicture,
    PictureEmpty,
    PictureMissing,
    PictureNotHere,
    PictureTooLarge,
    PictureTruncated,
    RawBase64,
    UnknownPictureKind,
)


@pytest.fixture(autouse=True)
def english() -> None:
    messages.use("en")


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
    data = encoded(kind, noisy)

    with pytest.raises(PictureTruncated) as caught:
        images.load(data[: len(data) // 2])

    assert caught.value.original


def test_picture_whose_header_alone_is_there_is_truncated() -> None:
    with pytest.raises(PictureTruncated):
        images.load(encoded()[:20])


def test_pil_image_of_a_truncated_file_is_truncated(tmp_path: Path) -> None:
    noisy = Image.effect_noise((200, 200), 90)
    path = tmp_path / "cut.png"
    path.write_bytes(encoded("PNG", noisy)[:9000])

    with Image.open(path) as lazy, pytest.raises(PictureTruncated):
        images.load(lazy)


def test_picture_with_too_many_pixels_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_bytes, "MAX_PIXELS", 199)

    with pytest.raises(PictureTooLarge) as caught:
        images.load(encoded())

    assert "20×10" in caught.value.what


def test_picture_that_pillow_calls_a_bomb_is_too_large() -> None:
    huge = encoded("PNG", Image.new("1", (14_000, 14_000)))  # 196 million pixels in a few kB

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
        images.load(encoded())


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_raw_base64_is_told_with_the_beginning_that_it_lacks(kind: str) -> None:
    with pytest.raises(RawBase64) as caught:
        images.load(base64.b64encode(encoded(kind)).decode())

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


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_errors_of_pictures_are_told_in_both_languages(language: str, tmp_path: Path) -> None:
    bad: list[Any] = [tmp_path / "gone.png", b"", b"<html>", encoded()[:40], 3]
    errors: list[LabError] = []
    for source in bad:
        with pytest.raises(LabError) as caught:
            images.load(source)
        errors.append(caught.value)

    assert len({type(error) for error in errors}) == len(bad)
    assert all(error.told(language).startswith(f"[{error.code}] ") for error in errors)
