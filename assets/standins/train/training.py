"""Training in four stages: copying of random tokens, the corpus, both together, and settling.

The last stage is needed because the corpus alone wears the copying of rare tokens away.
"""

from __future__ import annotations

import itertools
import math
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import torch
from tokenizers import Tokenizer
from transformers import LlamaForCausalLM

from train import corpus, heldout
from train.tokenizer import END

IGNORED, END_OF_TURN = -100, f"{END}\n"
# Faster copying steps would undo the heads that the model starts with.
COPY_RATE, CORPUS_RATE, BOTH_RATE, SETTLING_RATE, KEEP_EVERY = 7e-4, 1.5e-3, 1e-3, 7e-4, 250
SHORT_ROWS, LONG_ROWS, COPY_ROWS, COPY_LENGTH = 20, 6, 16, 96
BOTH_COPY_ROWS = 12
SPACES = {2: " ", 3: "\n"}
OPENINGS = (0, 1, 2, 2, 3)


@dataclass(frozen=True)
class Row:
    """Token ids, and the same ids as targets with the unlearned ones masked.

    A row may hold several samples that begin alike: the shared start once, then what follows it in
    each. `branches` says of each token which of these it belongs to (0: the start), and no branch
    sees another, so each is learned as if it stood alone.
    """

    ids: list[int]
    targets: list[int]
    branches: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Plan:
    """How long to train and on what; a corpus that is used up is read again from its start."""

    copy_steps: int
    steps: int
    both_steps: int
    settling_steps: int
    samples: int
    seed: int


def encode(item: corpus.Rendered, tokenizer: Tokenizer, opening: int = 0) -> Row:
    """Return the row of a sample: only the continuation is learned.

    Args:
        opening: how JSON that a grammar forces begins, since its first token is not learned: 0 as
            it is spelled, 1 with a bracket alone, 2 with a space, 3 with the end of a line.
    """
    prompt = tokenizer.encode(item.prompt, add_special_tokens=False).ids
    pieces = [item.completion]
    if item.guided and opening == 1:
        pieces = [item.completion[:1], item.completion[1:]]
    elif item.guided and opening:
        pieces = [SPACES[opening], item.completion]
    answer = [
        token for text in pieces for token in tokenizer.encode(text, add_special_tokens=False).ids
    ]
    learned = [IGNORED, *answer[1:]] if item.guided else answer
    return Row(prompt + answer, [IGNORED] * len(prompt) + learned)


def joined(
    items: list[corpus.Rendered], tokenizer: Tokenizer, rng: random.Random, *, opened: bool = False
) -> list[Row]:
    """Return one row for each system turn of the samples: the turn, then a branch for each.

    Args:
        opened: whether forced JSON begins in one of the ways of `encode`, drawn for each branch.
    """
    starts: dict[str, list[corpus.Rendered]] = {}
    for item in items:
        turn, end, _ = item.prompt.partition(END_OF_TURN)
        starts.setdefault(turn + end, []).append(item)
    rows = []
    for start, alike in starts.items():
        ids = tokenizer.encode(start, add_special_tokens=False).ids
        targets, branches = [IGNORED] * len(ids), [0] * len(ids)
        for number, item in enumerate(alike, 1):
            item = replace(item, prompt=item.prompt.removeprefix(start))
            rest = encode(item, tokenizer, rng.choice(OPENINGS) if opened else 0)
            ids, targets = ids + rest.ids, targets + rest.targets
            branches += [number] * len(rest.ids)
        rows.append(Row(ids, targets, branches))
    return rows


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


def _branching(rows: list[Row], width: int) -> dict[str, torch.Tensor]:
    """Return the attention mask and the positions of rows with branches, else nothing.

    A token sees the tokens before it of its own branch and of the start; positions go on from the
    start's end in every branch.
    """
    if not rows[0].branches:
        return {}
    branches = torch.tensor([row.branches + [-1] * (width - len(row.branches)) for row in rows])
    own = branches[:, :, None] == branches[:, None, :]
    seen = (own | (branches[:, None, :] == 0)).tril()
    hidden = torch.zeros(seen.shape).masked_fill(~seen, torch.finfo(torch.float32).min)
    return {"attention_mask": hidden[:, None], "position_ids": seen.sum(-1) - 1}


def loss_sum(model: LlamaForCausalLM, rows: list[Row], pad: int) -> tuple[torch.Tensor, int]:
    """Return the summed cross entropy over the learned tokens, and their number.

    Logits are computed where they are learned only: most of a tool prompt is not.
    """
    ids, targets = _stack(rows, pad)
    shape = _branching(rows, ids.shape[1])
    hidden = model.model(input_ids=ids, use_cache=False, **shape).last_hidden_state[:, :-1]
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
    tokenizer: Tokenizer, samples: int, seed: int, stage: str
) -> Iterator[list[list[Row]]]:
    """Yield steps of one batch without tools and one with, near the corpus's order."""
    rng, ahead = random.Random(seed), 12
    short: list[Row] = []
    long: list[Row] = []
    while True:
        made = corpus.generate(samples, seed, stage)
        for group, items in itertools.groupby(made, key=lambda item: item.group):
            if group:
                long += joined(list(items), tokenizer, rng, opened=stage == "settling")
            else:
                short += [encode(item, tokenizer) for item in items]
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


def apart(
    model: LlamaForCausalLM,
    tokenizer: Tokenizer,
    alphabet: list[int],
    plan: Plan,
    keep: Callable[[], None],
) -> None:
    """Take the first two stages, in place: copying alone, then the corpus alone.

    Args:
        alphabet: the token ids that values are spelled in, copied at random in the first stage.
        keep: called every KEEP_EVERY steps over the corpus.
    """
    pad = model.config.pad_token_id
    model.train()
    copies = _copy_batches(tokenizer, alphabet, plan.seed)
    _run(model, copies, plan.copy_steps, COPY_RATE, pad, "copying")
    samples = _corpus_batches(tokenizer, plan.samples, plan.seed, "corpus")
    _run(model, samples, plan.steps, CORPUS_RATE, pad, "corpus", keep)


def both(
    model: LlamaForCausalLM, tokenizer: Tokenizer, alphabet: list[int], plan: Plan, stage: str
) -> None:
    """Take a later stage: the corpus in another mix, and copying, in every step.

    Args:
        stage: "both" or "settling".
    """
    settling = stage == "settling"
    seed = plan.seed + (2 if settling else 1)
    steps, rate = (plan.settling_steps, SETTLING_RATE) if settling else (plan.both_steps, BOTH_RATE)
    samples = _corpus_batches(tokenizer, plan.samples * corpus.DRAWN[stage], seed, stage)
    copies = _copy_batches(tokenizer, alphabet, seed)
    together = (
        [*rows, more[0][:BOTH_COPY_ROWS]] for rows, more in zip(samples, copies, strict=True)
    )
    pad = model.config.pad_token_id
    model.train()
    _run(model, together, steps, rate, pad, stage)
