"""The bundle for whoever is asked for help: what is in it, where it goes, and that no secret is."""

from __future__ import annotations

import gzip
import json
import os
import re
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from planted import AROUND, BREAKS, FORMS, PREFIX, SHAPES, survives

from helpers import bundle, diagnose, doctor, messages, paths
from helpers.bundle import contents, excerpt, issue, subject
from helpers.bundle.problems import BundleExists, BundleUnwritable, NoServerThere
from helpers.cli import main
from helpers.diagnose.command import LogUnreadable, NoLog
from helpers.doctor.machine import Machine
from helpers.masking import MARK, Mask
from helpers.server import process, state

FAULTS = paths.ROOT / "tests" / "fixtures" / "logs" / "faults"
HOME, USER = "/home/zhang.san", "zhang.san"
pytestmark = pytest.mark.usefixtures("own_state", "known_machine")
Pack = Callable[..., dict[str, str]]


@pytest.fixture
def known_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the doctor report on a machine that was not read: that takes seconds, and is tested
    elsewhere.
    """
    report = doctor.report_on(Machine(os="Linux for tests"))
    monkeypatch.setattr(doctor, "examine", lambda: report)


@pytest.fixture
def pack(tmp_path: Path) -> Pack:
    """Return a function that packs a log's text, and returns what is in the archive."""

    def packed(*texts: str) -> dict[str, str]:
        logs = []
        for number, text in enumerate(texts):
            logs.append(tmp_path / f"serve{number}.log")
            logs[-1].write_text(text, encoding="utf-8")
        out = tmp_path / "out.zip"
        out.unlink(missing_ok=True)
        bundle.make(subject.of_files(logs), out)
        return _read(out)

    return packed


