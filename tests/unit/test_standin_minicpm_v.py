"""The picture stand-in without a server: its files, its slicing, its pictures, their separation."""

from __future__ import annotations

import importlib.util
import json
import random
import sys
from pathlib import Path
from types import ModuleType

import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
STANDINS = ROOT / "assets" / "standins"
MODEL = STANDINS / "minicpm_v"
IMAGES = ROOT / "assets" / "images"
sys.path.insert(0, str(STANDINS))

from train.pictures import draw, facts, scene, trial, words  # noqa: E402

MEGABYTE = 1_000_000
MODES = ("1", "L", "LA", "P", "PA", "RGB", "RGBA", "CMYK", "YCbCr", "HSV", "I", "F")


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


slicing = _load(MODEL / "slicing.py")
draw_pictures = _load(IMAGES / "draw_pictures.py")


def _json(name: str) -> dict:
    return json.loads((MODEL / name).read_text(encoding="utf-8"))


def test_model_folder_is_complete_and_at_most_six_megabytes() -> None:
    files = {path.name: path.stat().st_size for path in MODEL.iterdir() if path.is_file()}

    assert {
        "README.md",
        "chat_template.jinja",
        "config.json",
        "generation_config.json",
        "model.safetensors",
        "preprocessor_config.json",
        "slicing.py",
        "tokenizer.json",
        "tokenizer_config.json",
    } <= set(files)
    assert sum(files.values()) <= 6 * MEGABYTE


def test_config_is_a_minicpm_v_4_5_and_says_stand_in() -> None:
    config = _json("config.json")

    assert (config["architectures"], config["version"]) == (["MiniCPMV"], "4.5")
    assert config["stand_in"] is True
    assert config["stand_in_for"] == "MiniCPM-V-4_5"


def test_code_that_the_configs_name_lies_beside_the_weights() -> None:
    named = [*_json("config.json")["auto_map"].values()]
    named += _json("preprocessor_config.json")["auto_map"].values()

    missing = [name for name in named if not (MODEL / f"{name.partition('.')[0]}.py").is_file()]

    assert len(named) == 3
    assert missing == []


def test_preprocessor_and_config_agree_on_the_visual_tokens() -> None:
    config, preprocessor = _json("config.json"), _json("preprocessor_config.json")

    assert preprocessor["image_feature_size"] == config["query_num"] == 64
    assert preprocessor["scale_resolution"] == config["image_size"] == 448
    assert preprocessor["max_slice_nums"] == config["max_slice_num"] == 9
    assert preprocessor["patch_size"] == config["vision_config"]["patch_size"]


@pytest.mark.parametrize("size", [(1, 1), (37, 500), (448, 448), (900, 600), (2000, 1500)])
def test_slices_are_whole_patches_of_about_the_area_of_one(size: tuple[int, int]) -> None:
    pieces = slicing.slice_image(Image.new("RGB", size), 9, 448, 56)

    columns, rows = slicing.sliced_grid(size, 9, 448) or (0, 0)
    assert len(pieces) == 1 + columns * rows
    for piece in pieces:
        assert (piece.width % 56, piece.height % 56) == (0, 0)
        assert piece.width * piece.height <= 1.35 * 448**2


@pytest.mark.parametrize("mode", MODES)
def test_slicing_takes_every_mode_of_pillow(mode: str) -> None:
    pieces = slicing.slice_image(Image.new(mode, (500, 500)), 9, 448, 56)

    assert {piece.mode for piece in pieces} == {"RGB"}
    assert len(pieces) > 1


def test_lab_pictures_are_a_dozen_in_both_formats_wide_tall_and_large() -> None:
    formats, sizes = [], []
    for lab in draw_pictures.PICTURES:
        with Image.open(IMAGES / lab.name) as image:
            formats.append(image.format)
            sizes.append(image.size)

    ratios = [width / height for width, height in sizes]
    assert len(sizes) >= 12
    assert min(formats.count("PNG"), formats.count("JPEG")) >= 3
    assert max(ratios) >= 1.7
    assert min(ratios) <= 0.6
    assert (3, 3) in [slicing.sliced_grid(size, 9, 448) for size in sizes]


def test_lab_pictures_are_drawn_again_byte_for_byte(tmp_path: Path) -> None:
    draw_pictures.write(tmp_path)

    changed = [
        lab.name
        for lab in draw_pictures.PICTURES
        if (tmp_path / lab.name).read_bytes() != (IMAGES / lab.name).read_bytes()
    ]

    assert changed == []


def test_lab_pictures_show_held_out_scenes() -> None:
    trained = [lab.name for lab in draw_pictures.PICTURES if not scene.is_held_out(lab.scene)]

    assert trained == []


def test_training_scenes_are_never_held_out() -> None:
    rng = random.Random(0)

    drawn = [scene.training_scene(rng) for _ in range(20_000)]

    assert not any(scene.is_held_out(one) for one in drawn)
    assert {one.shape for one in drawn} == {"", *scene.SHAPES}


def test_trial_pictures_are_sixty_half_of_them_numbers() -> None:
    drawn = trial.drawn()

    assert len(drawn) == 60
    assert sum(bool(one.scene.number) for one in drawn) == 30


def test_trial_questions_without_an_answer_are_not_in_the_training() -> None:
    tested = {question for group in facts.TESTED_UNKNOWN.values() for question in group}
    trained = {question for group in facts.ASKED_UNKNOWN.values() for question in group}
    trained |= {question for fact in facts.FACTS for question in fact.questions}

    assert tested & trained == set()


def test_every_shape_or_digit_drawn_is_marked_inside_the_picture() -> None:
    rng = random.Random(1)

    for what in [scene.any_scene(rng, 0.3) for _ in range(60)]:
        image, marks = draw.marked(what, (240, 140), 5)
        assert len(marks) == (len(what.number) or what.count)
        assert all(0 < mark.x < image.width and 0 < mark.y < image.height for mark in marks)


@pytest.mark.parametrize("lang", words.LANGUAGES)
def test_judges_accept_the_right_answer_and_refuse_another(lang: str) -> None:
    right = scene.Scene("red", "white", "circle", 3)
    wrong = scene.Scene("blue", "white", "square", 2)
    answers = {"colour": words.colour, "shape": words.shape, "count": words.count}

    for case in trial.about_one((trial.Drawn(right, b""),), lang):
        answer = answers[case.group.partition(" ")[0]]
        assert case.judge(answer(right, lang))
        assert not case.judge(answer(wrong, lang))


def test_card_says_what_it_is_in_both_languages() -> None:
    card = (MODEL / "README.md").read_text(encoding="utf-8")

    assert "STAND-IN for MiniCPM-V-4_5" in card
    assert "## 中文" in card
    assert "## English" in card
