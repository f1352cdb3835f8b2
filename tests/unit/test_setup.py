"""Setup of one environment: what is skipped, run again, made anew; nothing here needs the network."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from setup_fakes import BASE, english, quick_venv

from helpers import interpreters, setup
from helpers.setup import bootstrap, commands, engine, environments, pythons, stamps
from helpers.setup.environments import Environment, Step
from helpers.setup.problems import SetupError
from helpers.setup.pythons import Python

__all__ = ["english"]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    """Return an environment made in no time, whose one step appends to `steps.txt`."""

    def make(python: Python, directory: Path, log: Path) -> None:
        if not interpreters.inside(directory).exists():
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


def test_repairs_give_the_engine_its_name_and_its_permission(
    made: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environments.bring(made)

    engine._repairs(made)

    found = interpreters.versions(made.executable)
    assert found["vllm"].endswith("+cpu")
    commands.run([made.executable, "-c", "import sys; assert 'ctypes' in sys.modules"], made.log)
