"""What secrets look like, and what stands before them: names, options, headers, addresses, the
forms of well-known tokens.

Not for values that are known already: `known` finds those however they are written. AtomGit's
documentation gives its tokens no form of their own; the last form below is for those.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

SECRET_ENDINGS = (
    "KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS",
    "COOKIE", "_PASS", "_PAT", "_AUTH", "ACCESS_KEY_ID",
)  # fmt: skip
"""Ends of the names of variables whose values are secret."""

# The tokenizer's own tokens are no secrets: eos_token, pad_token, …
_HARMLESS = (
    r"(?!(?:bos|eos|pad|unk|sep|cls|mask|stop|image|video|audio|next|per|output|prompt|cached)"
    r"[-_ ]?token\b)"
)
_NAME = (
    r"(?<![A-Za-z0-9_])(?<![A-Za-z0-9]-)(?:(?i:" + _HARMLESS + r"[\w.-]{0,80}?(?:"
    r"(?:api|access|private|secret|auth|signing|encryption|ssh|master|account|client)[-_]?key"
    r"|token|secret|passw(?:or)?d|passphrase|credentials?|access[-_]?key[-_]?id))"
    r"|[A-Z][A-Z0-9_]{0,80}?(?:" + "|".join(SECRET_ENDINGS) + r"))(?![A-Za-z0-9_])"
)
_QUOTED = r"(?P<q>\\{0,8}[\"'])(?P<quoted>(?:(?!(?<!\\)(?P=q))[^\n]){1,4000})(?P=q)"
_SEPARATOR = r"(?:\\{0,8}[\"'])?\s{0,3}(?:=>?|:|%(?:25)*3[AaDd])[ \t]{0,3}"
# Said of a value that is none; a secret would have more behind it.
_NONE = r"(?!(?:None|null|true|false|True|False|\*{3,})(?=[\s\"',;)}\]]|$))"
_HEADER = (
    r"(?i:(?:proxy-)?authorization|(?:set-)?cookie|x-[\w-]{1,60}?(?:key|token|secret|auth))"
    r"(?:\\{0,8}[\"'])?\s{0,3}(?:[:=,]|%(?:25)*3[AaDd])[ \t]{0,3}"
)
_SCHEME = r"(?:(?i:bearer|basic|token|digest)(?:[ \t]|%20)+)?"
_OPTION = r"(?<![\w-])--?(?i:[\w-]{0,60}?(?:api[-_]?key|token|secret|passw(?:or)?d))"


@dataclass
class Pattern:
    """A form of secrets.

    Attributes:
        kind: named, header, address or shape.
        expression: its group `value`, or `quoted`, else the whole match, is what is secret.
        wraps: may be searched where lines were put together: it ends at a blank or a quote.
        whole: may be searched where all lines were: it needs no blank to end.
    """

    kind: str
    expression: str
    wraps: bool = True
    whole: bool = False

    @property
    def compiled(self) -> re.Pattern[str]:
        """Return the expression compiled, once it is needed: a notebook that masks nothing must
        not wait for it.
        """
        return _compiled(self.expression)


@lru_cache(maxsize=256)
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)


@dataclass(frozen=True)
class Found:
    """A secret in a text: where it stands, and what it is."""

    start: int
    end: int
    kind: str
    value: str


def _shape(expression: str) -> Pattern:
    return Pattern("shape", expression, whole=True)


PATTERNS = (
    Pattern("named", _NAME + _SEPARATOR + _NONE + _QUOTED),
    Pattern("named", r"\(\\{0,8}[\"']" + _NAME + r"\\{0,8}[\"'],\s{0,3}" + _QUOTED),
    Pattern("named", _NAME + _SEPARATOR + r"\[(?P<value>[^\]\n]{1,4000})\]"),
    Pattern("named", _NAME + _SEPARATOR + _NONE + r"(?P<value>[^\s\"'\[]\S*)"),
    Pattern("named", _OPTION + r"(?:=|(?:[ \t]|\\\r?\n|%20)+)(?P<value>[^\s-]\S*)"),
    Pattern("named", _OPTION + r"[ \t]+(?P<value>[^\s-]\S*(?:[ \t]+[^\s-]\S*)*)", wraps=False),
    Pattern(
        "named",
        _OPTION + r"\\{0,8}[\"'],\s*(?P<value>\\{0,8}[\"'][^-\n\"'][^\"'\n]*[\"']"
        r"(?:,\s*\\{0,8}[\"'][^-\n\"'][^\"'\n]*[\"'])*)",
        wraps=False,
    ),
    Pattern("named", r"(?<!\S)(?:-u|--user|--proxy-user)[ =](?P<value>[^\s:]+:\S+)"),
    Pattern("header", _HEADER + _SCHEME + r"(?P<value>[^\s\"'][^\n]*)", wraps=False),
    Pattern("header", _HEADER + _QUOTED),
    Pattern("header", _HEADER + r"\\{0,8}[\"']?" + _SCHEME + r"(?P<value>[^\s\"']+)"),
    Pattern(
        "header", r"(?i:bearer|basic)(?:[ \t]|%20|\+)+(?:\\{0,8}[\"'])?(?P<value>[^\s\"']{6,})"
    ),
    Pattern("address", r"(?<=://)[^/\s\"'<>]{1,2000}(?=@)"),
    Pattern("address", r"(?<=://)[^/@:\s\"'<>]{0,500}:[^\s\"'<>]{0,2000}(?=@)"),
    Pattern("address", r"(?i)(?<=%3a%2f%2f)[^\s\"'<>]{1,2000}?(?=%40)"),
    Pattern("address", r"https?://[^\s?'\"]+\?(?P<value>[^\s'\")]+)"),
    Pattern(
        "shape",
        r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY-----(?:(?!-----END)[\s\S])*"
        r"(?:-----END [A-Z0-9 ]{0,30}PRIVATE KEY-----)?",
        whole=True,
    ),
    _shape(r"hf_[A-Za-z0-9]{16,}|api_org_[A-Za-z0-9]{16,}"),
    _shape(r"gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}"),
    _shape(r"gl(?:pat|ptt|rt|dt)-[\w-]{16,}"),
    _shape(r"\bsk-[A-Za-z0-9_-]{16,}|\bxox[abeprs]-[\w-]{10,}|\bAKIA[0-9A-Z]{16}"),
    _shape(r"eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]+)?"),
    Pattern(
        "shape",
        r"(?<![A-Za-z0-9_./+-])(?=(?:[A-Za-z]*\d){3})(?=(?:[a-z0-9]*[A-Z]){3})"
        r"(?=(?:[A-Z0-9]*[a-z]){3})[A-Za-z0-9]{20,}(?![A-Za-z0-9_./+])",
    ),
)


def find(text: str, *, wrapped: bool = False, whole: bool = False) -> Iterator[Found]:
    """Return what looks secret in a text.

    Args:
        wrapped: lines were put together. whole: all of them.
    """
    for pattern in PATTERNS:
        if (wrapped and not pattern.wraps) or (whole and not pattern.whole):
            continue
        for found in pattern.compiled.finditer(text):
            groups = found.groupdict()
            name = next((n for n in ("value", "quoted") if groups.get(n) is not None), None)
            start, end = found.span(name) if name else found.span()
            if set(text[start:end]) - {"*"}:
                yield Found(start, end, pattern.kind, text[start:end])


def arguments(argv: Iterable[str]) -> list[str]:
    """Return the values of a command's options whose names say that they are secret."""
    found, secret = [], False
    for word in argv:
        name, equals, value = word.partition("=")
        if word.startswith("-"):
            secret = re.fullmatch(_OPTION, name) is not None
            found += [value] if secret and equals and value else []
        elif secret:
            found.append(word)
    return found
