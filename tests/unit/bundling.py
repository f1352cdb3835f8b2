"""What the tests of the bundle share: a machine that is known, recorded faults, a server's state."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from helpers import bundle, doctor, paths
from helpers.bundle import subject
from helpers.doctor.machine import Machine
from helpers.server import process, state

Pack = Callable[..., dict[str, str]]
FAULTS = paths.ROOT / "tests" / "fixtures" / "logs" / "faults"


@pytest.fixture(autouse=True)
def known_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the doctor report on a machine that was not read: that takes seconds, and is tested
    elsewhere.
    """
    report = doctor.report_on(Machine(os="Linux for tests"))
    monkeypatch.setattr(doctor, "examine", lambda: report)


@pytest.fixture
def pack(tmp_path: Path) -> Pack:
    """Return a function that packs logs' texts, and returns what is in the archive."""
    return partial(_packed, tmp_path)


def _packed(folder: Path, *texts: str) -> dict[str, str]:
    logs = []
    for number, text in enumerate(texts):
        logs.append(folder / f"serve{number}.log")
        logs[-1].write_text(text, encoding="utf-8")
    out = folder / "out.zip"
    out.unlink(missing_ok=True)
    bundle.make(subject.of_files(logs), out)
    return read_archive(out)


def read_archive(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def fault_log(name: str) -> str:
    return gzip.decompress((FAULTS / f"{name}.log.gz").read_bytes()).decode()


def recorded(folder: Path, argv: list[str], port: int = 8123) -> Path:
    """Return the log of a server that the state directory knows; it has ended."""
    log = folder / "known.log"
    log.write_text(fault_log("truncated"), encoding="utf-8")
    found = state.describe(
        process.Identity(2**22 + 1, 2**22 + 1, 1),
        argv=argv,
        fingerprint="f",
        host="127.0.0.1",
        port=port,
        served_model_name="M",
        engine="cpu",
        engine_version="0.32.0",
        log=str(log),
        made_from={"variables": {"VLLM_LOGGING_LEVEL": "INFO", "VLLM_API_KEY": "sha256 0123"}},
    )
    state.write(found)
    return log
