"""Tests of the reader of `npu-smi info` on what recordings do not have: cut, coloured, prefixed."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.doctor import npu_failures, npu_smi, npu_topics

FOLDER = Path(__file__).parents[1] / "fixtures" / "ascend" / "recorded" / "npu_smi"
A2 = (FOLDER / "910b3_25.2.0_one_busy_npu4.txt").read_text("utf-8")
A3 = (FOLDER / "a3_ascend910_25.2.0_one_proc.txt").read_text("utf-8")
A5 = (FOLDER / "a5_ascend950pr_25.7.rc1_alarm_fixture.txt").read_text("utf-8")
DUO = (FOLDER / "310p3_duo_25.0.rc1.1_proc_on_chip1.txt").read_text("utf-8")
TABLES = [A2, A3, A5, DUO]


def narrowed(text: str, columns: int) -> str:
    return "\n".join(line[:columns] for line in text.splitlines())


def body(text: str) -> str:
    """Return the table without its head lines, as a paste that begins in the middle."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("+=="))
    return "\n".join(lines[first:])


@pytest.mark.parametrize("text", TABLES)
def test_table_with_prefixed_lines_and_colours_is_the_same(text: str) -> None:
    plain = npu_smi.table(text)

    marked = "\n".join(
        f"2026-06-15T10:05:21.58Z \x1b[32m{line}\x1b[0m\r" for line in text.splitlines()
    )

    assert npu_smi.table(marked) == plain


@pytest.mark.parametrize("text", TABLES)
def test_table_with_full_width_or_drawn_borders_is_the_same(text: str) -> None:
    plain = npu_smi.table(text)

    assert npu_smi.table(text.replace("|", "｜")) == plain
    assert npu_smi.table(text.replace("|", "│").replace(":", "：")) == plain


@pytest.mark.parametrize("text", TABLES)
def test_table_with_collapsed_blanks_is_the_same(text: str) -> None:
    plain = npu_smi.table(text)

    collapsed = "\n".join(" ".join(line.split()) for line in text.splitlines())

    assert npu_smi.table(collapsed) == plain


def test_table_cut_at_eighty_columns_keeps_what_is_left_of_the_cut() -> None:
    found = npu_smi.table(narrowed(A2, 80))

    assert [chip.id for chip in found.chips] == list(range(8))
    assert {chip.name for chip in found.chips} == {"910B3"}
    assert {chip.health for chip in found.chips} == {"OK"}
    assert {chip.hbm_total_mb for chip in found.chips} == {None}


@pytest.mark.parametrize("columns", range(86, 97))
def test_table_cut_within_the_memory_never_gives_half_a_number(columns: int) -> None:
    found = npu_smi.table(narrowed(A2, columns)).chips

    assert {chip.hbm_total_mb for chip in found} <= {None, 65536}
    assert all(chip.hbm_used_mb is None or chip.hbm_used_mb > 3000 for chip in found)


@pytest.mark.parametrize("text", [A2, A3, A5])
def test_table_without_its_head_has_the_same_chips(text: str) -> None:
    whole, headless = npu_smi.table(text), npu_smi.table(body(text))

    assert [(c.id, c.name, c.health, c.used_mb, c.total_mb) for c in headless.chips] == [
        (c.id, c.name, c.health, c.used_mb, c.total_mb) for c in whole.chips
    ]
    assert len(headless.processes) == len(whole.processes)


def test_table_after_grep_has_chips_without_memory() -> None:
    found = npu_smi.table("\n".join(line for line in A2.splitlines() if "910B3" in line))

    assert len(found.chips) == 8
    assert {chip.used_mb for chip in found.chips} == {None}


def test_table_with_a_further_column_still_finds_the_memory() -> None:
    text = A2.replace("AICore(%)   Memory", "AICore(%) AIVector(%)  Memory").replace(
        "| 0           0    / 0", "| 0   3        0    / 0"
    )

    found = npu_smi.table(text)

    assert [chip.used_mb for chip in found.chips] == [c.used_mb for c in npu_smi.table(A2).chips]


def test_table_of_a_chip_named_by_a_number_is_read() -> None:
    text = DUO.replace("310P3", "310  ")

    found = npu_smi.table(text).chips

    assert [(c.name, c.chip, c.total_mb) for c in found] == [("310", 0, 44280), ("310", 1, 43693)]


