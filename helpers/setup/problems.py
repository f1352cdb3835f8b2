"""The one error of setup: a code of `texts` and its values, so that a failure says what, why and
what next."""

from __future__ import annotations

from helpers.setup.texts import text


class SetupError(Exception):
    """Setup cannot go on.

    Attributes:
        code: key of a text in `texts`.
        values: what the text is filled in with.
    """

    def __init__(self, code: str, **values: object) -> None:
        super().__init__(code)
        self.code = code
        self.values = values

    def __str__(self) -> str:
        return text(self.code, **self.values)
