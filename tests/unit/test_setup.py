"""Setup: what is skipped, resumed, refused and left alone; nothing here needs the network."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from setup_fakes import quick_venv, serve, wheel

from helpers import interpreters, paths, setup
from helpers.setup import bootstrap, commands, engine, environments, pythons, stamps, texts
from helpers.setup.environments import Environment, Step
from helpers.setup.problems import SetupError
from helpers.setup.pythons import Python

BASE = Python(Path(sys.executable), (sys.version_info[0], sys.version_info[1], sys.version_info[2]))
PIP_MAIN = """
import pathlib, sys, sysconfig, zipfile
if sys.argv[1] == "--version":
    print("pip 26.3 from a test")
else:
    zipfile.ZipFile(sys.argv[-1]).extractall(sysconfig.get_path("purelib"))
"""


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Speak English, keep every file in the test's own directory, and give the signals back."""
    monkeypatch.setenv("LAB_LANGUAGE", "en")
    monkeypatch.setattr(paths, "venvs_dir", lambda: tmp_path / "venvs")
    monkeypatch.delenv("LAB_ENGINE_PYTHON", raising=False)
    before = signal.getsignal(signal.SIGTERM)
    commands.reset()
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    """Return an environment made in no time, whose one step appends to `steps.txt`."""

    def make(python: Python, directory: Path, log: Path) -> None:
        if not bootstrap.executable(directory).exists():
            quick_venv(directory)

    monkeypatch.setattr(bootstrap, "make", make)
    source = tmp_path / "some.lock"
    source.write_text("one==1\n")

    def step(environment: Environment) -> str:
        with (tmp_path / "steps.txt").open("a") as file:
            file.write("step\n")
        return ""

    return Environment(
        name="course", directory=tmp_path / "venvs" / "course", sources=(source,), python=BASE,
        steps=(Step("title-packages", step, {"count": 1}),), quick_proof="import sys", needed=1,
        log=tmp_path / "venvs" / "logs" / "course.log",
    )  # fmt: skip


def _steps(environment: Environment) -> int:
    file = environment.sources[0].with_name("steps.txt")
    return len(file.read_text().splitlines()) if file.exists() else 0


def _site(environment: Environment) -> Path:
    return next(environment.directory.glob("lib/python*/site-packages"))


