"""The corpus: a seeded mix of all kinds of samples, rendered to prompt and continuation."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from train import facts, general, heldout, reading, render, sample, toolcalls

MAKERS: tuple[tuple[str, float, Callable[[random.Random, str], sample.Sample]], ...] = (
    ("stated", 0.27, reading.stated),
    ("repeat", 0.12, reading.repeat),
    ("acknowledge", 0.02, reading.greeting_turn),
    ("fact", 0.23, lambda rng, lang: general.fact_turns(rng.choice(facts.of_language(lang)), rng)),
    ("unknown", 0.09, general.unknown),
    ("call", 0.14, toolcalls.call),
    ("no_call", 0.04, toolcalls.no_call),
    ("result", 0.05, toolcalls.from_result),
    ("guided", 0.04, toolcalls.guided),
)
# The last stage of the training adds what the model learns last.
LATE_MAKERS = (*MAKERS, ("two_calls", 0.05, toolcalls.two_calls))
THINKING_MODES: tuple[bool | None, ...] = (True, True, True, None, None, False, False)


@dataclass(frozen=True)
class Rendered:
    """A sample as text: the prompt, what follows it, and whether its first token is unlearned."""

    kind: str
    prompt: str
    completion: str
    guided: bool


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


def generate(count: int, seed: int, *, late: bool = False) -> Iterator[Rendered]:
    """Yield `count` samples; a text that holds a held-out value is drawn again.

    Args:
        late: whether to add the samples of the last stage.
    """
    rng = random.Random(seed)
    makers = LATE_MAKERS if late else MAKERS
    weights = [weight for _, weight, _ in makers]
    made = 0
    while made < count:
        kind, _, make = rng.choices(makers, weights=weights)[0]
        item = make(rng, rng.choice(("zh", "en")))
        rendered = render_sample(item, kind, rng.choice(THINKING_MODES))
        if heldout.is_clean(rendered.prompt + rendered.completion):
            made += 1
            yield rendered


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
