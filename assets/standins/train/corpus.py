"""The corpus: a seeded mix of all kinds of samples, rendered to prompt and continuation."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from train import facts, general, heldout, reading, render, sample, toolcalls

MAKERS: tuple[tuple[str, float, Callable[[random.Random, str], sample.Sample]], ...] = (
    ("stated", 0.36, reading.stated),
    ("repeat", 0.16, reading.repeat),
    ("acknowledge", 0.03, reading.greeting_turn),
    ("fact", 0.31, lambda rng, lang: general.fact_turns(rng.choice(facts.of_language(lang)), rng)),
    ("unknown", 0.14, general.unknown),
)
# How often the next samples are some that share their tools: as many as a training step takes.
TOOLS = 0.215
# A stage's samples, as a multiple of those that the training is told: the last one reads the most.
DRAWN = {"corpus": 1, "both": 1, "settling": 2}
THINKING_MODES: tuple[bool | None, ...] = (True, True, True, None, None, False, False)
TOOL_THINKING_MODES: tuple[bool | None, ...] = (True, True, None, False, False)


@dataclass(frozen=True)
class Rendered:
    """A sample as text: the prompt, what follows it, and whether its first token is unlearned.

    `group` is the same for samples that follow each other and share their tools, 0 without tools.
    """

    kind: str
    prompt: str
    completion: str
    guided: bool
    group: int = 0


def _completion(item: sample.Sample, thinking: bool | None) -> str:
    if item.guided or thinking is False:
        return f"{item.answer}<|im_end|>"
    opening = "" if thinking else "<think>\n"
    return f"{opening}{item.thinking}\n</think>\n\n{item.answer}<|im_end|>"


def render_sample(item: sample.Sample, kind: str, thinking: bool | None) -> Rendered:
    """Return the sample as text, with the thinking switch unset (None), on or off."""
    messages = [message.as_dict() for message in item.messages]
    prompt = render.prompt(messages, item.tools, thinking)
    return Rendered(kind, prompt, _completion(item, thinking), item.guided)


def _draw(rng: random.Random, group: int, stage: str) -> list[Rendered]:
    """Return one sample without tools, or some that share theirs."""
    if rng.random() < TOOLS:
        made = toolcalls.shared(rng, stage)
        modes = [rng.choice(TOOL_THINKING_MODES) for _ in made]
        return [
            replace(render_sample(item, kind, mode), group=group)
            for (kind, item), mode in zip(made, modes, strict=True)
        ]
    weights = [weight for _, weight, _ in MAKERS]
    kind, _, make = rng.choices(MAKERS, weights=weights)[0]
    item = make(rng, rng.choice(("zh", "en")))
    return [render_sample(item, kind, rng.choice(THINKING_MODES))]


def generate(count: int, seed: int, stage: str = "corpus") -> Iterator[Rendered]:
    """Yield `count` samples; a text that holds a held-out value is left out.

    Args:
        stage: of the training, a key of toolcalls.MIXES.
    """
    rng = random.Random(seed)
    made, group = 0, 0
    while made < count:
        group += 1
        drawn = _draw(rng, group, stage)
        clean = [one for one in drawn if heldout.is_clean(one.prompt + one.completion)]
        yield from clean[: count - made]
        made += len(clean[: count - made])


def fixed_texts() -> list[str]:
    """Return all text that is the same in many samples; its words become whole tokens."""
    texts = [*reading.fixed_texts(), *general.fixed_texts(), *toolcalls.fixed_texts()]
    for lang in ("zh", "en"):
        texts += [
            sample.thinking_copy(lang, "a"),
            sample.thinking_copy(lang, ""),
            sample.thinking_fact(lang, "a"),
            sample.thinking_unknown(lang),
            sample.thinking_tool(lang),
            sample.thinking_result(lang),
        ]
    texts.append(render.prompt([{"role": "user", "content": ""}], [{"type": "function"}]))
    # The runs of signs that JSON has between its words.
    texts += [
        '{" ": " ", ", "}, "}} "}}, "}}} "}}}} {"  {" ["  [" [{"',
        '"] "], "]}} "]}}} "}] "}}]',
    ]
    texts += ["}, }} }}} }}}]"]
    texts.append("system user assistant tool_response temperature_c")
    return texts