def test_second_setup_runs_only_the_quick_proof(
    made: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    environments.bring(made)
    ran: list[list[str]] = []
    real = commands.run
    monkeypatch.setattr(
        commands,
        "run",
        lambda words, *a, **k: ran.append([*map(str, words)]) or real(words, *a, **k),
    )

    outcome = environments.bring(made)

    assert outcome.state == "state-kept"
    assert [words[-1] for words in ran] == ["import sys"]
    assert _steps(made) == 1


def test_changed_lock_file_runs_the_steps_again(made: Environment) -> None:
    environments.bring(made)
    made.sources[0].write_text("one==2\n")

    outcome = environments.bring(made)

    assert (outcome.state, _steps(made)) == ("state-new", 2)


def test_failing_proof_of_a_stamped_environment_runs_the_steps_again(made: Environment) -> None:
    environments.bring(made)
    made.quick_proof = "raise SystemExit(1)"

    environments.bring(made)

    assert _steps(made) == 2


def test_python_that_no_longer_runs_is_made_anew(
    made: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    environments.bring(made)
    made.executable.unlink()

    environments.bring(made)

    assert pythons.ask(made.executable) is not None


def test_damage_that_resuming_does_not_mend_is_made_anew_once(made: Environment) -> None:
    environments.bring(made)
    stamps.remove(made.directory)
    mark = _site(made) / "damage"
    mark.touch()

    def step(environment: Environment) -> str:
        commands.run(
            [sys.executable, "-c", f"import os; assert not os.path.exists({str(mark)!r})"],
            environment.log,
        )
        return ""

    made.steps = (Step("title-packages", step, {"count": 1}),)

    outcome = environments.bring(made)

    assert outcome.state == "state-new"
    assert not mark.exists()


def test_moved_environment_is_made_anew(made: Environment, tmp_path: Path) -> None:
    environments.bring(made)
    (_site(made) / "mark").touch()
    moved = tmp_path / "venvs" / "elsewhere"
    made.directory.rename(moved)
    made.directory = moved

    environments.bring(made)

    assert not (_site(made) / "mark").exists()


def test_package_cut_while_installing_is_not_trusted(made: Environment) -> None:
    environments.bring(made)
    cut, whole = _site(made) / "cut-1.dist-info", _site(made) / "whole-1.dist-info"
    for metadata in (cut, whole):
        metadata.mkdir()
        (metadata / "METADATA").touch()
    (whole / "RECORD").touch()
    stamps.remove(made.directory)

    environments.bring(made)

    assert (cut.exists(), whole.exists()) == (False, True)


def test_failed_step_leaves_no_stamp_and_says_what_next(
    made: Environment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def step(environment: Environment) -> str:
        return commands.run(
            [sys.executable, "-c", "print('no route'); raise SystemExit(3)"], environment.log
        )

    made.steps = (Step("title-packages", step, {"count": 1}),)
    monkeypatch.setattr(setup, "_plans", lambda options: [made])

    status = setup.main([])

    said = capsys.readouterr().err
    assert status == 1
    assert stamps.read(made.directory) == {}
    for part in (
        "installing 1 packages",
        "exit code 3",
        "no route",
        str(made.log),
        "goes on from where",
    ):
        assert part in said
    assert "Traceback" not in said


def test_full_disk_is_refused_before_anything_is_made(made: Environment) -> None:
    made.needed = 10**9

    with pytest.raises(SetupError, match="Not enough disk"):
        environments.bring(made)

    assert not made.directory.exists()


def test_check_installs_nothing_and_reports_by_its_status(
    made: Environment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(setup, "_plans", lambda options: [made])

    missing = setup.main(["--check"])
    environments.bring(made)
    ready = setup.main(["--check"])

    assert (missing, ready) == (1, 0)
    assert _steps(made) == 1
    assert "missing or out of date" in capsys.readouterr().out


_INTERRUPTED = """
import sys
from pathlib import Path
from helpers import paths, setup
from helpers.setup import bootstrap, commands
from helpers.setup.environments import Environment, Step
from setup_fakes import quick_venv
import test_setup
place = Path(sys.argv[1])
paths.venvs_dir = lambda: place / "venvs"
def make(python, directory, log):
    if not bootstrap.executable(directory).exists():
        quick_venv(directory)
bootstrap.make = make
def step(environment):
    (place / "began").touch()
    commands.run([sys.executable, "-c", f"import time; time.sleep({sys.argv[2]})"], environment.log)
    return ""
lock = place / "some.lock"
lock.touch()
plan = Environment(
    name="course", directory=place / "venvs" / "course", sources=(lock,), python=test_setup.BASE,
    steps=(Step("title-packages", step, {"count": 1}),), quick_proof="", needed=1,
    log=place / "course.log")
setup._plans = lambda options: [plan]
sys.exit(setup.main([]))
"""


def _start(place: Path, seconds: float) -> subprocess.Popen[str]:
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(paths.ROOT), str(Path(__file__).parent)]),
    }
    return subprocess.Popen(
        [sys.executable, "-c", _INTERRUPTED, str(place), str(seconds)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables,
    )  # fmt: skip


def _until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_setup_says_so_and_the_next_one_goes_on(
    tmp_path: Path, number: signal.Signals
) -> None:
    first = _start(tmp_path, 60)
    _until((tmp_path / "began").exists)
    first.send_signal(number)
    _, said = first.communicate(timeout=20)
    unstamped = stamps.read(tmp_path / "venvs" / "course")

    second = _start(tmp_path, 0)
    shown, _ = second.communicate(timeout=30)

    assert (first.returncode, second.returncode) == (130, 0)
    assert "goes on from where it stopped" in said and "Traceback" not in said
    assert unstamped == {}
    assert "going on from there" in shown


def test_second_setup_at_the_same_time_waits_and_installs_nothing(tmp_path: Path) -> None:
    first = _start(tmp_path, 2)
    _until((tmp_path / "began").exists)
    second = _start(tmp_path, 60)

    outputs = [process.communicate(timeout=30)[0] for process in (first, second)]

    assert (first.returncode, second.returncode) == (0, 0)
    assert f"Another setup is at work here (pid {first.pid})" in outputs[1]
    assert "ready, nothing to install" in outputs[1]


@pytest.fixture
def fake_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Return the wheel of a pip that unpacks itself; the bootstrap lock of the test names it."""
    content = wheel("pip", "26.3", files={"pip/__init__.py": "", "pip/__main__.py": PIP_MAIN})
    lock = tmp_path / "requirements" / bootstrap.LOCK
    lock.parent.mkdir()
    lock.write_text(f"pip==26.3 \\\n    --hash=sha256:{hashlib.sha256(content).hexdigest()}\n")
    monkeypatch.setattr(paths, "REQUIREMENTS", lock.parent)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    return content


def _without_ensurepip(directory: Path) -> Python:
    """Return a Python that has no ensurepip, as Debian's without python3-venv."""
    quick_venv(directory)
    site = next(directory.glob("lib/python*/site-packages"))
    (site / "tests.pth").write_text("import sys; sys.modules['ensurepip'] = None\n")
    return Python(directory / "bin" / "python", BASE.version)


def test_python_without_ensurepip_gets_pip_from_the_index(
    tmp_path: Path, fake_pip: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = _without_ensurepip(tmp_path / "base")
    with serve() as index:
        index.wheels["pip-26.3-py3-none-any.whl"] = fake_pip
        monkeypatch.setenv("PIP_INDEX_URL", index.address)

        bootstrap.make(python, tmp_path / "venvs" / "new", tmp_path / "log")

    inside = bootstrap.executable(tmp_path / "venvs" / "new")
    assert "26.3" in commands.run([inside, "-I", "-m", "pip", "--version"], tmp_path / "log")


def test_pip_of_another_content_than_locked_is_refused(
    tmp_path: Path, fake_pip: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = _without_ensurepip(tmp_path / "base")
    with serve() as index:
        index.wheels["pip-26.3-py3-none-any.whl"] = fake_pip + b"tampered"
        monkeypatch.setenv("PIP_INDEX_URL", index.address)

        with pytest.raises(SetupError, match="SHA-256"):
            bootstrap.make(python, tmp_path / "venvs" / "new", tmp_path / "log")


def test_unreachable_index_without_ensurepip_says_what_next(
    tmp_path: Path, fake_pip: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = _without_ensurepip(tmp_path / "base")
    monkeypatch.setenv("PIP_INDEX_URL", "http://user:secret@127.0.0.1:9/simple")

    with pytest.raises(SetupError) as refused:
        bootstrap.make(python, tmp_path / "venvs" / "new", tmp_path / "log")

    assert "PIP_INDEX_URL" in str(refused.value)
    assert "secret" not in str(refused.value)


def _given_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, with_vllm: bool) -> Path:
    python = quick_venv(tmp_path / "given")
    if with_vllm:
        metadata = (
            next((tmp_path / "given").glob("lib/python*/site-packages")) / "vllm-0.23.0.dist-info"
        )
        metadata.mkdir()
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: vllm\nVersion: 0.23.0\n")
    monkeypatch.setenv("LAB_ENGINE_PYTHON", str(python))
    return python


def _listing(directory: Path) -> list[tuple[str, int]]:
    return sorted((str(one), one.lstat().st_mtime_ns) for one in directory.rglob("*"))


def test_given_engine_is_used_and_not_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _given_engine(tmp_path, monkeypatch, with_vllm=True)
    before = _listing(tmp_path / "given")

    status = setup.main(["--only", "engine"])

    assert status == 0
    assert "vLLM 0.23.0. It is left as it is" in capsys.readouterr().out
    assert _listing(tmp_path / "given") == before
    assert not (tmp_path / "venvs" / "engine").exists()


def test_given_engine_without_vllm_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _given_engine(tmp_path, monkeypatch, with_vllm=False)

    status = setup.main(["--only", "engine"])

    assert status == 1
    assert "it has no vllm" in capsys.readouterr().err


def test_other_platform_skips_the_engine_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(interpreters, "find_engine", lambda: None)
    monkeypatch.setattr(engine.platform, "system", lambda: "Darwin")

    status = setup.main(["--only", "engine"])

    assert status == 0
    assert "BASE_URL" in capsys.readouterr().out


def test_repairs_give_the_engine_its_name_and_its_permission(
    made: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environments.bring(made)

    engine._repairs(made)

    found = interpreters.versions(made.executable)
    assert found["vllm"].endswith("+cpu")
    commands.run([made.executable, "-c", "import sys; assert 'ctypes' in sys.modules"], made.log)


def test_broken_python_on_path_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shim = tmp_path / "python3.12"
    shim.write_text("#!/bin/sh\necho 'pyenv: python3.12: command not found' >&2\nexit 127\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert pythons.ask(shim) is None


def test_unsupported_python_is_refused_with_what_was_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SetupError, match="No usable Python 9.9"):
        pythons.candidates(["9.9"])


@pytest.mark.parametrize(
    ("variables", "language"),
    [
        ({}, "zh"),
        ({"LANG": "C.UTF-8"}, "zh"),
        ({"LANG": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LAB_LANGUAGE": "en"}, "en"),
    ],
)
def test_language_follows_the_setting_then_the_locale(
    variables: dict[str, str], language: str
) -> None:
    assert texts.language(variables) == language


@pytest.mark.parametrize("code", sorted(texts.TEXTS))
def test_texts_exist_in_both_languages_with_the_same_values(code: str) -> None:
    import string

    both = texts.TEXTS[code]

    fields = [
        sorted(name for _, name, _, _ in string.Formatter().parse(both[one]) if name)
        for one in ("zh", "en")
    ]
    assert fields[0] == fields[1]
    assert both["zh"] != both["en"] or code == "step-start"


def test_child_environment_drops_what_bends_it_and_keeps_proxies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {
        "PYTHONPATH": "/x",
        "PIP_USER": "1",
        "PIP_TARGET": "/y",
        "HTTPS_PROXY": "http://p:1",
    }.items():
        monkeypatch.setenv(name, value)

    found = commands.environment()

    assert "PYTHONPATH" not in found and "PIP_TARGET" not in found
    assert (found["PIP_USER"], found["HTTPS_PROXY"]) == ("0", "http://p:1")


_HOOK = """
import pkgutil, sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in sys.stdlib_module_names and top != "helpers":
            raise ImportError(name + " is not in the standard library")
sys.meta_path.insert(0, Refuse())
sys.path.insert(0, sys.argv[1])
import helpers.__main__, helpers.setup
for module in pkgutil.iter_modules(helpers.setup.__path__):
    __import__("helpers.setup." + module.name)
sys.argv = ["helpers", "setup", "--check", "--only", "course"]
sys.exit(helpers.__main__.main())
"""


def _checkout(place: Path) -> Path:
    """Return a copy of what setup needs of the checkout."""
    for name in ("helpers", "requirements"):
        shutil.copytree(
            paths.ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(paths.ROOT / "pyproject.toml", place)
    return place


def test_setup_imports_the_standard_library_only(tmp_path: Path) -> None:
    copy = _checkout(tmp_path / "copy")

    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _HOOK, str(copy)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (1, "")
    assert "missing or out of date" in done.stdout


def test_read_only_checkout_puts_the_environments_into_the_state_directory(tmp_path: Path) -> None:
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare (util-linux) to become another user")
    copy, state = _checkout(tmp_path / "copy"), tmp_path / "state"
    state.mkdir()
    for one in (copy, *copy.rglob("*")):
        one.chmod(one.stat().st_mode & ~0o222)
    variables = {**os.environ, "LAB_STATE_DIR": str(state), "PYTHONPATH": ""}
    other = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]

    done = subprocess.run(
        [*other, sys.executable, "-m", "helpers", "setup", "--check", "--only", "course"],
        cwd=copy, env=variables, capture_output=True, text=True, check=False,
    )  # fmt: skip
    copy.chmod(0o755)
    if "unshare" in done.stderr:
        pytest.skip("this kernel allows no user namespaces")

    assert "missing or out of date" in done.stdout, done.stderr
    assert (state / "venvs" / "logs" / "course.log").exists()
    assert not (copy / ".venvs").exists()


def test_other_commands_ask_for_setup_first_in_both_languages(tmp_path: Path) -> None:
    copy = _checkout(tmp_path / "copy")
    variables = {**os.environ, "LAB_STATE_DIR": str(tmp_path / "state")}

    done = subprocess.run(
        [sys.executable, "-S", "-m", "helpers", "status"],
        cwd=copy, env=variables, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 1
    assert "python -m helpers setup" in done.stderr and "请先运行" in done.stderr


@pytest.mark.full
def test_setup_makes_the_course_environment_from_nothing_and_resumes_a_killed_one(
    tmp_path: Path,
) -> None:
    copy = _checkout(tmp_path / "copy")
    command = [sys.executable, "-m", "helpers", "setup", "--only", "course"]
    first = subprocess.Popen(command, cwd=copy, stdout=subprocess.PIPE, text=True)
    _until(
        lambda: len(list(copy.glob(".venvs/course/lib/python*/site-packages/*.dist-info"))) > 20,
        120,
    )
    first.kill()
    first.communicate()

    second = subprocess.run(command, cwd=copy, check=False)
    third = subprocess.run([*command, "--check"], cwd=copy, check=False)

    assert (second.returncode, third.returncode) == (0, 0)
