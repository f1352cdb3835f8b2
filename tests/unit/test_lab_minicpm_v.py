"""Lab 01 without running it: its questions, its figures, its picture of where the pixels go."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from light import lab_texts

from helpers import catalog, image_tokens, messages, paths

LAB = "01_minicpm_v"
IMAGES = paths.ROOT / "assets" / "images"
LIMIT_IMAGES = 10
sys.path.insert(0, str(paths.STANDINS))

from train.pictures import asks, facts  # noqa: E402


def _drawing() -> ModuleType:
    spec = importlib.util.spec_from_file_location("draw_pixels", IMAGES / "draw_pixels.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_questions_of_the_lab_are_those_that_the_stand_in_has_practised(language: str) -> None:
    asked = lab_texts.chosen(LAB, language)

    known = [fact.questions[0] for fact in facts.FACTS if fact.lang == language]
    assert asked["QUESTION"] in known
    assert asked["DESCRIBE"] == asks.ABOUT_ONE["describe"][language][0]
    assert asked["BOTH"] == asks.DIFFERENCE[language][0]


@pytest.mark.parametrize("name", ["number.png", "digit.png", "medium.jpg", "large.png"])
def test_pictures_that_the_lab_names_are_there(name: str) -> None:
    assert f'"{name}"' in "\n".join(lab_texts.cells(LAB, "zh"))
    assert (IMAGES / name).is_file()


@pytest.mark.parametrize("engine", ["ascend", "cpu"])
def test_context_of_the_course_is_the_least_that_holds_the_pictures(engine: str) -> None:
    """Pictures whose size nobody knows count as the most that one costs."""
    unknown = [f"http://127.0.0.1/{number}.png" for number in range(LIMIT_IMAGES)]
    course = catalog.lab(LAB)["values"][engine]["max_model_len"]

    fits, less = (
        image_tokens.budget(unknown, max_model_len=length, text_tokens=300, max_tokens=512).fits
        for length in (course, course - image_tokens.ROUND)
    )

    assert fits and not less


def test_original_context_holds_two_large_pictures_with_an_answer_and_three_without() -> None:
    large = [IMAGES / "large.png"] * 4

    held = {
        answer: max(
            count
            for count in range(1, 5)
            if image_tokens.budget(large[:count], max_model_len=2048, max_tokens=answer).fits
        )
        for answer in (128, 0)
    }

    assert held == {128: 2, 0: 3}


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_drawing_on_disk_is_what_its_script_draws(language: str) -> None:
    drawn = _drawing().picture(language)

    assert Path(IMAGES / f"01_pixels.{language}.svg").read_text(encoding="utf-8") == drawn
