"""Makes the picture stand-in from nothing: tokenizer, pictures, training, weights.

    python -m assets.standins.train.pictures [--out DIR] [--seed N]

Run it from the repository's root with the engine's Python (it needs torch, transformers and
tokenizers). Afterwards serve the folder and run `python -m assets.standins.train.pictures.evaluate
--card` to measure it and to write the numbers into the card.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import torch
from torch import nn

from . import card, checkpoint, network, patches, reading, samples, seeing, tokenizer

SEEING, READING, SEED = 3000, 1000, 11


def make(options: argparse.Namespace) -> None:
    """Write the generated files of the model folder."""
    started = time.monotonic()
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    tok = tokenizer.build(samples.texts())
    tokenizer.save(tok, out)
    names = {"bos": tokenizer.BOS, "end": tokenizer.EOS, "eos": tokenizer.END}
    names |= {"pad": tokenizer.PAD, "image": tokenizer.UNK}
    ids = {name: tok.token_to_id(token) for name, token in names.items()}
    torch.manual_seed(options.seed)
    model = network.Model(tok.get_vocab_size(), ids)
    parameters = sum(weight.numel() for weight in checkpoint.weights(model).values())
    print(f"vocabulary {tok.get_vocab_size()}, parameters {parameters}", flush=True)

    def keep() -> None:
        training = {
            "seeing_steps": options.seeing,
            "reading_steps": options.reading,
            "seed": options.seed,
            "parameters": parameters,
            "minutes": round((before + time.monotonic() - started) / 60, 1),
            "threads": torch.get_num_threads(),
            "cores": os.cpu_count(),
        }
        checkpoint.save(model, out, ids, training)
        shape = {"scale": network.SCALE, "patch": network.PATCH, "queries": network.QUERIES}
        others = {"slices": patches.MAX_SLICES, "sharpen": checkpoint.SHARPEN}
        card.write(out, {**training, **shape, **others})
        print(f"wrote {out.name}", flush=True)

    heads = seeing.Heads()
    seen = nn.ModuleDict({"vpm": model.vpm, "resampler": model.resampler, "heads": heads})
    before = 0.0
    if options.tower and options.tower.exists():
        kept = torch.load(options.tower)
        seen.load_state_dict(kept["state"])
        before = kept["seconds"]
    else:
        seeing.train(model, heads, options.seeing, options.seed)
        if options.tower:
            seconds = time.monotonic() - started
            torch.save({"state": seen.state_dict(), "seconds": seconds}, options.tower)
    reading.train(model, heads, tok, options.reading, options.seed, keep)
    keep()


def main() -> None:
    """Read the command line and make the model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=patches.SHIPPED)
    parser.add_argument("--seeing", type=int, default=SEEING, help="steps of the first stage")
    parser.add_argument("--reading", type=int, default=READING, help="steps of the second stage")
    parser.add_argument(
        "--tower", type=Path, help="file that keeps the first stage: read if there, else written"
    )
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    make(options)


if __name__ == "__main__":
    main()
