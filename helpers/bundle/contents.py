"""The files of a bundle, masked: what the archive holds, before it is written.

Everything secret that any of them shows is learnt first, and then taken out of all.
"""

from __future__ import annotations

import getpass
import json
import os
import platform
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers import __version__, diagnose, doctor, messages, paths, records
from helpers.bundle import excerpt, issue, readme
from helpers.bundle.excerpt import Excerpt
from helpers.bundle.subject import Subject
from helpers.diagnose import Diagnosis, show
from helpers.diagnose.answer import Evidence
from helpers.diagnose.command import LogUnreadable
from helpers.diagnose.routing import Route
from helpers.masking import Mask
from helpers.server import fingerprint

# Accounts of images and clouds: they name nobody, and "root cause" is no user.
COMMON = {"root", "user", "admin", "ubuntu", "ma-user", "jovyan", "test", "nobody", "hwhiaiuser"}
OF_OURS = ("LAB_", *fingerprint.PREFIXES)


@dataclass(frozen=True)
class Contents:
    """Name → text of each file, the mask that took the secrets out, the diagnosis of each log, and
    where to ask.
    """

    files: dict[str, str]
    mask: Mask
    diagnoses: list[Diagnosis]
    route: Route


def make(subject: Subject) -> Contents:
    """Return the files of a bundle about some logs.

    Raises:
        LogUnreadable: a log cannot be read.
    """
    found = [_diagnosed(path, "en") for path in subject.logs]
    lines = [_read(path, one) for path, one in zip(subject.logs, found, strict=True)]
    mask = new_mask(subject, [text for part in lines for _, text in part])
    logs = [
        excerpt.masked(f"{n}-{path.name}", part, _numbers(one), mask)
        for n, (path, part, one) in enumerate(zip(subject.logs, lines, found, strict=True), 1)
    ]
    clean = [_clean(one, log, mask) for one, log in zip(found, logs, strict=True)]
    machine = _machine()
    server = _server(subject, mask)
    versions = mask.of_data(machine["versions"] | {"engine": _engine(subject, logs)})
    told = issue.compose(clean[0], logs[0], server, versions)
    files = {
        "issue.md": told.body,
        "versions.json": _json(versions),
        "doctor.json": _json(mask.of_data(machine["doctor"])),
        "server.json": _json(server),
    }
    for number, (one, log) in enumerate(zip(clean, logs, strict=True), 1):
        chinese = _clean(_diagnosed(subject.logs[number - 1], "zh"), log, mask)
        files |= _of_log(number, log, {"en": one, "zh": chinese})
    files = {"README.md": readme.text(list(files), dict(mask.removed), told.route), **files}
    return Contents(files, mask, clean, issue.route_of(clean[0], versions["engine"]))


def _diagnosed(path: Path, language: str) -> Diagnosis:
    try:
        return diagnose.read(path, language)
    except OSError as error:
        raise LogUnreadable(path=paths.shown(path), reason=error.strerror or str(error)) from error


def _numbers(found: Diagnosis) -> list[int]:
    return [one.line for one in found.evidence]


def _read(path: Path, found: Diagnosis) -> list[tuple[int, str]]:
    try:
        return excerpt.read(path, _numbers(found))
    except OSError as error:
        raise LogUnreadable(path=paths.shown(path), reason=error.strerror or str(error)) from error


def new_mask(subject: Subject, texts: list[str]) -> Mask:
    """Return a mask that knows the secrets of the environment, of the server's command and of some
    texts, and who the user is.
    """
    mask = Mask(places=_places())
    mask.learn_environment(os.environ)
    if subject.state is not None:
        mask.learn_arguments(subject.state.argv)
        mask.learn("\n".join(subject.state.argv))
    mask.learn("\n".join(texts))
    return mask


def _places() -> dict[str, str]:
    """Return home, user and host with their placeholders, as far as they name somebody."""
    home = Path.home()
    places = {str(home): "<home>", str(home.resolve()): "<home>"} if home != Path("/") else {}
    names = {home.name, os.environ.get("USER", ""), os.environ.get("LOGNAME", "")}
    try:
        names.add(getpass.getuser())
    except (OSError, KeyError):  # a uid without an entry, in a container
        pass
    places |= {name: "<user>" for name in names if len(name) > 1 and name.lower() not in COMMON}
    host = socket.gethostname()
    return places | ({host: "<host>"} if len(host) > 5 and host != "localhost" else {})


def _clean(found: Diagnosis, log: Excerpt, mask: Mask) -> Diagnosis:
    """Return a diagnosis without secrets; its lines are the excerpt's, where a broken secret was
    seen whole.
    """
    lines = [
        Evidence(line=one.line, text=log.lines.get(one.line, mask.of(one.text)).strip())
        for one in found.evidence
    ]
    texts = {name: mask.of(getattr(found, name)) for name in ("title", "cause", "confirm")}
    advice = [mask.of(one) for one in found.advice]
    changed = {**texts, "advice": advice, "evidence": lines, "source": f"logs/{log.name}"}
    return found.model_copy(update=changed)


def _of_log(number: int, log: Excerpt, found: Mapping[str, Diagnosis]) -> dict[str, str]:
    """Return a log's files: its excerpt, and the diagnosis for machines and in each language."""
    stem = f"diagnosis-{number}"
    return {
        f"logs/{log.name}": log.text(),
        f"{stem}.json": found["en"].as_json() + "\n",
        **{f"{stem}.{one}.txt": f"{show.text(found[one])}\n" for one in messages.LANGUAGES},
    }


def _machine() -> dict[str, Any]:
    """Return the doctor's report, in the issue's language, and the versions that it read; why not,
    where it fails.
    """
    ours = {
        "course": __version__,
        "made": records.now(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }
    spoken = messages.language()
    messages.use("en")
    try:
        report = doctor.examine()
        told = report.as_json()
    except Exception as error:  # noqa: BLE001 - a bundle without it is better than none
        return {"doctor": {"error": repr(error)}, "versions": ours}
    finally:
        messages.use(spoken)
    machine = report.machine
    engine = machine.engine
    return {
        "doctor": told,
        "versions": ours
        | {
            "os": machine.os,
            "glibc": machine.glibc,
            "container": machine.container,
            "engine_packages": engine.versions if engine else {},
            "engine_plugins": list(engine.plugins) if engine else [],
            "version_files": machine.version_texts,
            "npu_smi": machine.npu_smi.output,
        },
    }


def _server(subject: Subject, mask: Mask) -> dict[str, Any] | None:
    """Return what the state file says of the server, or None where there is none; the environment
    is that of its start.
    """
    state = subject.state
    if state is None:
        here = {name: value for name, value in os.environ.items() if name.startswith(OF_OURS)}
        return {"state_file": None, "environment_of_this_process": mask.of_data(_sorted(here))}
    return {
        "command": mask.of_arguments(state.argv),
        "environment": mask.of_data(_sorted(state.made_from.get("variables", {}))),
        "engine_version": state.engine_version,
        **mask.of_data(
            {
                name: getattr(state, name)
                for name in ("engine", "served_model_name", "host", "port", "created", "stand_in")
            }
        ),
    }


def _sorted(variables: Mapping[str, str]) -> dict[str, str]:
    return dict(sorted(variables.items()))


def _engine(subject: Subject, logs: list[Excerpt]) -> str:
    """Return "ascend" or "cpu": of the state file, else as the log reads."""
    if subject.state is not None:
        return subject.state.engine
    return issue.engine_of(log.text() for log in logs)


def _json(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"
