"""Conversations to learn, in the form of the prompt that the server makes of them."""

from __future__ import annotations

import random
from dataclasses import dataclass

from . import asks, facts, patches, words

BRANCHES = 4
"""Most conversations about the same pictures in one row."""
Turn = tuple[str, str]
"""A question and its answer."""
Pieces = tuple[tuple[str, bool], ...]
"""Text, and whether it is learned."""


@dataclass(frozen=True)
class Sample:
    """Pictures, the start of the prompt that shows them, and conversations that follow it."""

    pictures: tuple[patches.Seen, ...]
    start: str
    branches: tuple[Pieces, ...]


def placeholder(index: int, seen: patches.Seen) -> str:
    """Return the text that the server puts in a picture's place, as the image processor does."""
    features = "<unk>" * patches.network.QUERIES
    text = f"<image_id>{index}</image_id><image>{features}</image>"
    grid = patches.slicing.sliced_grid(seen.size, patches.MAX_SLICES, patches.network.SCALE)
    if grid is None:
        return text
    row = f"<slice>{features}</slice>" * grid[0]
    return text + "\n".join([row] * grid[1])


def _worn(question: str, rng: random.Random) -> str:
    """Return the question, now and then as a hurried person writes it."""
    if rng.random() < 0.06:
        question = question.rstrip("?.!。？！")
    if rng.random() < 0.06:
        question = question[0].lower() + question[1:]
    return question


def _branch(turns: list[Turn], lang: str, rng: random.Random) -> Pieces:
    pieces: list[tuple[str, bool]] = []
    for index, (question, answer) in enumerate(turns):
        opened = "<|im_start|>user\n" if index else ""
        asked = f"{opened}{_worn(question, rng)}<|im_end|>\n<|im_start|>assistant\n"
        pieces.append((asked, False))
        if index == len(turns) - 1 and rng.random() < 0.1:
            pieces.append(("<think>\n", False))
            pieces.append((f"{words.THINKING[lang]}\n</think>\n\n", True))
        elif index == len(turns) - 1:
            pieces.append(("<think>\n\n</think>\n\n", False))
        pieces.append((f"{answer}<|im_end|>", True))
        pieces.append(("\n", False))
    return tuple(pieces)


def sample(
    pictures: tuple[patches.Seen, ...],
    conversations: list[list[Turn]],
    lang: str,
    rng: random.Random,
) -> Sample:
    """Return the sample of conversations about the same pictures."""
    seen = "".join(placeholder(index, one) + "\n" for index, one in enumerate(pictures))
    branches = tuple(_branch(turns, lang, rng) for turns in conversations)
    return Sample(pictures, f"<|im_start|>user\n{seen}", branches)


def _grouped(turns: list[Turn], rng: random.Random) -> list[list[Turn]]:
    """Return conversations: most of one turn, some of two."""
    if len(turns) > 2 and rng.random() < 0.25:
        return [turns[:2], *([turn] for turn in turns[2:])]
    return [[turn] for turn in turns]


_ANSWERS = {
    "describe": words.describe,
    "colour": words.colour,
    "shape": words.shape,
    "count": words.count,
    "number": words.number,
    "background": words.background,
}


def _phrase(phrasings: tuple[str, ...], rng: random.Random) -> str:
    """Return one phrasing; the canonical one comes more often."""
    return phrasings[0] if rng.random() < 0.25 else rng.choice(phrasings)


def _turn(what: str, seen: patches.Seen, lang: str, rng: random.Random) -> Turn:
    question = _phrase(asks.ABOUT_ONE[what][lang], rng)
    return question, _ANSWERS[what](seen.scene, lang)


def _counted(total: int, lang: str, rng: random.Random) -> Turn:
    return _phrase(asks.HOW_MANY_PICTURES[lang], rng), words.how_many_pictures(total, lang)


