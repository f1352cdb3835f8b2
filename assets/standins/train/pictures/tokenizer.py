"""The tokenizer: a token for each word and character of the corpus, digits one by one, bytes for
everything else, so that every text can be encoded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

PAD, UNK, BOS, EOS, END = "<pad>", "<unk>", "<s>", "</s>", "<|im_end|>"
SPECIAL = (
    PAD,
    UNK,
    BOS,
    EOS,
    "<|im_start|>",
    END,
    "<image>",
    "</image>",
    "<slice>",
    "</slice>",
    "<image_id>",
    "</image_id>",
)
# Not special: a special token would vanish from the content that the server returns.
VISIBLE = ("<think>", "</think>")
UNITS = r" ?[A-Za-z]+|[0-9]|\n+| ?[!-/:-@\[-`{-~]+|[^\x00-\x7f]|[\x00-\x7f]"
_UNITS = re.compile(UNITS)


def build(texts: Iterable[str]) -> Tokenizer:
    """Return the tokenizer whose whole units are those of `texts`."""
    vocab = [(token, 0.0) for token in (*SPECIAL, *VISIBLE)]
    vocab += [(f"<0x{byte:02X}>", -60.0) for byte in range(256)]
    vocab += [(chr(code), -11.0) for code in range(32, 127)] + [("\n", -11.0), ("\t", -11.0)]
    known = {token for token, _ in vocab}
    found = {unit for text in texts for unit in _UNITS.findall(text)}
    for unit in sorted(found):
        bare = unit.strip(" ")
        both = (bare, f" {bare}") if bare.isascii() and bare.isalpha() else (unit,)
        for form in both:
            if form not in known:
                known.add(form)
                vocab.append((form, -9.0))
    tokenizer = Tokenizer(models.Unigram(vocab, unk_id=1, byte_fallback=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(UNITS), behavior="isolated")
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_special_tokens(
        [AddedToken(token, special=True, normalized=False) for token in SPECIAL]
    )
    tokenizer.add_tokens([AddedToken(token, special=False, normalized=False) for token in VISIBLE])
    return tokenizer


def save(tokenizer: Tokenizer, out: Path) -> None:
    """Write tokenizer.json and tokenizer_config.json."""
    tokenizer.save(str(out / "tokenizer.json"), pretty=False)
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": BOS,
        "eos_token": END,
        "pad_token": PAD,
        "unk_token": UNK,
        "add_bos_token": False,
        "clean_up_tokenization_spaces": False,
        "model_max_length": 8192,
    }
    path = out / "tokenizer_config.json"
    path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
