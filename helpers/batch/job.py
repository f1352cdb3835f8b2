"""What is to run: one job a notebook, with its parameters, and the key by which a finished one is
known again. Runs nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from helpers import catalog, messages, paths
from helpers.errors import SecretParameter

SECRET = re.compile(r"(KEY|TOKEN|SECRET)$")
Language = Literal["zh", "en"]
Edition = Literal["learner", "solution"]


@dataclass(frozen=True)
class Job:
    """One notebook to run: lab, language, edition, where it lies, and the parameters that
    papermill injects.

    Raises:
        SecretParameter: a name that ends in KEY, TOKEN or SECRET: papermill would write its value
            into the notebook.
    """

    lab: str
    language: Language
    notebook: Path
    edition: Edition = "learner"
    parameters: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.parameters:
            if SECRET.search(name.upper()):
                raise SecretParameter(name=name)

    @property
    def title(self) -> str:
        """Return "lab language", as progress shows it."""
        return f"{self.lab} {self.language}"

    def key(self) -> str:
        """Return 16 hexadecimal digits of lab, language, edition, parameters and the notebook's
        source: what was run under the same key need not be run again.
        """
        said = [self.lab, self.language, self.edition, self.parameters, source_hash(self.notebook)]
        return digest(said)


def digest(said: Any) -> str:
    """Return 16 hexadecimal digits of something that JSON can say."""
    body = json.dumps(said, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(body.encode()).hexdigest()[:16]


def source_hash(notebook: Path) -> str:
    """Return a hash of what a notebook's author wrote, outputs left out; "" where it cannot be
    read: its run will tell why.
    """
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        written = [
            [
                cell["cell_type"],
                "".join(cell["source"]),
                cell.get("metadata", {}).get("tags", []),
            ]
            for cell in cells
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return hashlib.sha256(json.dumps(written, ensure_ascii=False).encode()).hexdigest()


def place(lab: str, language: str, edition: str = "learner") -> Path:
    """Return where a lab's notebook lies; the solution edition is built by `make notebooks`."""
    if edition == "solution":
        return paths.ROOT / "build" / "solutions" / language / f"{lab}.ipynb"
    return paths.NOTEBOOKS / language / f"{lab}.ipynb"


def spoken(languages: Sequence[str] = ()) -> tuple[Language, ...]:
    """Return the languages to run: those chosen, else LAB_LANGUAGE if it is set, else both."""
    only = os.environ.get("LAB_LANGUAGE")
    chosen = tuple(languages) or ((only,) if only in messages.LANGUAGES else messages.LANGUAGES)
    return cast("tuple[Language, ...]", chosen)


def jobs(
    languages: Sequence[str] = (),
    labs: Sequence[str] = (),
    parameters: Mapping[str, Any] | None = None,
) -> list[Job]:
    """Return the runs of the catalogue: each lab in each language.

    Args:
        languages: "zh", "en"; none takes LAB_LANGUAGE if it is set, else both.
        labs: lab ids; none takes all.
        parameters: what papermill injects into each.
    Raises:
        SecretParameter: as Job.
        UnknownLab: no such lab.
    """
    names = [catalog.lab(name)["id"] for name in labs] or list(catalog.labs())
    return [
        Job(name, language, place(name, language), parameters=dict(parameters or {}))
        for name in names
        for language in spoken(languages)
    ]


def expected_minutes(todo: Sequence[Job]) -> float:
    """Return the minutes that the runs take on two cores, as the catalogue measured them (CPU
    engine).
    """
    return float(sum(catalog.labs().get(job.lab, {}).get("cpu_seconds", 60) for job in todo)) / 60


def declared_starts(job: Job) -> int:
    """Return the engine starts that the catalogue declares for a run on an engine of its own."""
    return int(catalog.labs().get(job.lab, {}).get("engine_starts", 0))


def is_remote(job: Job) -> bool:
    """Return True where a run is sure to start no engine: it asks a server that is there, or its
    lab has none.
    """
    asked = job.parameters.get("ENGINE", os.environ.get("LAB_ENGINE", "auto"))
    address = job.parameters.get("BASE_URL", os.environ.get("LAB_BASE_URL", ""))
    alone = catalog.labs().get(job.lab, {}).get("engines") == []
    return alone or asked == "remote" or (asked == "auto" and bool(address))
