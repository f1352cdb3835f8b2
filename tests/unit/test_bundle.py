"""The bundle for whoever is asked for help: what is in it, where it goes, what the learner is told."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path

import pytest
from bundling import Pack, fault_log, known_machine, pack, read_archive, recorded
from click.testing import CliRunner, Result

from helpers import bundle, diagnose, doctor, messages
from helpers.bundle import issue, subject
from helpers.bundle.problems import BundleExists, BundleUnwritable, NoServerThere
from helpers.cli import main
from helpers.diagnose.command import LogUnreadable, NoLog
from helpers.masking import MARK

pytestmark = pytest.mark.usefixtures("own_state")
__all__ = ["known_machine", "pack"]


def _run(*words: str) -> Result:
    return CliRunner().invoke(main, ["report-bundle", *words])


def test_bundle_has_every_file_and_each_is_explained(pack: Pack) -> None:
    files = pack(fault_log("truncated"), fault_log("unknown_flag"))

    assert list(files) == [
        "README.md", "issue.md", "versions.json", "doctor.json", "server.json",
        "logs/1-serve0.log", "diagnosis-1.json", "diagnosis-1.zh.txt", "diagnosis-1.en.txt",
        "logs/2-serve1.log", "diagnosis-2.json", "diagnosis-2.zh.txt", "diagnosis-2.en.txt",
    ]  # fmt: skip
    assert all(f"`{name}`" in files["README.md"] for name in list(files)[1:])


def test_diagnosis_in_a_bundle_is_the_readers(pack: Pack, tmp_path: Path) -> None:
    files = pack(fault_log("truncated"))

    told, found = (
        json.loads(files["diagnosis-1.json"]),
        diagnose.read(tmp_path / "serve0.log", "en"),
    )
    assert (told["entry"], told["confidence"]) == (found.entry, found.confidence)
    assert [one["line"] for one in told["evidence"]] == [one.line for one in found.evidence]
    assert diagnose.read(tmp_path / "serve0.log", "zh").cause in files["diagnosis-1.zh.txt"]
    assert found.cause in files["diagnosis-1.en.txt"]


def test_command_and_environment_are_those_of_the_state_file(tmp_path: Path) -> None:
    recorded(tmp_path, ["vllm", "serve", "m", "--api-key", "pl4nted", "--port", "8123"])

    bundle.make(subject.of_port(8123), tmp_path / "out.zip")

    server = json.loads(read_archive(tmp_path / "out.zip")["server.json"])
    assert server["command"] == ["vllm", "serve", "m", "--api-key", MARK, "--port", "8123"]
    assert server["environment"] == {"VLLM_API_KEY": MARK, "VLLM_LOGGING_LEVEL": "INFO"}
    assert server["engine_version"] == "0.32.0"


def test_log_that_is_named_finds_its_servers_state(tmp_path: Path) -> None:
    log = recorded(tmp_path, ["vllm", "serve", "m"])

    assert subject.of_files([log]).state is not None


def test_port_without_a_server_says_which_there_are(tmp_path: Path) -> None:
    recorded(tmp_path, ["vllm"])

    with pytest.raises(NoServerThere) as caught:
        subject.of_port(9)

    assert caught.value.values == {"port": 9, "ports": "8123"}


def test_last_is_the_log_that_was_written_to_last(own_state: Path) -> None:
    folder = own_state / "logs"
    folder.mkdir(parents=True)
    for number, name in enumerate(("b.log", "a.log")):
        (folder / name).write_text("x")
        os.utime(folder / name, (number, number))

    assert subject.last().logs == (folder / "a.log",)


def test_last_without_a_log_says_so() -> None:
    with pytest.raises(NoLog):
        subject.last()


def test_file_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    out, log = tmp_path / "mine.zip", tmp_path / "a.log"
    out.write_text("precious")
    log.write_text("x")

    with pytest.raises(BundleExists):
        bundle.make(subject.of_files([log]), out)

    assert out.read_text() == "precious"


def test_default_name_is_one_that_nothing_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.log").write_text("x")

    results = [_run("a.log") for _ in range(3)]

    assert [one.exit_code for one in results] == [0, 0, 0]
    assert len(list(tmp_path.glob("report-*.zip"))) == 3


def test_directory_that_is_not_there_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("x")

    with pytest.raises(BundleUnwritable) as caught:
        bundle.make(subject.of_files([tmp_path / "a.log"]), tmp_path / "no" / "out.zip")

    assert "No such file" in str(caught.value.original)


def test_log_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(LogUnreadable):
        bundle.make(subject.of_files([tmp_path / "none.log"]), tmp_path / "out.zip")

    assert not (tmp_path / "out.zip").exists()


def test_archive_is_readable_for_its_owner_only(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("x")

    made = bundle.make(subject.of_files([tmp_path / "a.log"]), tmp_path / "out.zip")

    assert stat.S_IMODE(made.path.stat().st_mode) == 0o600


def test_doctor_that_fails_leaves_the_rest(pack: Pack, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError("no machine")

    monkeypatch.setattr(doctor, "examine", broken)

    files = pack(fault_log("truncated"))

    assert json.loads(files["doctor.json"]) == {"error": "RuntimeError('no machine')"}
    assert "weights_damaged" in files["diagnosis-1.json"]


@pytest.mark.parametrize(
    ("text", "repository"),
    [
        (fault_log("truncated"), "vllm-project/vllm"),
        (fault_log("unknown_flag"), "vllm-project/vllm"),
        (
            "Platform plugin ascend is activated\nRuntimeError: ERR01007 OPS feature",
            "vllm-project/vllm-ascend",
        ),
        ("[ERROR] 2026-01-01 torch_npu: aclnnAdd failed, 507011", "vllm-project/vllm-ascend"),
        ("nothing known", "vllm-project/vllm"),
    ],
)
def test_issue_names_the_repository_and_why(text: str, repository: str, pack: Pack) -> None:
    body = pack(text)["issue.md"]

    head = body.partition("-->")[0]
    assert repository in head.splitlines()[1].removeprefix("Repository: ").split(", ")
    assert "Why there: " in head
    assert f"https://github.com/{repository}/issues" in head


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_what_is_posted_is_english_in_every_language(language: str, pack: Pack) -> None:
    messages.use(language)
    chinese = re.compile(r"[\u4e00-\u9fff]")

    files = pack(fault_log("unknown_flag"))

    assert [n for n in ("issue.md", "doctor.json", "server.json") if chinese.search(files[n])] == []
    assert messages.language() == language


def test_issue_has_versions_evidence_and_the_end_of_thefault_log(tmp_path: Path) -> None:
    recorded(tmp_path, ["vllm", "serve", "my model", "--port", "8123"])

    bundle.make(subject.of_port(8123), tmp_path / "out.zip")

    body = read_archive(tmp_path / "out.zip")["issue.md"]
    assert "| os | Linux for tests |" in body
    assert "vllm serve 'my model' --port 8123" in body
    assert "incomplete metadata, file not fully covered" in body
    assert "`weights_damaged`" in body
    assert "Failed core proc(s)" in body


def test_block_is_not_ended_by_what_is_in_it() -> None:
    text = "a\n```\nb\n`````\n"

    lines = issue.fenced(text).splitlines()

    assert lines[0] == "``````text"
    assert lines[-1] == "``````"


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_learner_is_told_where_what_and_that_it_is_to_be_read(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_LANGUAGE", language)
    log = tmp_path / "a.log"
    log.write_text(
        f"{fault_log('truncated')}\nAuthorization: Bearer pl4nted-token\n", encoding="utf-8"
    )

    result = _run(str(log), "--out", str(tmp_path / "o.zip"))

    assert result.exit_code == 0
    assert "o.zip" in result.output
    assert all(name in result.output for name in read_archive(tmp_path / "o.zip"))
    assert messages.text("bundle.removed.header", language, count=1) in result.output
    assert messages.text("bundle.known", language, entry="weights_damaged") in result.output
    assert messages.text("bundle.read_first", language) in result.output
    assert "vllm-project/vllm" in result.output


@pytest.mark.parametrize(
    "words", [("--last", "--port", "1"), ("a.log", "--last"), ("a.log", "--port", "1")]
)
def test_two_ways_at_once_are_refused(words: tuple[str, ...]) -> None:
    result = _run(*words)

    assert result.exit_code == 2
    assert messages.text("bundle.which") in result.output


def test_command_without_a_word_takes_the_newestfault_log(own_state: Path, tmp_path: Path) -> None:
    (own_state / "logs").mkdir(parents=True)
    (own_state / "logs" / "new.log").write_text(fault_log("unknown_flag"))

    result = _run("--out", str(tmp_path / "o.zip"))

    assert result.exit_code == 0
    assert "logs/1-new.log" in read_archive(tmp_path / "o.zip")
