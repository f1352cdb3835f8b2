"""Training in three stages: copying of random tokens, the corpus, then both together.

The last stage is needed because the corpus alone wears the copying of rare tokens away.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from tokenizers import Tokenizer
from transformers import LlamaForCausalLM

from train import corpus, heldout

IGNORED = -100
# Faster copying steps would undo the heads that the model starts with.
COPY_RATE, CORPUS_RATE, BOTH_RATE, KEEP_EVERY = 7e-4, 1.5e-3, 1e-3, 250
TOOL_KINDS = frozenset({"call", "no_call", "result", "guided", "two_calls"})
SHORT_ROWS, LONG_ROWS, COPY_ROWS, COPY_LENGTH = 20, 4, 16, 96
BOTH_COPY_ROWS = 12


@dataclass(frozen=True)
class Row:
    """Token ids, and the same ids as targets with the unlearned ones masked."""

    ids: list[int]
    targets: list[int]


@dataclass(frozen=True)
class Plan:
    """How long to train and on what; a corpus that is used up is read again from its start."""

    copy_steps: int
    steps: int
    both_steps: int
    samples: int
    seed: int


def encode(item: corpus.Rendered, tokenizer: Tokenizer) -> Row:
    """Return the row of a sample: only the continuation is learned."""
    prompt = tokenizer.encode(item.prompt, add_special_tokens=False).ids
    answer = tokenizer.encode(item.completion, add_special_tokens=False).ids
    learned = [IGNORED, *answer[1:]] if item.guided else answer
    return Row(prompt + answer, [IGNORED] * len(prompt) + learned)


def longest(tokenizer: Tokenizer) -> int:
    """Return the length in tokens of the longest of the first thousands of samples."""
    return max(len(encode(item, tokenizer).ids) for item in corpus.generate(4000, 0))


def copy_row(tokenizer: Tokenizer, alphabet: list[int], rng: random.Random) -> Row:
    """Return random tokens, then stretches of them again, which are learned after their start.

    Draws that happen to spell a held-out value are refused.
    """
    while True:
        size = rng.randint(10, COPY_LENGTH * 2 // 3)
        source = rng.choices(alphabet, k=size)
        ids, targets = list(source), [IGNORED] * size
        while len(ids) < COPY_LENGTH:
            start, length = rng.randrange(size), rng.randint(3, 12)
            piece = source[start : start + length]
            ids += piece
            targets += [IGNORED, *piece[1:]]
        if heldout.is_clean(tokenizer.decode(ids[:COPY_LENGTH], skip_special_tokens=False)):
            return Row(ids[:COPY_LENGTH], targets[:COPY_LENGTH])


def _stack(rows: list[Row], pad: int) -> tuple[torch.Tensor, torch.Tensor]:
    width = max(len(row.ids) for row in rows)
    ids = torch.tensor([row.ids + [pad] * (width - len(row.ids)) for row in rows])
    targets = torch.tensor([row.targets + [IGNORED] * (width - len(row.ids)) for row in rows])
    return ids, targets


def loss_sum(model: LlamaForCausalLM, rows: list[Row], pad: int) -> tuple[torch.Tensor, int]:
    """Return the summed cross entropy over the learned tokens, and their number.

    Logits are computed where they are learned only: most of a tool prompt is not.
    """
    ids, targets = _stack(rows, pad)
    hidden = model.model(input_ids=ids, use_cache=False).last_hidden_state[:, :-1]
    wanted = targets[:, 1:]
    learned = wanted != IGNORED
    logits = model.lm_head(hidden[learned])
    return torch.nn.functional.cross_entropy(logits.float(), wanted[learned], reduction="sum"), int(
        learned.sum()
    )


def _rate(step: int, steps: int, peak: float) -> float:
    """Return the learning rate: a short rise, then a cosine to two percent of the peak."""
    if step < 40:
        return peak * (step + 1) / 40
    return peak * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * step / steps)))


def _optimizer(model: LlamaForCausalLM) -> torch.optim.AdamW:
    return torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.98), weight_decay=0.01)


def _update(model: LlamaForCausalLM, optimizer: torch.optim.AdamW, rate: float, count: int) -> None:
    for weight in model.parameters():
        if weight.grad is not None:
            weight.grad.div_(count)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def _run(
    model: LlamaForCausalLM,
    batches: Iterator[list[list[Row]]],
    steps: int,
    peak: float,
    pad: int,
    label: str,
    keep: Callable[[], None] | None = None,
) -> None:
    """Take `steps` steps over the batches; call `keep` now and then, to look at a long training."""
    optimizer, started, shown, tokens = _optimizer(model), time.monotonic(), 0.0, 0
    for step in range(1, steps + 1):
        total = 0
        for rows in next(batches):
            with torch.autocast("cpu", torch.bfloat16):
                loss, count = loss_sum(model, rows, pad)
            loss.backward()
            total += count
            shown += float(loss.detach())
        tokens += total
        _update(model, optimizer, _rate(step - 1, steps, peak), total)
        if step % 50 == 0:
            seconds = time.monotonic() - started
            print(f"{label} {step}/{steps}  loss {shown / tokens:.4f}  {seconds:.0f} s", flush=True)
            shown, tokens = 0.0, 0
        if keep and step % KEEP_EVERY == 0:
            keep()


def _alike(rows: list[Row], size: int, rng: random.Random) -> list[list[Row]]:
    """Return the rows in batches of similar length, which saves padding, in random order."""
    ordered = sorted(rows, key=lambda row: len(row.ids))
    batches = [ordered[start : start + size] for start in range(0, len(ordered), size)]
    rng.shuffle(batches)
    return batches


def _corpus_batches(
    tokenizer: Tokenizer, samples: int, seed: int, *, late: bool = False
) -> Iterator[list[list[Row]]]:
    """Yield steps of one batch without tools and one with, near the corpus's order."""
    rng, ahead = random.Random(seed), 12
    short: list[Row] = []
    long: list[Row] = []
    while True:
        for item in corpus.generate(samples, seed, late=late):
            (long if item.kind in TOOL_KINDS else short).append(encode(item, tokenizer))
            if len(short) >= SHORT_ROWS * ahead and len(long) >= LONG_ROWS * ahead:
                pairs = zip(
                    _alike(short[: SHORT_ROWS * ahead], SHORT_ROWS, rng),
                    _alike(long[: LONG_ROWS * ahead], LONG_ROWS, rng),
                    strict=True,
                )
                yield from (list(pair) for pair in pairs)
                del short[: SHORT_ROWS * ahead], long[: LONG_ROWS * ahead]


