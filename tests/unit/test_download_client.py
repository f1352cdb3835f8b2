"""Tests of what surrounds the client: its environment, the token, the meter, what the kernel loads."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from light import light_hub
from setup_fakes import BASE

from helpers import cli, download, interpreters, messages, paths, setup
from helpers.download import access, client, errors, meter
from helpers.download.patience import Patience
from helpers.setup import atomgit, commands

pytestmark = pytest.mark.usefixtures("own_state")


def test_import_loads_no_client_and_changes_no_variable() -> None:
    code = (
        "import os, sys; before = dict(os.environ); from helpers import download;"
        "import helpers.download.driver;"
        "assert dict(os.environ) == before;"
        "print([n for n in sys.modules if n.split('.')[0] in"
        " ('huggingface_hub', 'atomgit', 'atomgit_hub', 'httpx')])"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=paths.ROOT, capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"


def test_client_is_given_the_network_and_nothing_of_the_kernel(
    monkeypatch: pytest.MonkeyPatch, own_state: Path
) -> None:
    given = {
        "HTTPS_PROXY": "http://proxy:1", "NO_PROXY": "intranet", "HF_TOKEN": "t", "PYTHONPATH": "/x",
        "LAB_ATOMGIT_TOKEN": "t", "HF_ENDPOINT": "https://elsewhere", "HF_HOME": "/y",
    }  # fmt: skip
    for name, value in given.items():
        monkeypatch.setenv(name, value)

    found = client.variables("http://hub", Patience())

    assert found["HTTPS_PROXY"] == "http://proxy:1"
    assert {"intranet", "127.0.0.1"} <= set(found["NO_PROXY"].split(","))
    assert not {"HF_TOKEN", "PYTHONPATH", "LAB_ATOMGIT_TOKEN", "HF_HOME"} & found.keys()
    assert found["HF_ENDPOINT"] == "http://hub"
    assert Path(found["HOME"]).parent == own_state


@pytest.mark.parametrize(
    ("words", "masked"),
    [
        ("token s3cret refused", "token **** refused"),
        ("http://user:pass@proxy:1/x", "http://****@proxy:1/x"),
        ("GET https://cdn/x?Signature=abc&e=1 404", "GET https://cdn/x?**** 404"),
        ("authorization: Bearer abc.def", "authorization: Bearer ****"),
        ("nothing to hide", "nothing to hide"),
    ],
)
def test_what_is_shown_is_masked(words: str, masked: str) -> None:
    assert access.masked(words, "s3cret") == masked


def test_token_is_not_asked_for_in_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "getpass", lambda _: "typed")
    monkeypatch.setattr(access.progress, "in_notebook", lambda: True)

    in_run = access.ask("a/b")
    monkeypatch.delenv("LAB_RUN")

    assert (in_run, access.ask("a/b")) == ("", "typed")


def test_token_that_nobody_can_type_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: str) -> str:
        raise NotImplementedError("raw_input was called, but this frontend does not support it")

    monkeypatch.delenv("LAB_RUN")
    monkeypatch.setattr(access, "getpass", refuse)
    monkeypatch.setattr(access.progress, "in_notebook", lambda: True)

    assert access.ask("a/b") == ""


def test_token_that_was_typed_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = light_hub.checkpoint(tmp_path / "source", shard=2000)
    monkeypatch.setattr(access, "ask", lambda repo: "typed")
    (tmp_path / "target").mkdir()
    for path in source.iterdir():
        (tmp_path / "target" / path.name).write_bytes(path.read_bytes())

    with download.loopback_hub(source, light_hub.REPO, token="typed") as hub:
        made = download.download(light_hub.REPO, tmp_path / "target", hub=hub.url)

    assert made.complete


def test_meter_tells_share_rate_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([100.0, 102.0])
    monkeypatch.setattr(meter.time, "monotonic", lambda: next(clock))
    messages.use("en")
    one = meter.Meter(100_000_000)

    one.put(0)
    one.put(20_000_000)

    line = one.line("download.progress")
    assert "20%" in line and "10.0 MB/s" in line and "0:08 left" in line


def test_meter_before_anything_has_moved_tells_no_rate() -> None:
    one = meter.Meter(10)

    assert (one.rate, one.left()) == (0.0, "–")


def test_meter_forgets_what_is_long_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 50.0, 55.0])
    monkeypatch.setattr(meter.time, "monotonic", lambda: next(clock))
    one = meter.Meter(1000)

    for have in (0, 500, 505):
        one.put(have)

    assert one.rate == 1.0


def test_environment_that_cannot_be_made_is_told_with_setups_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(atomgit, "is_made", lambda: False)
    monkeypatch.setattr(client.sys, "executable", "/bin/false")
    said: list[str] = []

    with pytest.raises(errors.ClientMissing):
        client.prepare(said.append, said.append)

    assert said == [messages.text("download.preparing")]


@pytest.fixture
def fake_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a requirements directory with an atomgit.lock, and places of the test's own."""
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "atomgit.lock").write_text("one==1 \\\n    --hash=sha256:0\n")
    monkeypatch.setattr(paths, "REQUIREMENTS", tmp_path / "requirements")
    monkeypatch.setattr(paths, "venvs_dir", lambda: tmp_path / "venvs")
    monkeypatch.setattr(setup.pythons, "candidates", lambda series, given=None: [BASE])
    commands.reset()
    yield tmp_path


def test_setup_makes_the_clients_environment_only_when_it_is_named(
    fake_lock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup.engine, "existing", lambda: "there is one")
    for name in ("course.lock",):
        (fake_lock / "requirements" / name).write_text("one==1\n")

    plain = setup._plans(setup._options([]))
    named = setup._plans(setup._options(["--only", "atomgit"]))

    assert [one.name for one in plain] == ["course"]
    assert [one.name for one in named] == ["atomgit"]
    assert named[0].executable == interpreters.atomgit_python()


def test_clients_environment_counts_as_made_until_its_lock_changes(fake_lock: Path) -> None:
    from helpers.setup import stamps

    python = interpreters.atomgit_python()
    before = atomgit.is_made()
    python.parent.mkdir(parents=True)
    python.touch()
    (plan,) = setup._plans(setup._options(["--only", "atomgit"]))
    stamps.write(plan.directory, plan.wanted())
    made = atomgit.is_made()
    (fake_lock / "requirements" / "atomgit.lock").write_text("one==2\n")

    assert (before, made, atomgit.is_made()) == (False, True, False)


@pytest.mark.usefixtures("kept_environ")
def test_command_tells_an_error_without_a_traceback(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        cli.main, ["--language", "en", "download", "a/b", str(tmp_path / "no"), "--source", "local"]
    )

    assert done.exit_code == 1
    assert "[model.missing]" in done.output and "Traceback" not in done.output


def test_command_verifies_a_local_copy_and_locks_none_that_no_hub_vouches_for(
    tmp_path: Path,
) -> None:
    model = light_hub.checkpoint(tmp_path / "model", shard=2000)
    command = ["download", light_hub.REPO, str(model), "--source", "local"]

    plain = CliRunner().invoke(cli.main, command)
    locked = CliRunner().invoke(cli.main, [*command, "--lock"])

    assert plain.exit_code == 0 and str(model) in plain.output
    assert locked.exit_code == 1 and "[download.not_lockable]" in locked.output
