"""The tokenizer: whole words for the corpus's fixed texts, small pieces for everything else.

A held-out word has no token of its own; it is spelled in pairs of letters, each of which the
training has copied thousands of times. Characters outside the vocabulary fall back to bytes, so
that every text can be encoded and decoded without loss.
"""

from __future__ import annotations

import json
import re
import string
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors

from train import pools

PAD, UNK, BOS, EOS = "<pad>", "<unk>", "<s>", "</s>"
# The end of a turn, at which the server stops.
END = "<|im_end|>"
SPECIAL = (
    PAD,
    UNK,
    BOS,
    EOS,
    "<|im_start|>",
    END,
    "<function",
    "<param",
    "</param>",
    "</function>",
)
# Not special: a special token would vanish from the content that the server returns.
VISIBLE = ("<think>", "</think>")
# One match is one unit: a word with its space, two digits, a run of signs, any other character.
UNITS = r" ?[A-Za-z]+|[0-9]{1,2}|\n| ?[!-/:-@\[-`{-~]+|[^\x00-\x7f]|[\x00-\x7f]"
_UNITS = re.compile(UNITS)
_CJK_SIGNS = "，。？！：；“”‘’（）、《》…—·％×"


def _scores(words: list[str]) -> list[tuple[str, float]]:
    """Return the vocabulary with scores: fewer pieces always win, ties go to the earlier pair."""
    vocab: list[tuple[str, float]] = [(token, 0.0) for token in (*SPECIAL, *VISIBLE)]
    vocab += [(f"<0x{byte:02X}>", -60.0) for byte in range(256)]
    singles = [chr(code) for code in range(32, 127)] + ["\n", "\t"]
    vocab += [(char, -11.0) for char in singles]
    vocab += [(char, -10.0) for char in dict.fromkeys([*_CJK_SIGNS, *pools.HANZI])]
    pairs = [a + b for a in string.ascii_letters for b in string.ascii_lowercase]
    vocab += [(pair, -10.0) for pair in pairs]
    vocab += [(f"{number:02d}", -10.0) for number in range(100)]
    known = {token for token, _ in vocab}
    vocab += [(word, -9.0) for word in words if word not in known]
    return vocab


def _is_frame(unit: str, values: set[str]) -> bool:
    """Return whether the unit may be a token of its own: a sign, a letter, a word, but no value."""
    bare = unit.strip(" ")
    if not bare.isascii():
        return len(unit) == 1
    return not bare.isdigit() and bare.casefold() not in values


def frame_words(texts: list[str]) -> list[str]:
    """Return the units of the fixed texts, with and without space, less the listed real values."""
    values = {value.casefold() for value in pools.real_values()}
    found: set[str] = set()
    for unit in (unit for text in texts for unit in _UNITS.findall(text)):
        if not _is_frame(unit, values):
            continue
        found.add(unit)
        bare = unit.strip(" ")
        if len(bare) > 1:
            found.update((bare, f" {bare}") if bare[0].isalpha() else (bare,))
    return sorted(found)


def build(texts: list[str]) -> Tokenizer:
    """Return the tokenizer whose whole words are those of `texts`."""
    vocab = _scores(frame_words(texts))
    tokenizer = Tokenizer(models.Unigram(vocab, unk_id=1, byte_fallback=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(UNITS), behavior="isolated")
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_special_tokens(
        [AddedToken(token, special=True, normalized=False) for token in SPECIAL]
    )
    tokenizer.add_tokens([AddedToken(token, special=False, normalized=False) for token in VISIBLE])
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{BOS} $A", pair=f"{BOS} $A $B", special_tokens=[(BOS, tokenizer.token_to_id(BOS))]
    )
    return tokenizer


def save(tokenizer: Tokenizer, out: Path, template: str) -> None:
    """Write tokenizer.json, tokenizer_config.json and chat_template.jinja."""
    tokenizer.save(str(out / "tokenizer.json"), pretty=False)
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": BOS,
        "eos_token": END,
        "pad_token": PAD,
        "unk_token": UNK,
        "add_bos_token": True,
        "clean_up_tokenization_spaces": False,
        "model_max_length": 2048,
    }
    (out / "tokenizer_config.json").write_text(
        json.dumps(config, indent=2) + "\n", encoding="utf-8"
    )
    (out / "chat_template.jinja").write_text(template, encoding="utf-8")