def _read(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def _log(name: str) -> str:
    return gzip.decompress((FAULTS / f"{name}.log.gz").read_bytes()).decode()


def _recorded(folder: Path, argv: list[str], port: int = 8123) -> Path:
    """Return the log of a server that the state directory knows; it has ended."""
    log = folder / "known.log"
    log.write_text(_log("truncated"), encoding="utf-8")
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


def _run(*words: str) -> Result:
    return CliRunner().invoke(main, ["report-bundle", *words])


def test_bundle_has_every_file_and_each_is_explained(pack: Pack) -> None:
    files = pack(_log("truncated"), _log("unknown_flag"))

    assert list(files) == [
        "README.md", "issue.md", "versions.json", "doctor.json", "server.json",
        "logs/1-serve0.log", "diagnosis-1.json", "diagnosis-1.zh.txt", "diagnosis-1.en.txt",
        "logs/2-serve1.log", "diagnosis-2.json", "diagnosis-2.zh.txt", "diagnosis-2.en.txt",
    ]  # fmt: skip
    assert all(f"`{name}`" in files["README.md"] for name in list(files)[1:])


def test_diagnosis_in_a_bundle_is_the_readers(pack: Pack, tmp_path: Path) -> None:
    files = pack(_log("truncated"))

    told, found = (
        json.loads(files["diagnosis-1.json"]),
        diagnose.read(tmp_path / "serve0.log", "en"),
    )
    assert (told["entry"], told["confidence"]) == (found.entry, found.confidence)
    assert [one["line"] for one in told["evidence"]] == [one.line for one in found.evidence]
    assert diagnose.read(tmp_path / "serve0.log", "zh").cause in files["diagnosis-1.zh.txt"]
    assert found.cause in files["diagnosis-1.en.txt"]


def test_command_and_environment_are_those_of_the_state_file(tmp_path: Path) -> None:
    _recorded(tmp_path, ["vllm", "serve", "m", "--api-key", "pl4nted", "--port", "8123"])

    bundle.make(subject.of_port(8123), tmp_path / "out.zip")

    server = json.loads(_read(tmp_path / "out.zip")["server.json"])
    assert server["command"] == ["vllm", "serve", "m", "--api-key", MARK, "--port", "8123"]
    assert server["environment"] == {"VLLM_API_KEY": MARK, "VLLM_LOGGING_LEVEL": "INFO"}
    assert server["engine_version"] == "0.32.0"


def test_log_that_is_named_finds_its_servers_state(tmp_path: Path) -> None:
    log = _recorded(tmp_path, ["vllm", "serve", "m"])

    assert subject.of_files([log]).state is not None


def test_port_without_a_server_says_which_there_are(tmp_path: Path) -> None:
    _recorded(tmp_path, ["vllm"])

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

    files = pack(_log("truncated"))

    assert json.loads(files["doctor.json"]) == {"error": "RuntimeError('no machine')"}
    assert "weights_damaged" in files["diagnosis-1.json"]


@pytest.mark.parametrize(
    ("text", "repository"),
    [
        (_log("truncated"), "vllm-project/vllm"),
        (_log("unknown_flag"), "vllm-project/vllm"),
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

    files = pack(_log("unknown_flag"))

    assert [n for n in ("issue.md", "doctor.json", "server.json") if chinese.search(files[n])] == []
    assert messages.language() == language


def test_issue_has_versions_evidence_and_the_end_of_the_log(tmp_path: Path) -> None:
    _recorded(tmp_path, ["vllm", "serve", "my model", "--port", "8123"])

    bundle.make(subject.of_port(8123), tmp_path / "out.zip")

    body = _read(tmp_path / "out.zip")["issue.md"]
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


def test_long_log_keeps_head_end_and_evidence_under_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "long.log"
    path.write_text("".join(f"line {n}\n" for n in range(1, 5001)))

    found = excerpt.masked("x", excerpt.read(path, [2500]), [2500], Mask())

    head, around, end = range(1, 401), range(2480, 2521), range(4201, 5001)
    assert found.lines == {n: f"line {n}" for part in (head, around, end) for n in part}
    assert "… lines 401-2479 of 5000 left out …" in found.text()


def test_secret_that_the_end_of_a_part_cuts_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "long.log"
    lines = [f"line {n}" for n in range(1, 5001)]
    lines[399], lines[400] = "ends in pl4nted-", "value begins"
    lines[4199], lines[4200] = "ends in pl4nted-", "value begins"
    path.write_text("\n".join(lines))

    found = excerpt.masked("x", excerpt.read(path, []), [], Mask(["pl4nted-value"]))

    assert (found.lines[400], found.lines[4201]) == (f"ends in {MARK}", f"{MARK} begins")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le"])
def test_log_in_another_encoding_is_masked_too(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.log"
    path.write_bytes(
        ("start of it all, long enough\n" * 9 + "key pl4nted-value\n").encode(encoding)
    )

    found = excerpt.masked("x", excerpt.read(path, []), [], Mask(["pl4nted-value"]))

    assert found.lines[10] == f"key {MARK}"


def test_line_without_an_end_is_cut_at_a_blank(tmp_path: Path) -> None:
    path = tmp_path / "wide.log"
    path.write_text("word " * 13_105 + "pl4nted-" + "x" * 200_000 + "\nnext\n")

    found = excerpt.read(path, [])

    assert [number for number, _ in found] == [1, 2]
    assert found[0][1].endswith("word ")
    assert "pl4nted" not in found[0][1]


@pytest.fixture
def somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a user with a name and a home of their own."""
    monkeypatch.setenv("HOME", HOME)
    for name in ("USER", "LOGNAME"):
        monkeypatch.setenv(name, USER)


PLANTED = {
    "LAB_API_KEY": "pl4nted/lab+key==&x",
    "LAB_ATOMGIT_TOKEN": "Pl4ntedAtomgitTok3nXYZ",
    "OPENAI_API_KEY": "sk-planted-openai-0123456789",
    "HF_TOKEN": SHAPES["hugging face"],
    "MY_DB_PASSWORD": "p\"l'a\\nted 9",
    "SERVICE_SECRET": "pl4nted-service-secret",
    "HTTPS_PROXY": "http://proxyuser:pl4ntedproxy@proxy.example:3128",
}
VALUES = [*(v for k, v in PLANTED.items() if k != "HTTPS_PROXY"), "pl4ntedproxy"]


def _planted_log() -> str:
    """Return a real fault's log with every secret in every form, and everything said in between."""
    lines = []
    for value in VALUES:
        lines += [f"{PREFIX}got {form(value)} !" for form in FORMS.values()]
        middle = len(value) // 2
        lines += [f"{PREFIX}x {value[:middle]}{cut}{value[middle:]} y" for cut in BREAKS.values()]
    for number, around in enumerate(AROUND.values()):
        lines.append(f"{PREFIX}{around.format(f'n0body-t0ld-{number:03d}')}")
    lines += [f"{PREFIX}refused {token}" for token in SHAPES.values()]
    lines.append(f"{PREFIX}loading {HOME}/models/x for {USER}, %2Fhome%2Fzhang.san%2Fy")
    return "\n".join([*lines, _log("truncated"), *lines])


def test_no_planted_secret_survives_in_any_file(
    tmp_path: Path, somebody: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)
    log = _recorded(
        tmp_path, ["vllm", "serve", f"{HOME}/m", "--api-key", "argv-pl4nted", "second-0ne"]
    )
    log.write_text(_planted_log() + "\nclient sent argv-pl4nted and second-0ne\n", encoding="utf-8")

    made = bundle.make(subject.of_port(8123), tmp_path / "out.zip")

    untold = [f"n0body-t0ld-{number:03d}" for number in range(len(AROUND))]
    secrets = [*VALUES, *untold, *SHAPES.values(), "argv-pl4nted", "second-0ne", HOME, USER]
    for name, text in {**_read(made.path), "names": "\n".join(made.files)}.items():
        assert [one for one in secrets if survives(one, text)] == [], name
    assert made.diagnosis.entry == "weights_damaged"
    assert made.removed["value"] > 50
    assert made.removed["<home>"] > 0


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    value=st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=40),
    form=st.sampled_from(sorted(FORMS)),
    between=st.sampled_from(sorted(BREAKS)),
    line=st.integers(0, 100),
)
def test_no_secret_of_the_environment_survives_wherever_it_stands(
    pack: Pack, monkeypatch: pytest.MonkeyPatch, value: str, form: str, between: str, line: int
) -> None:
    monkeypatch.setenv("SOME_TOKEN", value)
    lines = _log("truncated").splitlines()
    middle = len(value) // 2
    lines[line:line] = [
        f"{PREFIX}{FORMS[form](value)} |",
        f"{PREFIX}{value[:middle]}{BREAKS[between]}{value[middle:]} |",
    ]

    files = pack("\n".join(lines))

    assert [name for name, text in files.items() if survives(value, text)] == []


def test_secret_in_the_lines_of_the_evidence_is_gone_from_the_issue(pack: Pack) -> None:
    files = pack(
        "KeyError: 'invalid tool call parser: hf_plantedplantedplanted (chose from { a })'"
    )

    assert all("hf_planted" not in text for text in files.values())
    assert "invalid tool call parser: " in files["issue.md"]


@pytest.mark.parametrize("name", ["root", "ma-user"])
def test_account_that_names_nobody_stays_and_its_home_does_not(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", f"/{name}")
    monkeypatch.setenv("USER", name)
    monkeypatch.setattr(contents.getpass, "getuser", lambda: name)

    mask = contents.new_mask(subject.Subject(()), [])

    assert mask.of(f"See {name} cause above: /{name}/x") == f"See {name} cause above: <home>/x"


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_learner_is_told_where_what_and_that_it_is_to_be_read(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_LANGUAGE", language)
    log = tmp_path / "a.log"
    log.write_text(f"{_log('truncated')}\nAuthorization: Bearer pl4nted-token\n", encoding="utf-8")

    result = _run(str(log), "--out", str(tmp_path / "o.zip"))

    assert result.exit_code == 0
    assert "o.zip" in result.output
    assert all(name in result.output for name in _read(tmp_path / "o.zip"))
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


def test_command_without_a_word_takes_the_newest_log(own_state: Path, tmp_path: Path) -> None:
    (own_state / "logs").mkdir(parents=True)
    (own_state / "logs" / "new.log").write_text(_log("unknown_flag"))

    result = _run("--out", str(tmp_path / "o.zip"))

    assert result.exit_code == 0
    assert "logs/1-new.log" in _read(tmp_path / "o.zip")
