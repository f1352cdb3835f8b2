"""Tests of reading a machine, on a fake Ascend root with real files, scripts and processes."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import ascend_root
import doctor_machines as machines
import pytest

from helpers import doctor, engines, interpreters
from helpers.doctor import ascend_files, engine_probe, places, probe, processes, tools
from helpers.doctor.machine import Tool
from helpers.options import Options

TABLE = machines.recording("npu_smi/910b4_23.0.6_npu1.txt")
OVERLAY = "overlay / overlay rw 0 0\ntmpfs /dev/shm tmpfs rw 0 0\n/dev/sda /home/ma-user/work ext4 rw 0 0\n"


@pytest.fixture(autouse=True)
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test ask the engine of the machine that runs it, unless it says so."""
    monkeypatch.setattr(interpreters, "find_engine", lambda: None)


def snapshot(folder: Path) -> dict[str, float]:
    return {str(path): path.lstat().st_mtime for path in sorted(folder.rglob("*"))}


def interpreter(tmp_path: Path, body: str) -> interpreters.Interpreter:
    """Return an interpreter that is a shell script."""
    path = tmp_path / "python"
    path.write_text(f"#!/bin/bash\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return interpreters.Interpreter(path, "LAB_ENGINE_PYTHON")


def test_read_of_an_ascend_root_has_devices_versions_and_table(tmp_path: Path) -> None:
    root = ascend_root.make(tmp_path, cards=(4, 5), npu_smi=TABLE)

    machine = probe.read(root)

    assert machine.ordinals == [4, 5]
    assert {node.name for node in machine.nodes} >= set(places.MANAGERS)
    assert {one.cann_version for one in machine.files.values()} >= {"9.1.0"}
    assert [chip.name for chip in machine.npus.chips] == ["910B4"]
    assert machine.os == "openEuler 24.03 (LTS-SP3)"
    assert machine.has_npu


def test_read_of_a_link_to_a_version_reads_its_file_once(tmp_path: Path) -> None:
    root = ascend_root.make(tmp_path)

    found = ascend_files.texts(root, {})

    assert [path for path in found if path.endswith("toolkit_install.info")] == [
        "/usr/local/Ascend/ascend-toolkit/latest/aarch64-linux/ascend_toolkit_install.info"
    ]


def test_read_follows_the_home_that_the_environment_names_first(tmp_path: Path) -> None:
    root = ascend_root.make(tmp_path)
    other = root / "opt/cann/aarch64-linux"
    other.mkdir(parents=True)
    (other / "ascend_toolkit_install.info").write_text(ascend_root.INSTALL.format(cann="8.5.1"))

    found = ascend_files.texts(root, {"ASCEND_HOME_PATH": "/opt/cann"})

    assert next(iter(found)) == "/opt/cann/aarch64-linux/ascend_toolkit_install.info"


def test_read_writes_nothing(
    tmp_path: Path, own_state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = ascend_root.make(tmp_path / "root", npu_smi=TABLE)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)
    before = snapshot(tmp_path)

    doctor.examine(root)

    assert snapshot(tmp_path) == before
    assert not own_state.exists()


def test_environment_of_an_ascend_engine_sources_the_roots_own_scripts(
    tmp_path: Path, kept_environ: None
) -> None:
    root = ascend_root.make(tmp_path)
    os.environ.pop("LD_LIBRARY_PATH", None)

    found = engines.Ascend(root).environment(Options("m"))

    toolkit, atb = "usr/local/Ascend/ascend-toolkit/latest", "usr/local/Ascend/nnal/atb/latest/atb"
    assert found["ASCEND_HOME_PATH"] == str(root / toolkit)
    assert found["LD_LIBRARY_PATH"].startswith(f"{root / atb}/cxx_abi_1/lib:{root / toolkit}/lib64")
    assert "NEVER" not in found


def test_deep_environment_survives_a_script_that_fails(tmp_path: Path) -> None:
    script = tmp_path / "set_env.sh"
    script.write_text("exit 3\n", encoding="utf-8")

    assert engine_probe.deep_environment([str(script)])["PATH"] == os.environ["PATH"]


@pytest.mark.parametrize(
    ("script", "status", "finding"),
    [
        ("exec sleep 60", "unknown", "npu_smi.silent"),
        ("trap '' TERM; sleep 60 & wait", "unknown", "npu_smi.silent"),
        ("head -c 300 /dev/urandom", "unknown", "npu_smi.unreadable"),
        ("exit 0", "unknown", "npu_smi.unreadable"),
        ("kill -SEGV $$", "unknown", "npu_smi.unreadable"),
        ("echo 'dcmi module initialize failed. ret is -8005'; exit 1", "problem", "npu_smi.driver"),
        ("echo 'npu-smi: 权限不够' >&2; exit 126", "problem", "npu_smi.permission"),
    ],
)
def test_examine_with_an_npu_smi_that_fails_still_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, status: str, finding: str
) -> None:
    if finding == "npu_smi.silent":
        monkeypatch.setattr(tools.run, "__defaults__", (0.3, None))
    root = ascend_root.make(tmp_path, script=script)

    report = doctor.examine(root)

    assert {one.id: one.status for one in report.findings}[finding] == status
    assert report.verdict.engine != "ascend"


