"""Codes: each number of the fact sheet explained, others composed, wrappers giving way to what they wrap."""

from __future__ import annotations

import pytest

from helpers import diagnose
from helpers.diagnose import codes

NUMBERS = [
    *(107001, 107002, 107003, 200000, 207001, 207004, 207005, 207006, 207007, 207008, 207018),
    *(500000, 507000, 507001, 507008, 507010, 507011, 507013, 507014, 507015, 507018, 507033),
    *(507034, 507035, 507046, 507047, 507048, 507899, 507900, 507901),
    *(561000, 561001, 561002, 561003, 561103, 103900, 103901, 103902, 503900),
]
MODULES = {"00": "PTA", "01": "OPS", "02": "DIST", "03": "GRAPH", "04": "PROF"}
REASONS = ["001", "002", "003", "004", "005", "006", "007", "008", "009", "010", "011", "012"]
REASONS += ["100", "200", "300"]


def parts(name: str) -> list[dict[str, str]]:
    return [codes.explain(name, language) for language in ("zh", "en")]


@pytest.mark.parametrize("number", NUMBERS)
def test_number_is_explained_in_both_languages(number: int) -> None:
    for said in parts(str(number)):
        assert str(number) in said["title"]
        assert all(said.values())
        assert "{" not in "".join(said.values())


@pytest.mark.parametrize("number", NUMBERS)
def test_number_beside_the_words_error_code_is_found(number: int) -> None:
    log = f"RuntimeError: f:x.cpp:1 NPU function error: aclrtX(), error code is {number}"

    found = diagnose.read_text(log)

    assert f"code.{number}" in [found.entry, *found.also]


def test_number_without_such_words_is_no_code() -> None:
    assert codes.find(b"port507015inuse,cost:507013us") == []


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("reason", REASONS)
def test_marked_code_is_composed_of_module_and_reason(module: str, reason: str) -> None:
    name = f"ERR{module}{reason}"

    zh, en = parts(name)

    assert codes.is_known(name)
    assert MODULES[module] in zh["title"]
    assert MODULES[module] in en["title"]


@pytest.mark.parametrize(
    ("name", "module", "reason"),
    [
        ("ERR01007", "OPS", "not supported"),
        ("ERR02200", "DIST", "HCCL failed"),
        ("ERR00100", "PTA", "ACL failed"),
    ],
)
def test_marked_codes_of_the_fact_sheet_are_right(name: str, module: str, reason: str) -> None:
    title = codes.explain(name, "en")["title"]

    assert module in title
    assert reason in title


@pytest.mark.parametrize(
    "name", ["EZ9999", "EE9999", "EI0002", "EL0009", "EL0004", "EZ1234", "EH0007"]
)
def test_family_code_is_explained_by_its_component(name: str) -> None:
    component = {"Z": "operators", "E": "runtime", "I": "HCCL", "L": "driver", "H": "ACL"}[name[1]]

    assert component in codes.explain(name, "en")["title"]


def test_wrapper_gives_way_to_the_number_that_it_wraps() -> None:
    log = "[ERROR] 2025-11-10-01:25:12 (PID:1, Device:0, RankID:-1) ERR00100 PTA call acl api failed\nRuntimeError: x, error code is 507035"

    found = diagnose.read_text(log)

    assert (found.entry, found.also[0]) == ("code.507035", "code.ERR00100")


def test_wrapper_alone_is_the_answer_with_little_confidence() -> None:
    found = diagnose.read_text(
        "[ERROR] (PID:1, Device:0, RankID:-1) ERR00100 PTA call acl api failed"
    )

    assert (found.entry, found.confidence) == ("code.ERR00100", "low")


def test_hccl_number_is_told_from_other_numbers() -> None:
    log = "RuntimeError: InnerRunOpApi:x.cpp:281 OPS function error: HcclAllreduce, error code is 9"

    assert "code.HCCL9" in diagnose.read_text(log).also


@pytest.mark.parametrize("text", ["chatcmpl-EI00065", "AEI0006B", "E20260608 14:45:44", "ERR9900"])
def test_text_that_only_resembles_a_code_is_none(text: str) -> None:
    assert codes.find(text.replace(" ", "").encode()) == []


def test_unknown_code_raises_key_error() -> None:
    with pytest.raises(KeyError):
        codes.explain("999999", "en")
