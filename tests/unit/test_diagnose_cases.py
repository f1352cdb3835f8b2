"""The shared cases: the right entry first, alone, inside a healthy log, and however a log was pasted."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from diagnose_logs import CASES, DISTURBED, embedded, entry_of

from helpers import diagnose

HARMLESS = {
    "E01-path-string-null",
    "E02-unknown-vllm-env",
    "E34-enginecore-died-at-exit",
}
PLACES = (0, 1234, 2500, 5000)


def test_shared_cases_are_all_there() -> None:
    assert len(CASES) == 42


@pytest.mark.parametrize("case", CASES)
def test_case_alone_gives_its_entry_first(case: str) -> None:
    found = diagnose.read_text(CASES[case])

    assert found.entry == entry_of(case)
    assert found.verdict == ("healthy" if case in HARMLESS else "fault")
    assert found.evidence[0].line <= CASES[case].count("\n") + 1


@pytest.mark.parametrize(("number", "case"), list(enumerate(CASES)), ids=list(CASES))
def test_case_in_5000_healthy_lines_gives_its_entry_first(number: int, case: str) -> None:
    place = PLACES[number % len(PLACES)]

    found = diagnose.read_text(embedded(CASES[case], place))

    assert found.entry == entry_of(case)
    assert place < found.evidence[0].line <= place + CASES[case].count("\n") + 1


@pytest.mark.full
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("case", CASES)
def test_case_anywhere_in_5000_healthy_lines_gives_its_entry_first(case: str, place: int) -> None:
    assert diagnose.read_text(embedded(CASES[case], place)).entry == entry_of(case)


@pytest.mark.parametrize("disturbed", DISTURBED.values(), ids=DISTURBED)
@pytest.mark.parametrize("case", CASES)
def test_case_disturbed_inside_a_log_gives_its_entry_first(
    case: str, disturbed: Callable[[str], str]
) -> None:
    text = embedded(disturbed(CASES[case]), 120, count=250)

    assert diagnose.read_text(text).entry == entry_of(case)


@pytest.mark.full
@pytest.mark.parametrize("disturbed", DISTURBED.values(), ids=DISTURBED)
@pytest.mark.parametrize("case", CASES)
def test_log_disturbed_as_a_whole_gives_the_case_first(
    case: str, disturbed: Callable[[str], str]
) -> None:
    text = disturbed(embedded(CASES[case], 2000))

    assert diagnose.read_text(text).entry == entry_of(case)


def test_memory_taken_by_others_differs_from_memory_used_up_by_the_numbers_only() -> None:
    form = "RuntimeError: NPU out of memory. Tried to allocate 1.00 GiB (NPU 0; 60.00 GiB total capacity; {0} GiB already allocated; 1.00 GiB free; {0} GiB reserved in total by PyTorch)"

    others, own = (diagnose.read_text(form.format(held)).entry for held in ("5.00", "58.00"))

    assert (others, own) == ("npu_memory_taken_by_others", "npu_out_of_memory")


def test_cause_is_the_first_causal_error_not_the_last_line() -> None:
    engine = "(EngineCore pid=7) ERROR 11-30 10:00:00 [core.py:1] "
    log = [
        f"{engine}EngineCore failed to start.",
        f"{engine}Traceback (most recent call last):",
        f"{engine}RuntimeError: x, error code is 507013",
        "(APIServer pid=6) RuntimeError: Engine core initialization failed. See root cause above.",
        "(APIServer pid=6) OSError: [Errno 98] Address already in use",
    ]

    found = diagnose.read_text("\n".join(log))

    assert (found.entry, found.evidence[0].line, found.process) == ("code.507013", 3, "EngineCore")
    assert {"engine_start_cut_off", "port_in_use"} <= set(found.also)
