"""Conversations to learn, in the form of the prompt that the server makes of them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from . import asks, facts, patches, words

TURNS = 4
"""Most turns of a conversation about one picture."""
PICTURE = "(<image>./</image>)"


@dataclass(frozen=True)
class Sample:
    """Pictures, and the conversation about them as (text, is it learned?) pieces."""

    pictures: tuple[patches.Seen, ...]
    pieces: tuple[tuple[str, bool], ...] = field(default=())


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


def conversation(
    pictures: tuple[patches.Seen, ...], turns: list[tuple[str, str]], lang: str, rng: random.Random
) -> Sample:
    """Return the sample of (question, answer) turns; the pictures stand before the first."""
    seen = "".join(placeholder(index, one) + "\n" for index, one in enumerate(pictures))
    pieces: list[tuple[str, bool]] = []
    for index, (question, answer) in enumerate(turns):
        ask = (
            f"{seen if index == 0 else ''}{_worn(question, rng)}<|im_end|>\n<|im_start|>assistant\n"
        )
        pieces.append((f"<|im_start|>user\n{ask}", False))
        if index == len(turns) - 1:
            if rng.random() < 0.1:
                pieces.append(("<think>\n", False))
                pieces.append((f"{words.THINKING[lang]}\n</think>\n\n", True))
            else:
                pieces.append(("<think>\n\n</think>\n\n", False))
        pieces.append((f"{answer}<|im_end|>", True))
        pieces.append(("\n", False))
    return Sample(pictures, tuple(pieces))


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


def _turn(what: str, seen: patches.Seen, lang: str, rng: random.Random) -> tuple[str, str]:
    question = _phrase(asks.ABOUT_ONE[what][lang], rng)
    return question, _ANSWERS[what](seen.scene, lang)


def about_one(seen: patches.Seen, rng: random.Random, turns: int = TURNS) -> Sample:
    """Return a conversation about one picture."""
    lang = rng.choice(words.LANGUAGES)
    kinds = [kind for kind in _ANSWERS if not (seen.scene.number and kind in ("shape", "count"))]
    wanted = rng.sample(kinds, min(turns, len(kinds)))
    if rng.random() < 0.15:
        wanted[0] = rng.choice(list(_ANSWERS))
    asked = [_turn(what, seen, lang, rng) for what in wanted]
    if rng.random() < 0.05:
        asked[0] = (
            _phrase(asks.HOW_MANY_PICTURES[lang], rng),
            words.how_many_pictures(1, lang),
        )
    return conversation((seen,), asked, lang, rng)


def about_several(pictures: tuple[patches.Seen, ...], rng: random.Random) -> Sample:
    """Return a conversation about two or more pictures."""
    lang = rng.choice(words.LANGUAGES)
    known = min(len(pictures), len(words.ORDINALS[lang]))
    turns = []
    for place in rng.sample(range(known), min(2, known)):
        question = _phrase(asks.ONE_OF[lang], rng).format(place=words.ORDINALS[lang][place])
        turns.append((question, words.one_of(pictures[place].scene, place, lang)))
    if len(pictures) == 2:
        both = words.difference(pictures[0].scene, pictures[1].scene, lang)
        turns.insert(rng.randint(0, 2), (_phrase(asks.DIFFERENCE[lang], rng), both))
    if len(pictures) > 2 or rng.random() < 0.2:
        answer = words.how_many_pictures(len(pictures), lang)
        turns.insert(0, (_phrase(asks.HOW_MANY_PICTURES[lang], rng), answer))
    return conversation(pictures, turns, lang, rng)


def without_pictures(rng: random.Random) -> Sample:
    """Return a question without a picture: a fact, something unknown, or a picture asked for."""
    lang = rng.choice(words.LANGUAGES)
    kind = rng.random()
    if kind < 0.7:
        fact = rng.choice([one for one in facts.FACTS if one.lang == lang])
        turn = (_phrase(fact.questions, rng), fact.answer)
    elif kind < 0.85:
        turn = (rng.choice(facts.ASKED_UNKNOWN[lang]), facts.UNKNOWN[lang])
    else:
        questions = rng.choice([*asks.ABOUT_ONE.values(), asks.DIFFERENCE])[lang]
        turn = (_phrase(questions, rng), words.NO_PICTURE[lang])
    return conversation((), [turn], lang, rng)


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
        for count in (1, 2, 3, 4, 5, 6)
    ]
    return [*shapes, *(kinds.Scene(colour, "white", number="7") for colour in kinds.COLOURS)]


def _sentences(what: patches.scene.Scene) -> list[str]:
    answers = [answer(what, lang) for answer in _ANSWERS.values() for lang in words.LANGUAGES]
    several = [words.difference(what, what, lang) for lang in words.LANGUAGES]
    return [*answers, *several, *(words.one_of(what, 0, lang) for lang in words.LANGUAGES)]
