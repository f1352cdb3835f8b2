"""Which torch setup takes and which it refuses, against an index on the loopback."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from setup_fakes import MEGABYTE, Index, quick_venv, serve

from helpers.setup import commands, torch_cpu
from helpers.setup.environments import Environment
from helpers.setup.problems import SetupError
from helpers.setup.pythons import Python

VERSION = "2.13.0+cpu"
WHEEL = f"torch-{VERSION}-py3-none-any.whl"


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    """Serve an empty index that is named as TORCH_INDEX_URL, with no other source configured."""
    with serve() as found:
        monkeypatch.setenv("TORCH_INDEX_URL", found.address)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
        monkeypatch.setenv("LAB_LANGUAGE", "en")
        monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
        monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
        monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
        commands.reset()
        yield found


@pytest.fixture
def engine(tmp_path: Path) -> Environment:
    """Return an environment without torch, on a base Python without torch."""
    quick_venv(tmp_path / "engine")
    base = Python(Path(sys.executable), (3, sys.version_info[1], 0))
    return Environment(
        name="engine", directory=tmp_path / "engine", sources=(), python=base, steps=(),
        quick_proof="", needed=0, log=tmp_path / "engine.log",
    )  # fmt: skip


def _torch(cuda: str = "None") -> dict[str, str]:
    source = (
        f"import types\n__version__ = {VERSION!r}\nversion = types.SimpleNamespace(cuda={cuda})\n"
    )
    return {"torch/__init__.py": source}


def test_install_takes_a_cpu_build_from_the_named_index(index: Index, engine: Environment) -> None:
    index.add("torch", VERSION, files=_torch())

    detail = torch_cpu.install(engine, VERSION)

    assert index.address in detail
    assert torch_cpu._imports(engine.executable, engine.log) == VERSION


def test_install_of_what_is_there_asks_no_index(index: Index, engine: Environment) -> None:
    index.add("torch", VERSION, files=_torch())
    torch_cpu.install(engine, VERSION)
    index.asked.clear()

    torch_cpu.install(engine, VERSION)

    assert index.asked == []


def test_install_refuses_the_cuda_build_without_downloading_it(
    index: Index, engine: Environment
) -> None:
    index.add("torch", "2.13.0", needs=("nvidia-cublas==13.0 ; sys_platform == 'linux'",))

    with pytest.raises(SetupError) as refused:
        torch_cpu.install(engine, VERSION)

    assert "has only 2.13.0, which is no CPU build" in str(refused.value)
    assert not [one for one in index.asked if one.startswith("GET files/")]


def test_refusal_names_every_way_out(index: Index, engine: Environment) -> None:
    with pytest.raises(SetupError) as refused:
        torch_cpu.install(engine, VERSION)

    assert f"has no torch {VERSION}" in str(refused.value)
    for way in ("TORCH_INDEX_URL", "PIP_FIND_LINKS", "LAB_ENGINE_PYTHON", "BASE_URL"):
        assert way in str(refused.value)


def test_install_refuses_a_cpu_label_that_needs_cuda(index: Index, engine: Environment) -> None:
    index.add("torch", VERSION, needs=("nvidia-cudnn-cu13",), files=_torch())

    with pytest.raises(SetupError, match="needs nvidia-cudnn-cu13: no CPU build"):
        torch_cpu.install(engine, VERSION)


def test_install_refuses_more_than_the_limit(index: Index, engine: Environment) -> None:
    index.add("torch", VERSION, files=_torch())
    index.sizes[WHEEL] = 900 * MEGABYTE

    with pytest.raises(SetupError, match="has 900 MB, over the limit of 400 MB"):
        torch_cpu.install(engine, VERSION)


def test_install_prefers_the_wheel_directory(
    index: Index, engine: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.add("torch", VERSION, files=_torch())
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / WHEEL).write_bytes(index.wheels[WHEEL])
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))

    torch_cpu.install(engine, VERSION)

    assert index.asked == []
    assert torch_cpu._imports(engine.executable, engine.log) == VERSION


def test_unreachable_index_is_called_so(
    engine: Environment, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCH_INDEX_URL", "http://user:secret@127.0.0.1:9/simple")

    with pytest.raises(SetupError) as refused:
        torch_cpu.install(engine, VERSION)

    assert "cannot be reached" in str(refused.value)
    assert "secret" not in str(refused.value) + engine.log.read_text()


def test_torch_of_the_base_python_is_borrowed_by_links(
    index: Index, engine: Environment, tmp_path: Path
) -> None:
    base = quick_venv(tmp_path / "base")
    site = next((tmp_path / "base").glob("lib/python*/site-packages"))
    (site / "torch").mkdir()
    (site / "torch" / "__init__.py").write_text(_torch()["torch/__init__.py"])
    (site / "torchvision").mkdir()
    engine.python = Python(base, engine.python.version)

    torch_cpu.install(engine, VERSION)

    assert (engine.site_packages() / "torch").is_symlink()
    assert not (engine.site_packages() / "torchvision").exists()
    assert index.asked == []


def test_cuda_torch_of_the_base_python_is_not_borrowed(
    index: Index, engine: Environment, tmp_path: Path
) -> None:
    base = quick_venv(tmp_path / "base")
    site = next((tmp_path / "base").glob("lib/python*/site-packages"))
    (site / "torch").mkdir()
    (site / "torch" / "__init__.py").write_text(_torch(cuda="'13.0'")["torch/__init__.py"])
    engine.python = Python(base, engine.python.version)

    with pytest.raises(SetupError):
        torch_cpu.install(engine, VERSION)


def test_indexes_without_a_choice_are_pytorch_then_the_mirrors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("TORCH_INDEX_URL", raising=False)

    names = [source.name for source in torch_cpu.indexes()]

    assert names == [torch_cpu.OFFICIAL, *torch_cpu.MIRRORS]
    assert all(name.startswith("https://") for name in names)


def test_wheel_directory_decides_between_pythons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import platform

    (tmp_path / f"torch-{VERSION}-cp311-cp311-manylinux_2_28_{platform.machine()}.whl").touch()
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))

    found = [
        torch_cpu.in_wheelhouse(Python(Path("x"), (3, minor, 0)), VERSION, tmp_path)
        for minor in (12, 11)
    ]

    assert found == [False, True]