def test_examine_with_an_npu_smi_that_may_not_be_run_names_the_permission(tmp_path: Path) -> None:
    root = ascend_root.make(tmp_path, npu_smi=TABLE)
    (root / "usr/local/bin/npu-smi").chmod(0o644)

    report = doctor.examine(root)

    assert "npu_smi.permission" in {one.id for one in report.of("problem")}


def test_examine_of_an_empty_root_finds_no_npu(tmp_path: Path) -> None:
    report = doctor.examine(tmp_path)

    assert not report.machine.has_npu
    assert report.verdict.engine == "cpu"


def test_examine_of_this_machine_is_honest_about_its_npu() -> None:
    report = doctor.examine()

    nodes = list(Path("/dev").glob("davinci[0-9]*"))
    assert report.machine.ordinals == sorted(int(n.name.removeprefix("davinci")) for n in nodes)
    assert nodes or report.verdict.engine != "ascend"


def test_run_of_a_command_that_is_missing_says_so() -> None:
    assert tools.run(["no-such-command-at-all"]) == Tool(state="missing")


def test_run_of_a_command_that_hangs_keeps_what_it_had_printed() -> None:
    found = tools.run(["bash", "-c", "echo begun; exec sleep 60"], timeout=0.5)

    assert found.state == "timeout"


def test_ask_of_a_real_interpreter_gives_its_versions() -> None:
    found = engine_probe.ask(interpreters.Interpreter(Path(sys.executable), "PATH"))

    assert found.error is None
    assert found.versions["python"] == ".".join(map(str, sys.version_info[:3]))


def test_ask_of_an_interpreter_whose_output_is_preceded_by_noise_reads_it(tmp_path: Path) -> None:
    said = json.dumps({"versions": {"vllm": "0.23.0"}, "plugins": ["ascend"], "glibc": "2.35"})
    python = interpreter(tmp_path, f"echo 'path string is NULL{said}'")

    found = engine_probe.ask(python)

    assert (found.versions, found.plugins, found.error) == ({"vllm": "0.23.0"}, ("ascend",), None)


@pytest.mark.parametrize(
    ("body", "error"),
    [("echo oops; exit 1", "oops"), ("exit 3", "exit 3"), ("echo '[1]'", "[1]")],
)
def test_ask_of_an_interpreter_that_fails_says_why(tmp_path: Path, body: str, error: str) -> None:
    assert engine_probe.ask(interpreter(tmp_path, body)).error == error


def test_ask_of_an_interpreter_that_is_not_there_says_so(tmp_path: Path) -> None:
    found = engine_probe.ask(interpreters.Interpreter(tmp_path / "python", "LAB_ENGINE_PYTHON"))

    assert found.error == "missing"


def test_ask_deeply_tells_the_import_that_failed() -> None:
    found = engine_probe.ask_deeply(sys.executable, dict(os.environ))

    assert found.error is not None
    assert "Error" in found.error


def test_public_environment_hides_secrets_and_credentials() -> None:
    found = probe.public(
        {"LAB_API_KEY": "s3cret", "HF_TOKEN": "s3cret", "http_proxy": "http://me:s3cret@proxy:1"}
    )

    assert "s3cret" not in str(found)
    assert found["http_proxy"] == "http://****@proxy:1"


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/opt/x", "overlay"), ("/home/ma-user/work/m", "ext4"), ("/dev/shm/x", "tmpfs")],
)
def test_file_system_is_that_of_the_nearest_mount(path: str, kind: str) -> None:
    assert places.file_system(Path(path), OVERLAY) == kind


def test_file_system_without_mounts_is_unknown() -> None:
    assert places.file_system(Path("/opt"), "") is None


def test_place_in_a_container_that_lies_in_its_own_file_system_does_not_last(
    tmp_path: Path,
) -> None:
    inside = places.place(tmp_path / "new" / "deep", "overlay / overlay rw 0 0", container=True)
    outside = places.place(tmp_path, "overlay / overlay rw 0 0", container=False)

    assert (inside.kept, inside.writable, outside.kept) == (False, True, True)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("mark", [".dockerenv", "run/.containerenv"])
def test_container_is_recognised_by_its_mark(tmp_path: Path, mark: str) -> None:
    assert not probe.in_container(tmp_path, {})

    (tmp_path / mark).parent.mkdir(exist_ok=True)
    (tmp_path / mark).touch()

    assert probe.in_container(tmp_path, {})


def test_left_over_engines_of_others_are_seen_and_ours_are_not(
    own_state: Path, tmp_path: Path
) -> None:
    import subprocess

    code = "import sys; print('ready', flush=True); sys.stdin.read()"
    one = subprocess.Popen(
        ["VLLM::EngineCore", "-I", "-S", "-c", code],
        executable=sys.executable,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert one.stdin and one.stdout
    one.stdout.readline()

    foreign = processes.left_over()
    (own_state / "servers").mkdir(parents=True)
    (own_state / "servers" / "1.json").write_text(json.dumps({"pgid": one.pid}))
    ours = processes.left_over()

    one.stdin.close()
    one.wait(10)
    one.stdout.close()
    assert f"{one.pid} VLLM::EngineCore" in foreign
    assert f"{one.pid} VLLM::EngineCore" not in ours
