"""A matrix file: labs × parameters × languages, and how to run them. Read by a pydantic model; what
is wrong is told line by line, in the reader's language.

Expands into jobs; runs nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from helpers import catalog, messages, paths
from helpers.batch import wrong
from helpers.batch.job import SECRET, Edition, Job, Language, place, spoken
from helpers.batch.problems import MatrixInvalid, MatrixMissing, MatrixUnreadable
from helpers.batch.wrong import Wrong

Outcome = Literal["killed", "timeout", "failed"]


class Matrix(BaseModel):
    """What a matrix file may say.

    Attributes:
        labs: ids of the catalogue, or notebooks (a path that ends in .ipynb, relative to the file).
        languages: "zh", "en"; none takes LAB_LANGUAGE, else both.
        edition: of the catalogue's labs.
        parameters: the same for every run; a lab gets those that it has.
        vary: name → values; every combination of them is a run.
        executor: "local": processes on this machine; "ray": tasks of a Ray cluster.
        workers: how many runs at once, at most.
        timeout: seconds that one run may take; None sets no limit.
        retries: further attempts of a run that ended in one of `retry_on`; None is none here and,
            as Ray has it, three on a cluster, where machines go away.
        retry_on: "killed" (its process was ended from outside), "timeout", "failed" (anything
            else: a checkpoint, an error in a cell).
        share_server: let runs whose servers would be started with the same command ask one, which
            the batch starts and stops; their engine is "remote" then.
        devices: ordinals of the NPUs to use, one a run at a time; none takes all that are visible.
    """

    model_config = ConfigDict(extra="forbid", strict=True, populate_by_name=True)

    schema_: Literal[1] = Field(1, alias="schema")
    labs: Annotated[list[str], Field(min_length=1)]
    languages: list[Language] = []
    edition: Edition = "learner"
    parameters: dict[str, Any] = {}
    vary: dict[str, Annotated[list[Any], Field(min_length=1)]] = {}
    executor: Literal["local", "ray"] = "local"
    workers: Annotated[int, Field(ge=1, le=1024)] = 1
    timeout: Annotated[float, Field(gt=0)] | None = None
    retries: Annotated[int, Field(ge=0, le=10)] | None = None
    retry_on: list[Outcome] = ["killed", "timeout"]
    share_server: bool = False
    devices: list[Annotated[int, Field(ge=0)]] = []

    @property
    def further(self) -> int:
        """Return how many further attempts a run may have."""
        return {"local": 0, "ray": 3}[self.executor] if self.retries is None else self.retries

    def jobs(self, beside: Path) -> list[Job]:
        """Return the runs, each key once: labs, then combinations, then languages.

        Args:
            beside: directory that paths of notebooks are relative to.
        """
        found: dict[str, Job] = {}
        names = list(self.vary)
        for lab in self.labs:
            for values in itertools.product(*self.vary.values()):
                given = self.parameters | dict(zip(names, values, strict=True))
                for language in spoken(self.languages):
                    job = self._job(lab, language, given, beside)
                    found.setdefault(job.key(), job)
        return list(found.values())

    def _job(self, lab: str, language: Language, given: dict[str, Any], beside: Path) -> Job:
        if lab.endswith(".ipynb"):
            path = (beside / lab).resolve()
            return Job(path.stem, language, path, self.edition, given)
        known = catalog.lab(lab)["parameters"]
        taken = {name: value for name, value in given.items() if name in known}
        return Job(lab, language, place(lab, language, self.edition), self.edition, taken)


def read(
    path: Path,
    parameters: Mapping[str, Any] | None = None,
    languages: Sequence[str] = (),
    workers: int | None = None,
) -> Matrix:
    """Return what a matrix file says.

    Args:
        parameters, languages, workers: what a command line says instead; {}, () and None say
            nothing.
    Raises:
        MatrixMissing, MatrixUnreadable: no such file; not YAML.
        MatrixInvalid: each wrong line, with what is wrong about it.
    """
    try:
        text = path.read_text(encoding="utf-8")
        root, content = yaml.compose(text), yaml.safe_load(text)
    except OSError as error:
        raise MatrixMissing(path=paths.shown(path), original=str(error)) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise MatrixUnreadable(path=paths.shown(path), original=str(error)) from error
    try:
        matrix = Matrix.model_validate(_overlaid(content, parameters, languages, workers))
    except ValidationError as error:
        raise _invalid(path, root, wrong.of_validation(error, list(Matrix.model_fields))) from error
    found = _senseless(matrix, path.parent)
    if found:
        raise _invalid(path, root, found)
    return matrix


def _overlaid(
    content: Any,
    parameters: Mapping[str, Any] | None,
    languages: Sequence[str],
    workers: int | None,
) -> Any:
    """Return a file's content with what the command line says instead."""
    if not isinstance(content, dict):
        return {} if content is None else content
    found = dict(content)
    if parameters and isinstance(found.get("parameters", {}), dict):
        found["parameters"] = found.get("parameters", {}) | dict(parameters)
    if languages:
        found["languages"] = list(languages)
    if workers:
        found["workers"] = workers
    return found


