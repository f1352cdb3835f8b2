"""Makes the text stand-in from nothing: corpus, tokenizer, training, weights, model card.

    python assets/standins/train/minicpm5.py [--out DIR] [--steps N] [--seed N] [--from STAGE]

The later stages (both, settling) start from the written weights, as rounded: a training that is
cut in one of them goes on with --from, to the same end. Run it with the engine's Python (it needs
torch, transformers and tokenizers). Afterwards serve the folder and run `evaluate.py --card` to
measure it and to write the numbers into the card.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch  # noqa: E402

from train import card, corpus, model, pools, questions, render, tokenizer, training  # noqa: E402

COPY_STEPS, STEPS, BOTH_STEPS, SETTLING_STEPS, SAMPLES, SEED = 300, 1000, 600, 1000, 30_000, 5
STAGES = ("apart", "both", "settling")


def value_alphabet(tok: tokenizer.Tokenizer) -> list[int]:
    """Return the ids that values are spelled in: pairs of letters and digits, characters, bytes."""
    tokens = tok.get_vocab()
    special = {*tokenizer.SPECIAL, *tokenizer.VISIBLE}
    plain = [token for token in tokens if token not in special]
    spelled = [t for t in plain if len(t) <= 2 or t in pools.HANZI or t.startswith("<0x")]
    return sorted(tokens[token] for token in spelled)


def make(out: Path, plan: training.Plan, first: str = STAGES[0]) -> None:
    """Write the whole model folder.

    Args:
        first: of STAGES the one to begin with; a later one goes on from what is written there.
    """
    started = time.monotonic()
    out.mkdir(parents=True, exist_ok=True)
    tok = tokenizer.build(corpus.fixed_texts())
    tokenizer.save(tok, out, render.TEMPLATE.read_text(encoding="utf-8"))
    names = {"bos": tokenizer.BOS, "end": tokenizer.EOS, "eos": tokenizer.END, "pad": tokenizer.PAD}
    ids = {name: tok.token_to_id(token) for name, token in names.items()}
    network = model.build(tok.get_vocab_size(), ids, plan.seed)
    parameters = sum(weight.numel() for weight in network.parameters())
    print(f"vocabulary {tok.get_vocab_size()}, parameters {parameters}", flush=True)

    before = model.kept_minutes(out) if first != STAGES[0] else 0.0

    def keep() -> None:
        minutes = round(before + (time.monotonic() - started) / 60, 1)
        made = {
            **asdict(plan),
            "parameters": parameters,
            "minutes": minutes,
            "threads": torch.get_num_threads(),
            "cores": os.cpu_count(),
        }
        model.save(network, out, ids, made)
        honest = {f"unknown_{lang}": text for lang, text in questions.HONEST.items()}
        measured = {"sharpen": model.SHARPEN, "longest": training.longest(tok)}
        card.write(out, {**made, **honest, **measured})
        print(f"wrote {out.name}: {minutes} minutes", flush=True)

    alphabet = value_alphabet(tok)
    if first == STAGES[0]:
        training.apart(network, tok, alphabet, plan, keep)
        keep()
    for stage in STAGES[max(1, STAGES.index(first)) :]:
        model.load(network, out)
        training.both(network, tok, alphabet, plan, stage)
        keep()


def main() -> None:
    """Read the command line and make the model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).resolve().parents[1] / "minicpm5"
    )
    parser.add_argument("--steps", type=int, default=STEPS, help="steps over the corpus")
    parser.add_argument(
        "--copy-steps", type=int, default=COPY_STEPS, help="steps of copying before"
    )
    parser.add_argument("--both-steps", type=int, default=BOTH_STEPS, help="steps of both after")
    parser.add_argument("--settling-steps", type=int, default=SETTLING_STEPS, help="steps at last")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="size of the corpus")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--from", dest="first", choices=STAGES, default=STAGES[0], help="stage")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    plan = training.Plan(
        options.copy_steps,
        options.steps,
        options.both_steps,
        options.settling_steps,
        options.samples,
        options.seed,
    )
    make(options.out, plan, options.first)


if __name__ == "__main__":
    main()
