"""The trial of a served picture stand-in: which pictures, which questions, what counts as right.

Standard library and Pillow. The pictures are drawn with a seed that the training does not use, at
square sizes and others; groups that ask about held-out scenes say so.
"""

from __future__ import annotations

import base64
import io
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from . import asks, draw, facts, scene, words

SEED, PICTURES = 20260, 60
"""The training's seeds are those of __main__.py; TRIAL pictures have a name of their own too."""
SIZES = ((224, 224), (320, 320), (448, 448), (400, 300), (300, 400), (560, 340))
Judge = Callable[[str], bool]


@dataclass(frozen=True)
class Case:
    """One question, the pictures it is about (files), and how its answer is judged."""

    group: str
    question: str
    files: tuple[bytes, ...]
    judge: Judge


def file_of(what: scene.Scene, size: tuple[int, int], seed: int) -> bytes:
    """Return the picture of a scene as a PNG file."""
    buffer = io.BytesIO()
    draw.picture(what, size, seed).save(buffer, "PNG")
    return buffer.getvalue()


def data_url(data: bytes) -> str:
    """Return the data URL of a PNG file."""
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


@dataclass(frozen=True)
class Drawn:
    """A scene with its picture's file."""

    scene: scene.Scene
    file: bytes


@lru_cache(maxsize=4)
def drawn(seed: int = SEED, count: int = PICTURES) -> tuple[Drawn, ...]:
    """Return pictures, every second one a printed number, none of a held-out scene."""
    rng = random.Random(f"trial {seed}")
    found: list[Drawn] = []
    while len(found) < count:
        what = scene.training_scene(rng, numbers=float(len(found) % 2))
        size = SIZES[len(found) // 2 % len(SIZES)]
        if what.number and size[0] < size[1]:
            size = (size[1], size[0])
        found.append(Drawn(what, file_of(what, size, rng.randrange(10**9))))
    return tuple(found)


@lru_cache(maxsize=1)
def held_out() -> tuple[Drawn, ...]:
    """Return pictures of scenes that the training never drew, in whatever place or size."""
    rng = random.Random(f"held out {SEED}")
    scenes = [
        scene.Scene(colour, rng.choice(list(scene.BACKGROUNDS)), shape, count)
        for colour, shape, count, _ in sorted(scene.HELD_OUT)
    ]
    scenes += [
        scene.Scene(rng.choice(list(scene.COLOURS)), rng.choice(list(scene.BACKGROUNDS)), number=n)
        for n in sorted(scene.HELD_OUT_NUMBERS)
    ]
    return tuple(Drawn(what, file_of(what, (336, 336), index)) for index, what in enumerate(scenes))


def holds(*values: str) -> Judge:
    """Return a judge: each value is in the answer as a word or, in Chinese, as a piece."""
    return lambda answer: all(
        re.search(rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])", answer) for value in values
    )


def _exactly(text: str) -> Judge:
    return lambda answer: answer == text


def _one(kind: str, what: scene.Scene, lang: str) -> Judge:
    """Return the judge of the answer to one question: the value alone decides."""
    if kind == "number":
        return holds(what.number)
    if kind == "colour":
        return holds(words.ZH[what.colour] if lang == "zh" else what.colour)
    if kind == "shape":
        name = words.ZH[what.shape] if lang == "zh" else words.plural(what.shape, what.count)
        return holds(name)
    counted = words.COUNTS[lang][what.count]
    return holds(f"{counted}个" if lang == "zh" else counted)


def about_one(pictures: tuple[Drawn, ...], lang: str, label: str = "") -> Iterator[Case]:
    """Yield the canonical questions about each picture."""
    for one in pictures:
        kinds = ("colour", "number") if one.scene.number else ("colour", "shape", "count")
        for kind in kinds:
            question = asks.ABOUT_ONE[kind][lang][0]
            judge = _one(kind, one.scene, lang)
            yield Case(f"{kind} {lang}{label}", question, (one.file,), judge)


def described(pictures: tuple[Drawn, ...], lang: str, label: str = "") -> Iterator[Case]:
    """Yield the request for a description; right only if the whole sentence is."""
    for one in pictures:
        judge = _exactly(words.describe(one.scene, lang))
        question = asks.ABOUT_ONE["describe"][lang][0]
        yield Case(f"description {lang}, whole sentence{label}", question, (one.file,), judge)


def pairs(pictures: tuple[Drawn, ...], lang: str) -> Iterator[Case]:
    """Yield two pictures a prompt: what differs, and what the second one shows."""
    for first, second in zip(pictures[::2], pictures[1::2], strict=False):
        files = (second.file, first.file) if len(first.file) % 2 else (first.file, second.file)
        a, b = (second, first) if len(first.file) % 2 else (first, second)
        difference = _exactly(words.difference(a.scene, b.scene, lang))
        yield Case(f"two pictures {lang}", asks.DIFFERENCE[lang][0], files, difference)
        place = asks.ONE_OF[lang][0].format(place=words.ORDINALS[lang][1])
        judge = _exactly(words.one_of(b.scene, 1, lang))
        yield Case(f"the second of two pictures {lang}", place, files, judge)


def many(pictures: tuple[Drawn, ...], lang: str) -> Iterator[Case]:
    """Yield one to ten pictures a prompt, and the question how many there are."""
    for total in range(1, 11):
        files = tuple(one.file for one in pictures[:total])
        judge = _exactly(words.how_many_pictures(total, lang))
        yield Case(f"how many pictures {lang}", asks.HOW_MANY_PICTURES[lang][0], files, judge)


def large(lang: str) -> Iterator[Case]:
    """Yield pictures that are cut into slices."""
    rng = random.Random(f"large {SEED}")
    for size in ((900, 600), (1344, 1344), (700, 1000), (1200, 900), (640, 640)):
        for _ in range(4):
            what = scene.training_scene(rng, 0.5)
            file = file_of(what, size, rng.randrange(10**9))
            judge = _exactly(words.describe(what, lang))
            yield Case(
                f"large picture, description {lang}",
                asks.ABOUT_ONE["describe"][lang][0],
                (file,),
                judge,
            )


def without_pictures(lang: str) -> Iterator[Case]:
    """Yield the questions that need no picture."""
    for fact in facts.FACTS:
        if fact.lang == lang:
            for index, question in enumerate(fact.questions[:4]):
                group = f"fixed questions {lang}" + (", other phrasings" if index else "")
                yield Case(group, question, (), _exactly(fact.answer))
    for question in facts.TESTED_UNKNOWN[lang]:
        yield Case(f"unknown questions {lang}", question, (), _exactly(facts.UNKNOWN[lang]))
    for kind in ("describe", "colour", "number"):
        question = asks.ABOUT_ONE[kind][lang][0]
        judge = _exactly(words.NO_PICTURE[lang])
        yield Case(f"asked about a picture, none sent {lang}", question, (), judge)


def cases() -> Iterator[Case]:
    """Yield everything, in the order of the card's table."""
    for lang in words.LANGUAGES:
        yield from about_one(drawn(), lang)
        yield from described(drawn(), lang)
        yield from pairs(drawn(), lang)
        yield from large(lang)
        yield from many(drawn(), lang)
        yield from described(held_out(), lang, ", held-out scenes")
        yield from without_pictures(lang)
