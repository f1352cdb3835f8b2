"""Take secrets, and who the user is, out of a text before anybody sees it: one place for all of the
course. Standard library only, of Python 3.8 on: setup begins with what the machine has.

`patterns` knows what secrets look like and stand behind, `known` finds a value however it is
written, `joined` reads over broken lines. It masks too often rather than too seldom.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from helpers.masking import known, patterns
from helpers.masking.joined import View, broken, plain

__all__ = ["MARK", "SECRET_ENDINGS", "Mask", "masked"]

MARK = "****"
SECRET_ENDINGS = patterns.SECRET_ENDINGS
if TYPE_CHECKING:
    Interval = tuple[int, int, str]


def masked(text: str, secrets: Iterable[str] = ()) -> str:
    """Return a text without secrets.

    Args:
        secrets: values that are known to be secret; others are found by what they look like, and by
            what stands before them.
    """
    return Mask(secrets).of(text)


class Mask:
    """Takes out of several texts what any of them, or the environment, shows to be secret.

    Attributes:
        removed: how often something was taken out, by kind: value, named, header, address, shape
            (secrets), and the placeholders of `places`.
    """

    def __init__(self, secrets: Iterable[str] = (), places: Mapping[str, str] | None = None):
        """Take what is known beforehand.

        Args:
            secrets: values; shorter than three characters they cannot be told from other text.
            places: a path or a name → its placeholder, for instance a home directory → "<home>".
        """
        self.removed: Counter[str] = Counter()
        self._secrets = dict.fromkeys(value for value in secrets if len(value) >= known.SHORTEST)
        self._places = dict(places or {})

    def learn_environment(self, environ: Mapping[str, str]) -> None:
        """Take the values of variables whose names say that they are secret, and the passwords in
        addresses, as known.
        """
        for name, value in environ.items():
            if name.upper().endswith(SECRET_ENDINGS) and len(value) >= known.SHORTEST:
                self._secrets[value] = None
            else:
                self.learn(value)

    def learn_arguments(self, argv: Iterable[str]) -> None:
        """Take the values of options whose names say that they are secret as known."""
        self._secrets |= dict.fromkeys(patterns.arguments(argv))

    def learn(self, text: str) -> None:
        """Take what a text shows to be secret as known, so that it is found in the others too."""
        for view in (plain(text), broken(text)):
            for found in patterns.find(view.text, wrapped=view.wrapped):
                self._secrets |= dict.fromkeys(known.worth_learning(found.value))

    def of(self, text: str) -> str:
        """Return a text without secrets, homes and names; with as many lines as it had."""
        intervals = [one for view in _views(text) for one in self._found(view)]
        out, last = [], 0
        for start, end, kind in _united(intervals):
            self.removed[kind] += 1
            lines = "\n" * text.count("\n", start, end)
            out += [text[last:start], kind if kind.startswith("<") else MARK, lines]
            last = end
        return "".join([*out, text[last:]])

    def of_data(self, data: Any) -> Any:
        """Return data as JSON has it, its strings masked, and what stands under a secret name."""
        if isinstance(data, str):
            return self.of(data)
        if isinstance(data, Mapping):
            return {self.of(name): self._of_named(name, value) for name, value in data.items()}
        return [self.of_data(one) for one in data] if isinstance(data, list | tuple) else data

    def _of_named(self, name: str, value: Any) -> Any:
        if value and name.upper().endswith(SECRET_ENDINGS):
            self.removed["named"] += 1
            return MARK
        return self.of_data(value)

    def of_arguments(self, argv: Sequence[str]) -> list[str]:
        """Return a command without the values of secret options, the shortest included."""
        secret = set(patterns.arguments(argv))
        self.removed["named"] += len(secret)
        return [MARK if word in secret else self.of(word) for word in argv]

    def _found(self, view: View) -> Iterable[Interval]:
        """Return what is to go, as places in the text that the view was made from."""
        for found in patterns.find(view.text, wrapped=view.wrapped, whole=view.whole):
            for start, end in view.back(found.start, found.end):
                yield start, end, found.kind
        values: list[tuple[str, str]] = [(value, "value") for value in self._secrets]
        for value, kind in [*values, *self._places.items()]:
            for begin, stop in known.find(value, view.text, is_place=kind != "value"):
                for start, end in view.back(begin, stop):
                    yield start, end, kind


def _views(text: str) -> list[View]:
    views = [plain(text), broken(text), broken(text, everywhere=True)]
    return [one for n, one in enumerate(views) if one.text not in [v.text for v in views[:n]]]


def _united(intervals: list[Interval]) -> list[Interval]:
    """Return intervals that do not overlap, in order; of several the first gives the kind, or the
    secret.
    """
    out: list[Interval] = []
    for start, end, kind in sorted(intervals):
        if start == end:
            continue
        if out and start < out[-1][1]:
            begin, stop, before = out[-1]
            is_secret = before.startswith("<") and not kind.startswith("<")
            out[-1] = (begin, max(end, stop), kind if is_secret else before)
        else:
            out.append((start, end, kind))
    return out
