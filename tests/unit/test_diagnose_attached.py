"""The diagnosis that errors and runs carry: read late, told only where it is certain, never in the way of the error."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from helpers import diagnose, errors, messages, paths, refusals
from helpers.diagnose import attached
from helpers.download.errors import ClientFailed, NoRoom
from helpers.lab_error import LabError
from helpers.server import Endpoint, log, problems

LOGS = paths.ROOT / "tests" / "fixtures" / "logs"
UNSURE = {"engine_killed"}
FAULTS = sorted(path for path in (LOGS / "faults").glob("*.log.gz"))
CLIENT = {
    "client_badjson": "request_not_valid",
    "client_image": "model_takes_no_images",
    "client_too_long": "context_exceeded",
    "client_tools": "tools_without_flags",
    "client_wrong_model": "model_name_unknown",
}


def _unpacked(name: str, folder: Path) -> Path:
    path = folder / f"{name}.log"
    path.write_bytes(gzip.decompress((LOGS / "faults" / f"{name}.log.gz").read_bytes()))
    return path


def _died(path: Path, seconds: str = "3.2") -> errors.ServerDied:
    told = {"ended": "exit code 1", "seconds": seconds, "log": path.name, "log_file": str(path)}
    evidence = log.tail(path, 12)
    return problems.of_command_line(evidence, **told) or errors.ServerDied(
        evidence=evidence, **told
    )


@pytest.mark.parametrize("path", FAULTS, ids=lambda path: path.name.removesuffix(".log.gz"))
def test_error_of_a_recorded_fault_carries_what_the_reader_finds(
    path: Path, tmp_path: Path
) -> None:
    name = path.name.removesuffix(".log.gz")
    file = _unpacked(name, tmp_path)

    found = _died(file).diagnosis

    expected = None if name in UNSURE else diagnose.read(file).entry
    assert (found.entry if found else None) == expected
    assert name in UNSURE or expected is not None


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_error_that_names_no_cause_tells_cause_place_and_advice(
    language: str, tmp_path: Path
) -> None:
    path = _unpacked("truncated", tmp_path)

    told = _died(path).told(language)

    found = diagnose.read(path, language)
    assert told.startswith("[server.died] ")
    assert f"[diagnose:weights_damaged] {found.title}" in told
    assert f"truncated.log:{found.evidence[0].line}  " in told
    assert found.cause in told
    assert all(line in told for line in found.advice)
    assert told.index(found.cause) < told.index(messages.text("error.label.evidence", language))


def test_error_that_names_its_cause_tells_only_the_entry_and_its_place(tmp_path: Path) -> None:
    error = _died(_unpacked("unknown_flag", tmp_path))

    told = error.told("en")

    found = diagnose.read(tmp_path / "unknown_flag.log", "en")
    assert isinstance(error, errors.UnrecognizedArguments)
    assert "[diagnose:flag_unknown]" in told
    assert "unknown_flag.log:5  " in told
    assert found.cause not in told


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_error_whose_log_says_nothing_certain_points_to_the_command(
    language: str, tmp_path: Path
) -> None:
    told = _died(_unpacked("engine_killed", tmp_path)).told(language)

    assert "[diagnose:" not in told
    assert told.splitlines()[3] == messages.text("error.diagnosis.unknown", language)
    assert "python -m helpers diagnose --last" in told


def test_diagnosis_is_read_only_when_it_is_asked_for_and_then_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, asked = _unpacked("truncated", tmp_path), []
    real = attached.find
    monkeypatch.setattr(attached, "find", lambda *given: asked.append(given) or real(*given))

    error = _died(path)
    before = len(asked)
    first, second = error.diagnosis, error.diagnosis

    assert (before, len(asked)) == (0, 1)
    assert first is second


def test_diagnosis_follows_the_language_that_is_asked_for(tmp_path: Path) -> None:
    error = _died(_unpacked("truncated", tmp_path))

    zh, en = error.told("zh"), error.told("en")

    assert diagnose.read(tmp_path / "truncated.log", "zh").title in zh
    assert diagnose.read(tmp_path / "truncated.log", "en").title in en


def test_failure_of_the_reader_leaves_the_error_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*given: object) -> None:
        raise RuntimeError("the reader is broken")

    monkeypatch.setattr(attached, "find", broken)

    error = _died(_unpacked("truncated", tmp_path))

    assert error.diagnosis is None
    assert error.told("en").startswith("[server.died] ")
    assert "broken" not in error.told("en")


def test_log_that_is_gone_leaves_the_error_as_it_was(tmp_path: Path) -> None:
    path = _unpacked("truncated", tmp_path)
    error = _died(path)
    path.unlink()

    assert error.diagnosis is None
    assert error.told("en").startswith("[server.died] ")


def test_log_over_the_limit_is_left_to_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attached, "MOST_BYTES", 1000)

    assert _died(_unpacked("truncated", tmp_path)).diagnosis is None


def test_what_was_said_beside_a_log_is_no_cause_of_its_own(tmp_path: Path) -> None:
    healthy = tmp_path / "healthy.log"
    healthy.write_bytes(
        gzip.decompress((LOGS / "healthy" / "server_01_shutdown.log.gz").read_bytes())
    )

    gone = errors.ServerGone(
        url="u", ended="?", log="l", original="[Errno 111] Connection refused", log_file=healthy
    )

    assert gone.diagnosis is None


@pytest.mark.parametrize(("name", "entry"), CLIENT.items(), ids=CLIENT)
def test_refusal_of_the_server_carries_its_entry(name: str, entry: str) -> None:
    said = gzip.decompress((LOGS / "faults" / f"{name}.json.gz").read_bytes()).decode()
    status = json.loads(said)["error"]["code"]
    body = {"tools": [{}], "messages": [], "max_tokens": 8000}

    error = refusals.refused(status, said, body, Endpoint("http://127.0.0.1:1", "M"))

    assert error.diagnosis is not None
    assert error.diagnosis.entry == entry
    assert ("[diagnose:" in error.told("en")) == (type(error) is errors.RequestRefused)


def test_download_that_failed_for_an_unknown_reason_is_diagnosed_from_its_words() -> None:
    said = "OSError: [Errno 28] No space left on device"

    told = ClientFailed(repo="r", log="l", original=said).told("en")

    found = diagnose.read_text(said, "en")
    assert f"[diagnose:{found.entry}]" in told
    assert found.cause in told


def test_error_with_nothing_to_read_has_no_diagnosis_and_three_sentences() -> None:
    error = NoRoom(directory="d", needed="2 GB", free="1 GB")

    assert error.diagnosis is None
    assert len(error.told().splitlines()) == 3


def test_class_below_one_that_names_no_cause_names_its_own() -> None:
    assert (errors.ServerDied.names_cause, errors.UnrecognizedArguments.names_cause) == (
        False,
        True,
    )
    assert LabError.names_cause


def test_run_is_explained_by_the_entry_in_its_message(tmp_path: Path) -> None:
    message = _died(_unpacked("truncated", tmp_path)).told("zh")

    assert attached.of_run(message) == "weights_damaged"


def test_run_without_an_entry_in_its_message_is_explained_by_its_first_faulty_log(
    tmp_path: Path,
) -> None:
    logs = [tmp_path / "none.log", _unpacked("engine_killed", tmp_path)]
    logs += [_unpacked("parser_unknown", tmp_path), _unpacked("truncated", tmp_path)]

    assert attached.of_run("[checkpoint.failed] …", logs) == "tool_parser_unknown"


def test_run_that_nothing_explains_has_no_entry() -> None:
    assert attached.of_run("NameError: name 'x' is not defined") is None


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_entry_is_told_without_a_log(language: str) -> None:
    told = attached.told("weights_damaged", language)

    assert set(told) == {"title", "cause", "fix", "confirm"}
    assert all(told.values())


@pytest.mark.parametrize(
    ("name", "kind", "values"),
    [
        ("auto_without_parser", problems.ParserMissing, {}),
        ("parser_unknown", problems.ParserUnknown, {"flag": "--tool-call-parser", "name": "nope"}),
        (
            "reasoning_unknown",
            problems.ParserUnknown,
            {"flag": "--reasoning-parser", "name": "nope"},
        ),
        ("unknown_flag", errors.UnrecognizedArguments, {"argument": "--no-such-flag 1"}),
    ],
)
def test_command_line_that_ended_a_server_has_a_type(
    name: str, kind: type[LabError], values: dict[str, str], tmp_path: Path
) -> None:
    error = _died(_unpacked(name, tmp_path))

    assert type(error) is kind
    assert {key: error.values[key] for key in values} == values
    assert error.original


def test_unknown_tool_parser_lists_those_that_are_known(tmp_path: Path) -> None:
    known = _died(_unpacked("parser_unknown", tmp_path)).values["known"].split(", ")

    assert {"hermes", "minicpm5"} <= set(known)


def test_server_that_ended_otherwise_has_no_type_of_its_command_line(tmp_path: Path) -> None:
    others = [path for path in FAULTS if "parser" not in path.name and "flag" not in path.name]
    names = [path.name.removesuffix(".log.gz") for path in others]
    names.remove("reasoning_unknown")

    for name in names:
        assert type(_died(_unpacked(name, tmp_path))) is errors.ServerDied