def _senseless(matrix: Matrix, beside: Path) -> list[Wrong]:
    """Return what the model cannot see: labs, notebooks and parameters that are not there."""
    found: list[Wrong] = []
    for number, lab in enumerate(matrix.labs):
        if lab.endswith(".ipynb"):
            if not (beside / lab).is_file():
                found.append(Wrong(("labs", number), messages.text("run.wrong.notebook", path=lab)))
        elif lab not in catalog.labs():
            told = messages.text("run.wrong.lab", lab=lab, labs=", ".join(catalog.labs()))
            found.append(Wrong(("labs", number), told))
        else:
            found += _unbuilt(matrix, number, lab)
    if matrix.share_server and matrix.executor != "local":
        found.append(Wrong(("share_server",), messages.text("run.wrong.share")))
    return found + _strange_parameters(matrix)


def _unbuilt(matrix: Matrix, number: int, lab: str) -> list[Wrong]:
    missing = [
        place(lab, language, matrix.edition)
        for language in spoken(matrix.languages)
        if not place(lab, language, matrix.edition).is_file()
    ]
    return [
        Wrong(("labs", number), messages.text("run.wrong.unbuilt", path=paths.shown(path)))
        for path in missing[:1]
    ]


def _strange_parameters(matrix: Matrix) -> list[Wrong]:
    """Return the parameters that are secrets, that no lab of the matrix has, or that stand both in
    `parameters` and in `vary`.
    """
    own = any(lab.endswith(".ipynb") for lab in matrix.labs)
    known = {
        name for lab in matrix.labs for name in catalog.labs().get(lab, {}).get("parameters", [])
    }
    found: list[Wrong] = []
    for where in ("parameters", "vary"):
        for name in getattr(matrix, where):
            if SECRET.search(name.upper()):
                told = messages.parts("run.secret_parameter", name=name)
                found.append(Wrong((where, name), " ".join(told.values())))
            elif name == "LANGUAGE":
                found.append(Wrong((where, name), messages.text("run.wrong.language")))
            elif not own and name not in known and known:
                names = ", ".join(sorted(known))
                told_unknown = messages.text("run.wrong.parameter", name=name, names=names)
                found.append(Wrong((where, name), told_unknown))
            elif where == "vary" and name in matrix.parameters:
                found.append(Wrong((where, name), messages.text("run.wrong.twice", name=name)))
    return found


def _invalid(path: Path, root: Any, found: list[Wrong]) -> MatrixInvalid:
    lines = [one.told(root) for one in sorted(found, key=lambda one: one.line(root))]
    return MatrixInvalid(path=paths.shown(path), count=len(lines), evidence="\n".join(lines))
