"""Tests of engines: which one is chosen and why, on machines that are made here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from light.light_python import console_script, light_python

from helpers import engines, messages, paths
from helpers.engines import Ascend, Cpu, Remote
from helpers.errors import EngineUnavailable
from helpers.options import Options

OPTIONS = Options(served_model_name="M")
TOOLKIT = """
export ASCEND_TOOLKIT_HOME=/usr/local/Ascend/ascend-toolkit/latest
export LD_LIBRARY_PATH=${ASCEND_TOOLKIT_HOME}/lib64:$LD_LIBRARY_PATH
export PYTHONPATH=${ASCEND_TOOLKIT_HOME}/python/site-packages:$PYTHONPATH
"""
ATB = """
[ -n "$ASCEND_TOOLKIT_HOME" ] || { echo "source the toolkit first" >&2; return 7; }
export ATB_HOME_PATH="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/atb"
export LD_LIBRARY_PATH=${ATB_HOME_PATH}/lib:$LD_LIBRARY_PATH
"""


@pytest.fixture(autouse=True)
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    messages.use("en")
    for name in (
        "LAB_ENGINE_PYTHON",
        "ASCEND_RT_VISIBLE_DEVICES",
        "VLLM_CPU_KVCACHE_SPACE",
        "ASCEND_TOOLKIT_HOME",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(paths, "venvs_dir", lambda: tmp_path / "venvs")


@pytest.fixture
def npu_root(tmp_path: Path) -> Path:
    """Return the root of a machine with NPUs 2 and 10, the toolkit and ATB."""
    root = tmp_path / "root"
    (root / "dev").mkdir(parents=True)
    for name in ("davinci2", "davinci10", "davinci_manager", "devmm_svm"):
        (root / "dev" / name).touch()
    for name, text in zip(engines.CANN_SCRIPTS, (TOOLKIT, ATB), strict=True):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def _python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **versions: str) -> Path:
    python = light_python(tmp_path / "image", **versions)
    monkeypatch.setenv("LAB_ENGINE_PYTHON", str(python))
    return python


def test_devices_of_an_npu_machine_are_sorted_numbers(npu_root: Path) -> None:
    assert Ascend(npu_root).devices() == [2, 10]


def test_ascend_with_npu_and_plugin_is_available(
    npu_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _python(tmp_path, monkeypatch, vllm="0.23.0", vllm_ascend="0.23.0")

    answer = Ascend(npu_root).available()

    assert answer.ok
    assert answer.reason == "NPU [2, 10], vllm-ascend 0.23.0"


def test_ascend_without_npu_is_refused(tmp_path: Path) -> None:
    answer = Ascend(tmp_path).available()

    assert not answer.ok
    assert "no NPU is visible" in answer.reason


def test_ascend_without_the_plugin_is_refused(
    npu_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _python(tmp_path, monkeypatch, vllm="0.23.0")

    answer = Ascend(npu_root).available()

    assert not answer.ok
    assert answer.reason == "the engine's Python has vLLM 0.23.0 but not vllm-ascend"


def test_ascend_without_any_interpreter_is_refused(npu_root: Path) -> None:
    answer = Ascend(npu_root).available()

    assert not answer.ok
    assert "no Python with vLLM was found" in answer.reason


def test_ascend_environment_holds_what_both_scripts_changed_in_order(npu_root: Path) -> None:
    found = Ascend(npu_root).environment(OPTIONS)

    assert found["ASCEND_TOOLKIT_HOME"] == "/usr/local/Ascend/ascend-toolkit/latest"
    assert found["ATB_HOME_PATH"] == str((npu_root / engines.CANN_SCRIPTS[1]).parent / "atb")
    assert found["LD_LIBRARY_PATH"].split(":")[:2] == [
        f"{found['ATB_HOME_PATH']}/lib",
        f"{found['ASCEND_TOOLKIT_HOME']}/lib64",
    ]


def test_ascend_environment_holds_nothing_that_was_the_same_before(npu_root: Path) -> None:
    assert "PATH" not in Ascend(npu_root).environment(OPTIONS)


def test_ascend_environment_without_scripts_is_empty(tmp_path: Path) -> None:
    assert Ascend(tmp_path).environment(OPTIONS) == {}


@pytest.mark.parametrize("platform_value", [None, "5"])
def test_ascend_environment_without_devices_leaves_the_platforms_choice(
    npu_root: Path, monkeypatch: pytest.MonkeyPatch, platform_value: str | None
) -> None:
    if platform_value:
        monkeypatch.setenv("ASCEND_RT_VISIBLE_DEVICES", platform_value)

    assert "ASCEND_RT_VISIBLE_DEVICES" not in Ascend(npu_root).environment(OPTIONS)


def test_ascend_environment_with_devices_sets_the_variable(npu_root: Path) -> None:
    found = Ascend(npu_root).environment(OPTIONS.with_values(devices=[0, 1]))

    assert found["ASCEND_RT_VISIBLE_DEVICES"] == "0,1"


def test_cpu_with_vllm_is_available_on_linux(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _python(tmp_path, monkeypatch, vllm_cpu="0.32.0")

    answer = Cpu().available()

    assert answer.ok
    assert answer.reason == "vLLM 0.32.0 on the CPU"


@pytest.mark.parametrize(
    ("system", "machine"), [("Darwin", "arm64"), ("Windows", "AMD64"), ("Linux", "riscv64")]
)
def test_cpu_elsewhere_is_refused(
    monkeypatch: pytest.MonkeyPatch, system: str, machine: str
) -> None:
    monkeypatch.setattr("platform.system", lambda: system)
    monkeypatch.setattr("platform.machine", lambda: machine)

    answer = Cpu().available()

    assert not answer.ok
    assert f"{system} {machine}" in answer.reason


def test_cpu_with_the_npus_plugin_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _python(tmp_path, monkeypatch, vllm="0.23.0", vllm_ascend="0.23.0")

    answer = Cpu().available()

    assert not answer.ok
    assert "cannot start without an NPU" in answer.reason


def test_cpu_without_vllm_names_the_interpreter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _python(tmp_path, monkeypatch, torch="2.10.0")

    answer = Cpu().available()

    assert not answer.ok
    assert "has no vLLM" in answer.reason


def test_cpu_with_a_broken_interpreter_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_ENGINE_PYTHON", str(tmp_path / "nothing"))

    answer = Cpu().available()

    assert not answer.ok
    assert "nothing cannot be run" in answer.reason


def test_cpu_environment_asks_no_hub_and_keeps_a_given_cache_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "4")

    found = Cpu().environment(OPTIONS)

    assert (found["HF_HUB_OFFLINE"], found["VLLM_CPU_KVCACHE_SPACE"]) == ("1", "4")


def test_command_with_a_console_script_begins_with_its_full_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = console_script(_python(tmp_path, monkeypatch, vllm_cpu="0.32.0"))

    argv = Cpu().command(tmp_path / "a model", OPTIONS)

    assert argv[:3] == [str(script), "serve", str(tmp_path / "a model")]


def test_command_without_a_console_script_runs_the_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = _python(tmp_path, monkeypatch, vllm_cpu="0.32.0")

    assert Cpu().command("m", OPTIONS)[:4] == [
        str(python),
        "-m",
        "vllm.entrypoints.cli.main",
        "serve",
    ]


def test_command_without_an_interpreter_is_refused() -> None:
    with pytest.raises(EngineUnavailable, match="no Python with vLLM"):
        Cpu().command("m", OPTIONS)


def test_api_key_goes_into_the_environment_and_never_into_argv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _python(tmp_path, monkeypatch, vllm_cpu="0.32.0")
    monkeypatch.setenv("LAB_API_KEY", "s3cr3t")

    argv, env = Cpu().command("m", OPTIONS), Cpu().environment(OPTIONS)

    assert env["VLLM_API_KEY"] == "s3cr3t"
    assert "s3cr3t" not in " ".join(argv)


def test_environment_without_a_key_has_none() -> None:
    assert "VLLM_API_KEY" not in Cpu().environment(OPTIONS)


def test_allowed_domains_turn_redirects_off() -> None:
    limited = OPTIONS.with_values(allowed_media_domains=("127.0.0.1",), image_fetch_timeout=2)

    found = Cpu().environment(limited)

    assert found["VLLM_MEDIA_URL_ALLOW_REDIRECTS"] == "0"
    assert found["VLLM_IMAGE_FETCH_TIMEOUT"] == "2"


def test_without_allowed_domains_the_fetchers_own_defaults_hold() -> None:
    fetching = {name for name in Cpu().environment(OPTIONS) if "MEDIA" in name or "IMAGE" in name}

    assert fetching == set()


def test_original_pair_is_set_and_told(npu_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = Ascend(npu_root).environment(OPTIONS.with_values(original_pair=True))

    assert json.loads(found["VLLM_LIMIT_MM_PER_PROMPT"]) == {"image": 10}
    assert found["CUDA_VISIBLE_DEVICES"] == ""
    assert "ASCEND_RT_VISIBLE_DEVICES" in capsys.readouterr().out


def test_original_pair_that_was_not_asked_for_is_not_set() -> None:
    assert not engines.ORIGINAL_PAIR.keys() & Cpu().environment(OPTIONS).keys()


@pytest.mark.parametrize(
    "url", ["http://host:8000", "http://host:8000/", "http://host:8000/v1", "http://host:8000/v1/"]
)
def test_remote_address_with_or_without_v1_is_the_same(url: str) -> None:
    assert Remote(url).base_url == "http://host:8000"


def test_remote_starts_nothing() -> None:
    engine = Remote("http://host:8000")

    assert (engine.command("m", OPTIONS), engine.environment(OPTIONS), engine.versions()) == (
        [],
        {},
        {},
    )