def about_one(seen: patches.Seen, rng: random.Random) -> Sample:
    """Return conversations about one picture."""
    lang = rng.choice(words.LANGUAGES)
    apt = (
        ("describe", "colour", "number")
        if seen.scene.number
        else ("describe", "colour", "shape", "count")
    )
    turns = [_turn(what, seen, lang, rng) for what in apt]
    if seen.scene.number:
        turns.append(_turn("number", seen, lang, rng))
    others = ("background", "shape", "count") if seen.scene.number else ("background", "number")
    if rng.random() < 0.4:
        turns[rng.randrange(len(turns))] = _turn(rng.choice(others), seen, lang, rng)
    if rng.random() < 0.1:
        turns[rng.randrange(len(turns))] = _counted(1, lang, rng)
    rng.shuffle(turns)
    return sample((seen,), _grouped(turns, rng), lang, rng)


def about_several(pictures: tuple[patches.Seen, ...], rng: random.Random) -> Sample:
    """Return conversations about two or more pictures."""
    lang = rng.choice(words.LANGUAGES)
    known = min(len(pictures), len(words.ORDINALS[lang]))
    turns = []
    for place in rng.sample(range(known), min(2, known)):
        question = _phrase(asks.ONE_OF[lang], rng).format(place=words.ORDINALS[lang][place])
        turns.append((question, words.one_of(pictures[place].scene, place, lang)))
    if len(pictures) == 2:
        both = words.difference(pictures[0].scene, pictures[1].scene, lang)
        turns += [(_phrase(asks.DIFFERENCE[lang], rng), both) for _ in range(2)]
    if len(pictures) > 2:
        turns += [_counted(len(pictures), lang, rng) for _ in range(3)]
    elif rng.random() < 0.4:
        turns.append(_counted(len(pictures), lang, rng))
    rng.shuffle(turns)
    return sample(pictures, _grouped(turns, rng), lang, rng)


def _plain(lang: str, rng: random.Random) -> Turn:
    kind = rng.random()
    if kind < 0.7:
        fact = rng.choice([one for one in facts.FACTS if one.lang == lang])
        return _phrase(fact.questions, rng), fact.answer
    if kind < 0.85:
        return rng.choice(facts.ASKED_UNKNOWN[lang]), facts.UNKNOWN[lang]
    questions = rng.choice([*asks.ABOUT_ONE.values(), asks.DIFFERENCE])[lang]
    return _phrase(questions, rng), words.NO_PICTURE[lang]


def without_pictures(rng: random.Random) -> Sample:
    """Return questions without a picture: facts, something unknown, or a picture asked for."""
    lang = rng.choice(words.LANGUAGES)
    turns = [_plain(lang, rng) for _ in range(BRANCHES)]
    return sample((), _grouped(turns, rng), lang, rng)


def texts() -> list[str]:
    """Return every fixed text, for the vocabulary."""
    found = [*words.NO_PICTURE.values(), *words.THINKING.values(), *facts.UNKNOWN.values()]
    for questions in (*asks.ABOUT_ONE.values(), asks.DIFFERENCE, asks.HOW_MANY_PICTURES):
        found += [one for lang in questions.values() for one in lang]
    for lang in words.LANGUAGES:
        found += [
            one.format(place=place) for one in asks.ONE_OF[lang] for place in words.ORDINALS[lang]
        ]
        found += [words.how_many_pictures(total, lang) for total in range(1, 11)]
        found += facts.ASKED_UNKNOWN[lang]
    found += [text for fact in facts.FACTS for text in (*fact.questions, fact.answer)]
    found += [answer for scene in _every_scene() for answer in _sentences(scene)]
    return [*found, *(text[0].lower() + text[1:] for text in found)]


def _every_scene() -> list[patches.scene.Scene]:
    kinds = patches.scene
    shapes = [
        kinds.Scene(colour, background, shape, count)
        for colour in kinds.COLOURS
        for background in kinds.BACKGROUNDS
        for shape in kinds.SHAPES
        for count in range(1, kinds.MOST + 1)
    ]
    return [*shapes, *(kinds.Scene(colour, "white", number="7") for colour in kinds.COLOURS)]


def _sentences(what: patches.scene.Scene) -> list[str]:
    answers = [answer(what, lang) for answer in _ANSWERS.values() for lang in words.LANGUAGES]
    several = [words.difference(what, what, lang) for lang in words.LANGUAGES]
    return [*answers, *several, *(words.one_of(what, 0, lang) for lang in words.LANGUAGES)]
