"""Pictures that only look wrong, on the real multimodal server: other colour modes, lying photos, a
wrong type in the data URL. They are answered as their plain twins.
"""

from __future__ import annotations

import base64
import io
from typing import Any

import pytest
from light.light_pictures import drawn, encoded, sideways
from PIL import Image

from helpers import chat, images
from helpers.server import Server

QUESTION = "Describe this picture."
GREEDY = {"temperature": 0.0, "max_tokens": 24}


def _seen(server: Server, source: Any) -> tuple[str, int, list[float]]:
    """Return what the model answers to a picture, the prompt's tokens, and how sure it was."""
    body = chat.request(
        QUESTION, server.served_model_name, None, None, source, logprobs=True, **GREEDY
    )
    reply = server.session.post(f"{server.base_url}/v1/chat/completions", json=body, timeout=120)
    reply.raise_for_status()
    told = reply.json()
    choice = told["choices"][0]
    sure = [token["logprob"] for token in choice["logprobs"]["content"]]
    return choice["message"]["content"], told["usage"]["prompt_tokens"], sure


def _assert_same(one: tuple[str, int, list[float]], other: tuple[str, int, list[float]]) -> None:
    assert one[:2] == other[:2]
    assert one[2] == pytest.approx(other[2], abs=0.02)


def _on_white(image: Image.Image) -> Image.Image:
    white = Image.new("RGB", image.size, "white")
    white.paste(image, mask=image.getchannel("A"))
    return white


def _with_hole() -> Image.Image:
    image = drawn().convert("RGBA")
    image.paste((0, 200, 0, 0), (250, 20, 430, 200))  # green, but wholly transparent
    return image


PALETTE = drawn().convert("P", palette=Image.Palette.ADAPTIVE)
CMYK = encoded("JPEG", drawn().convert("CMYK"))
TWINS: dict[str, tuple[bytes, Image.Image]] = {
    "opaque RGBA": (encoded("PNG", drawn().convert("RGBA")), drawn()),
    "transparent RGBA": (encoded("PNG", _with_hole()), _on_white(_with_hole())),
    "palette": (encoded("PNG", PALETTE), PALETTE.convert("RGB")),
    "CMYK": (CMYK, Image.open(io.BytesIO(CMYK)).convert("RGB")),
    "grey": (encoded("PNG", drawn().convert("L")), drawn().convert("L").convert("RGB")),
}


@pytest.mark.parametrize("case", TWINS)
def test_picture_in_another_colour_mode_is_seen_as_its_rgb_twin(
    pictured: Server, case: str
) -> None:
    odd, plain = TWINS[case]

    _assert_same(_seen(pictured, odd), _seen(pictured, plain))


def test_sideways_photo_is_seen_upright(pictured: Server) -> None:
    """vLLM 0.32 turns it; a grid of one column has a line break more than one of one row."""
    photo = sideways("JPEG", drawn((896, 448)))
    turned = images.load(photo, upright=True)

    as_it_is, upright = _seen(pictured, photo), _seen(pictured, turned)

    lying = _seen(pictured, Image.open(io.BytesIO(photo)))
    assert as_it_is[1] == upright[1] == lying[1] + 1


def test_wrong_type_in_a_data_url_is_ignored_by_the_server(pictured: Server) -> None:
    body = base64.b64encode(encoded("PNG", drawn())).decode()
    urls = [f"data:{mime};base64,{body}" for mime in ("image/png", "text/html")]
    parts = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    asked = [[part, {"type": "text", "text": QUESTION}] for part in parts]

    answers = [
        chat.ask([{"role": "user", "content": content}], server=pictured, **GREEDY)
        for content in asked
    ]

    assert answers[0].text == answers[1].text
    assert answers[0].usage == answers[1].usage