def _copy_batches(
    tokenizer: Tokenizer, alphabet: list[int], seed: int
) -> Iterator[list[list[Row]]]:
    rng = random.Random(seed)
    while True:
        yield [[copy_row(tokenizer, alphabet, rng) for _ in range(COPY_ROWS)]]


def both(model: LlamaForCausalLM, tokenizer: Tokenizer, alphabet: list[int], plan: Plan) -> None:
    """Take the last stage: the corpus with its late samples, and copying, in every step."""
    samples = _corpus_batches(tokenizer, plan.samples, plan.seed + 1, late=True)
    copies = _copy_batches(tokenizer, alphabet, plan.seed + 1)
    together = (
        [*rows, more[0][:BOTH_COPY_ROWS]] for rows, more in zip(samples, copies, strict=True)
    )
    pad = model.config.pad_token_id
    _run(model, together, plan.both_steps, BOTH_RATE, pad, "both")


def train(
    model: LlamaForCausalLM,
    tokenizer: Tokenizer,
    alphabet: list[int],
    plan: Plan,
    keep: Callable[[], None],
) -> None:
    """Train the model in place.

    Args:
        alphabet: the token ids that values are spelled in, copied at random in the first stage.
        keep: called every KEEP_EVERY steps over the corpus.
    """
    pad = model.config.pad_token_id
    model.train()
    # On a CPU the fused attention is slower in its backward pass than the plain one.
    model.set_attn_implementation("eager")
    copies = _copy_batches(tokenizer, alphabet, plan.seed)
    _run(model, copies, plan.copy_steps, COPY_RATE, pad, "copying")
    samples = _corpus_batches(tokenizer, plan.samples, plan.seed)
    _run(model, samples, plan.steps, CORPUS_RATE, pad, "corpus", keep)
    both(model, tokenizer, alphabet, plan)
    model.eval()
