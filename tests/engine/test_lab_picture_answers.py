"""The answers that lab 01's notebooks store are what the pictures show, and the stand-in is sure of
them: another machine must not see another answer.
"""

from __future__ import annotations

from typing import Any

import pictures_server
import pytest
from light import lab_texts

from helpers import messages, paths
from helpers.server import Server

LAB = "01_minicpm_v"
IMAGES = paths.ROOT / "assets" / "images"
NUMBER, DIGIT = "number.png", "digit.png"
PRINTED = {NUMBER: "42", DIGIT: "7"}
MARGIN = 0.5
"""Of the two best log-probabilities, in nats, at every token."""


@pytest.mark.parametrize("language", messages.LANGUAGES)
@pytest.mark.parametrize(("question", "names"), [("QUESTION", []), ("DESCRIBE", [NUMBER])])
def test_answer_that_is_compared_strictly_is_right_and_sure(
    pictured: Server, language: str, question: str, names: list[str]
) -> None:
    reply = _asked(pictured, language, question, names, logprobs=True, top_logprobs=2)

    told = pictures_server.answer(reply)
    assert all(PRINTED[name] in told for name in names), told
    assert pictures_server.margin(reply) >= MARGIN, told


@pytest.mark.parametrize("language", messages.LANGUAGES)
@pytest.mark.parametrize("names", [[DIGIT, NUMBER], [NUMBER, DIGIT]], ids=str)
def test_answer_about_two_pictures_follows_their_order(
    pictured: Server, language: str, names: list[str]
) -> None:
    told = pictures_server.answer(_asked(pictured, language, "BOTH", names))

    first, second = (told.find(PRINTED[name]) for name in names)
    assert 0 <= first < second, told


def _asked(
    pictured: Server, language: str, question: str, names: list[str], **options: Any
) -> dict[str, Any]:
    """Return the reply to a question of the lab about pictures of the course."""
    asked = lab_texts.chosen(LAB, language)[question]
    pictures = [(IMAGES / name).read_bytes() for name in names]
    return pictures_server.ask(pictured, asked, pictures, **options)
