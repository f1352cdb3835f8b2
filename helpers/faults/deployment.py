"""A deployment as a learner writes it: model, options, variables, and the name that requests ask
for. Repairing one is changing values.

Data only: `trial` starts it.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from helpers import paths
from helpers.engines import Engine
from helpers.errors import BadOption
from helpers.models import Model
from helpers.options import Options

OPTIONS = frozenset(one.name for one in fields(Options))
BESIDE = ("variables", "model_dir", "asked_name")
"""What a repair may change beside the fields of Options."""


@dataclass(frozen=True)
class Deployment:
    """What is started, and how it is asked.

    Attributes:
        model: the checkpoint that is served.
        options: of the server.
        variables: environment variables that are set for the start.
        asked_name: the `model` of the requests that follow.
    """

    model: Model
    options: Options
    variables: Mapping[str, str] = field(default_factory=dict)
    asked_name: str = ""

    def with_changes(self, changes: Mapping[str, Any]) -> Deployment:
        """Return the deployment with some values changed.

        Args:
            changes: fields of Options; `variables`, name → value, None removes one; `model_dir`, a
                directory; `asked_name`.
        Raises:
            BadOption: another name, or a value that cannot be right.
        """
        for name, value in changes.items():
            if name not in OPTIONS and name not in BESIDE:
                rule = ", ".join(sorted(OPTIONS | set(BESIDE)))
                raise BadOption(name=name, value=repr(value), rule=rule)
        options = {name: value for name, value in changes.items() if name in OPTIONS}
        variables = {**self.variables, **(changes.get("variables") or {})}
        return replace(
            self,
            model=self._model_in(changes.get("model_dir")),
            options=self.options.with_values(**options),
            variables={name: str(one) for name, one in variables.items() if one is not None},
            asked_name=str(changes.get("asked_name", self.asked_name)),
        )

    def _model_in(self, folder: str | Path | None) -> Model:
        if folder is None:
            return self.model
        return replace(self.model, path=Path(folder).expanduser().absolute())

    def typed(self, engine: Engine) -> str:
        """Return variables and command as one line that could be typed in the checkout."""
        assert self.model.path is not None
        before = [f"{name}={shlex.quote(value)}" for name, value in self.variables.items()]
        line = shlex.join(engine.command(self.model.path, self.options))
        return paths.shown(" ".join([*before, line]))