def test_table_of_npu_smi_26_with_the_pid_in_the_container_has_its_processes() -> None:
    # As public documents show npu-smi 26.0.rc1: a fifth column, and other widths.
    text = """
    | NPU   Name      | Health        | Power(W)    Temp(C)            Hugepages-Usage(page) |
    | Chip            | Bus-Id        | AICore(%)   Memory-Usage(MB)   HBM-Usage(MB)         |
    | 0     910B4     | OK            | 82.6        32                 0    / 0              |
    | 0               | 0000:C1:00.0  | 0           0    / 0           2871 / 32768          |
    | NPU     Chip    | Process id    | Process name | Process memory(MB) | Process id in container |
    | 0       0       | 485946        | pytest       | 5175               | NA                      |
    """

    found = npu_smi.table(text)

    assert found.processes == (npu_smi.Process(0, 0, 485946, "pytest", 5175),)
    assert found.chips[0].total_mb == 32768


def test_table_whose_memory_in_use_is_not_available_keeps_the_total() -> None:
    found = npu_smi.table(DUO.replace("1175 / 44280", "NA / 44280")).chips[0]

    assert (found.used_mb, found.total_mb) == (None, 44280)


def test_table_that_follows_another_is_the_one_that_counts() -> None:
    found = npu_smi.table(A2 + "\n" + A3)

    assert found == npu_smi.table(A3)


def test_table_whose_first_line_is_cut_off_does_not_invent_a_chip() -> None:
    lines = A2.splitlines()
    first = next(i for i, line in enumerate(lines) if "910B3" in line)

    found = npu_smi.table("\n".join(lines[:first] + lines[first + 1 :]))

    assert [chip.id for chip in found.chips] == list(range(1, 8))


def test_table_of_text_without_a_table_is_empty() -> None:
    assert npu_smi.table("| grep 910\n+----+\nhello") == npu_smi.Table()


def test_table_without_process_part_says_so() -> None:
    head = (FOLDER / "910b3_24.1.rc1.b030_8cards_no_process_table.txt").read_text("utf-8")

    assert not npu_smi.table(head).has_process_part
    assert npu_smi.table(A2).has_process_part


def test_used_memory_is_in_bytes_by_card_and_chip() -> None:
    found = npu_smi.used_memory(A3)

    assert found[1, 1] == 10568 * 2**20
    assert set(found) == {(0, 0), (0, 1), (1, 0), (1, 1)}


def test_used_memory_of_a_chip_without_hbm_is_its_own_memory() -> None:
    assert npu_smi.used_memory(DUO) == {(6, 0): 1175 * 2**20, (6, 1): 8322 * 2**20}


def test_used_memory_that_is_cut_off_is_left_out() -> None:
    assert npu_smi.used_memory(narrowed(A2, 80)) == {}


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("bash: npu-smi: 未找到命令", "missing"),
        ("bash: /usr/local/bin/npu-smi: 没有那个文件或目录", "missing"),
        ("/usr/local/bin/npu-smi: No such file or directory", "missing"),
        ("bash: /usr/local/bin/npu-smi: Permission denied", "permission"),
        ("bash: /usr/local/bin/npu-smi: 权限不够", "permission"),
        ("dcmi module initialize failed. ret is -8005", "driver"),
        ("dcmi init failed, return code = -8255", "driver"),
        ("DrvMngGetConsoleLogLevel failed. (ret=4)", "driver"),
        ("dcmi model initialized failed, because the device is used. ret is -8020", "device_used"),
        ("Invalid card id.", "no_such_card"),
    ],
)
def test_failure_in_other_words_has_its_cause(text: str, cause: str) -> None:
    found = npu_failures.failure(text)

    assert found is not None
    assert found.cause == cause


def test_failure_of_the_loader_in_chinese_names_the_library() -> None:
    text = "npu-smi: 加载共享库时出错: libc_sec.so: 无法打开共享目标文件: 没有那个文件或目录"

    found = npu_failures.failure(text)

    assert found is not None
    assert (found.cause, found.library) == ("library", "libc_sec.so")


@pytest.mark.parametrize("text", ["", "hello", "\x00\x01|||", "+---+"])
def test_failure_of_text_that_says_nothing_is_none(text: str) -> None:
    assert npu_failures.failure(text) is None


def test_topic_of_garbage_is_empty() -> None:
    assert npu_topics.topic("\x00 : \x01\n::::\nNPU ID\n") == npu_topics.Topic()
