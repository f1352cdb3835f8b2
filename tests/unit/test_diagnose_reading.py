"""Reading: blocks, encodings, wrapping, line numbers, and whatever bytes may come."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from diagnose_logs import embedded
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import diagnose, paths
from helpers.diagnose import lines, reading
from helpers.diagnose.squeezed import wrap_width

OOM = "ValueError: No available memory for the cache blocks. Try increasing it.\n"


def blocks(*pieces: bytes) -> list[reading.Block]:
    made = reading.Blocks()
    found = [block for piece in pieces for block in made.add(piece)]
    return found + list(made.end())


def test_blocks_number_lines_from_one_without_gaps() -> None:
    data = b"".join(b"line %d\n" % n for n in range(1, 200_001))

    found = blocks(*(data[i : i + 70_000] for i in range(0, len(data), 70_000)))

    assert len(found) > 1
    numbered = [(b.first + i, line) for b in found for i, line in enumerate(b.lines)]
    assert numbered == [(n, b"line %d" % n) for n in range(1, 200_001)]


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "gbk", "gb18030"],
)
def test_log_in_another_encoding_is_read(encoding: str) -> None:
    text = "启动服务\n" + "INFO plain line\n" * 20 + OOM

    found = diagnose.read_stream(io.BytesIO(text.encode(encoding)))

    assert (found.entry, found.evidence[0].line) == ("no_room_for_kv_cache", 22)


def test_chinese_of_gbk_is_shown_as_chinese() -> None:
    assert reading.shown("显存不足".encode("gbk")) == "显存不足"


def test_progress_bar_is_shown_in_its_last_state() -> None:
    assert reading.shown(b"Loading:  0%\rLoading: 50%\rLoading: 100%\r\n") == "Loading: 100%"


def test_colours_are_removed_also_where_a_terminal_wrapped_them() -> None:
    (block,) = blocks(b"\x1b[1;31mred\x1b[0m\n\x1b[3\n8;5;1mtwo\x1b[0m\n\x1b]0;title\x07three")

    assert block.lines == [b"red", b"", b"two", b"three"]


def test_evidence_across_two_blocks_is_found_at_its_line() -> None:
    filler = "WARNING some line of a log that says something\n"
    count = reading.BLOCK_BYTES // len(filler) - 1
    text = filler * count + OOM[:40] + "\n" + OOM[40:] + filler * count

    found = diagnose.read_stream(io.BytesIO(text.encode()))

    assert (found.entry, found.evidence[0].line) == ("no_room_for_kv_cache", count + 1)


@pytest.mark.parametrize(
    ("line", "process", "level", "message"),
    [
        (
            "(EngineCore pid=7) ERROR 11-10 01:25:12 [core.py:671] boom",
            "EngineCore",
            "ERROR",
            "boom",
        ),
        (
            "(VllmWorker rank=0 pid=7) INFO 08-01 11:59:10 [w.py:1] x",
            "VllmWorker rank=0",
            "INFO",
            "x",
        ),
        (
            "(A pid=1) (Worker_TP0 pid=2) ERROR 09-15 13:02:43 [m.py:8] y",
            "Worker_TP0",
            "ERROR",
            "y",
        ),
        ("[rank3]: RuntimeError: z", "rank3", "", "RuntimeError: z"),
        ("INFO 03-12 11:16:50 logger.py:39] old form", "", "INFO", "old form"),
        ("INFO:     Application startup complete.", "", "INFO", "Application startup complete."),
        ("2026-06-15T10:05:21.58Z (Worker pid=…) q", "Worker", "", "q"),
        ("vllm-1  | ERROR 11-10 01:25:12 [core.py:671] boom", "", "ERROR", "boom"),
        ("plain words", "", "", "plain words"),
    ],
)
def test_line_is_taken_apart(line: str, process: str, level: str, message: str) -> None:
    assert lines.split(line)[:3] == (process, level, message)


def test_wrap_width_of_a_wrapped_text_is_its_width_and_else_nothing() -> None:
    text = embedded("", 0, count=300)
    wrapped = [line[i : i + 72] for line in text.split("\n") for i in range(0, len(line), 72)]

    assert wrap_width([line.encode() for line in wrapped]) in range(70, 78)
    assert wrap_width([line.encode() for line in text.split("\n")]) == 0


def test_interleaved_processes_are_told_apart() -> None:
    log = "\n".join(
        [
            "(APIServer pid=1) INFO 11-30 10:00:00 [x.py:1] waiting",
            "(EngineCore pid=2) ERROR 11-30 10:00:00 [core.py:1] Traceback (most recent call last):",
            "(APIServer pid=1) INFO 11-30 10:00:00 [x.py:1] waiting",
            "(EngineCore pid=2) ERROR 11-30 10:00:00 [core.py:1] FrobError: nobody knows this",
            "(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above.",
        ]
    )

    found = diagnose.read_text(log)

    assert (found.verdict, found.entry, found.process) == ("fault", None, "EngineCore")
    assert found.evidence[0].text == "FrobError: nobody knows this"


def test_traceback_is_joined_although_another_process_writes_in_between() -> None:
    mine = "(EngineCore pid=2) ERROR 11-30 10:00:00 [core.py:1]"
    other = "(Worker pid=3) ERROR 11-30 10:00:00 [w.py:1]"
    log = "\n".join(
        [
            f'{mine}   File "mine.py", line 8, in start',
            f'{other}   File "other.py", line 9, in load',
            f"{mine} FrobValidationError: 1 validation error for FrobConfig",
            f'{other}   File "other.py", line 10, in load',
            f"{mine}   Value error, the flux is low",
        ]
    )

    found = diagnose.read_text(log)

    assert [(item.line, item.text) for item in found.evidence] == [
        (3, "FrobValidationError: 1 validation error for FrobConfig"),
        (1, 'File "mine.py", line 8, in start'),
        (5, "Value error, the flux is low"),
    ]


@settings(max_examples=120, deadline=None)
@given(st.binary(max_size=3000))
def test_any_bytes_give_an_answer(data: bytes) -> None:
    assert diagnose.read_stream(io.BytesIO(data)).verdict in ("unknown", "healthy", "fault")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "Traceback (most recent call last):",
                OOM,
                "\x1b[3",
                "error code is ",
                "507015",
                "\r",
                "\n",
                "(EngineCore pid=",
                "ERR",
                "E",
                "Available KV cache memory: -",
                "[shutdown]",
                "\ufeff",
                "启动",
            ]
        ),
        max_size=30,
    )
)
def test_any_mixture_of_fragments_gives_an_answer(pieces: list[str]) -> None:
    found = diagnose.read_text("".join(pieces))

    assert found.as_json()
    assert str(found)


@pytest.mark.parametrize("data", [b"", b"\n", b"\x00" * 5000, bytes(range(256)) * 50])
def test_empty_and_binary_input_is_unknown(data: bytes) -> None:
    found = diagnose.read_stream(io.BytesIO(data))

    assert (found.verdict, found.entry, found.stage) == ("unknown", None, None)


@pytest.mark.parametrize("unit", [b"x", b"error "])
def test_one_line_of_ten_megabytes_gives_an_answer(unit: bytes) -> None:
    data = unit * (10_000_000 // len(unit))

    assert diagnose.read_stream(io.BytesIO(data)).verdict == "unknown"


def test_real_program_as_input_is_no_fault() -> None:
    assert diagnose.read(sys.executable).verdict in ("unknown", "fault")


def test_endless_pipe_cut_by_ctrl_c_answers_for_what_came() -> None:
    reader = subprocess.Popen(
        [sys.executable, "-m", "helpers", "diagnose", "-", "--json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=paths.ROOT,
        env=os.environ | {"PYTHONPATH": str(paths.ROOT)},
    )
    assert reader.stdin is not None
    reader.stdin.write(OOM.encode() + b"more of it\n" * 400_000)
    reader.stdin.flush()  # returns only when the reader has taken most of it: it is at work

    reader.send_signal(signal.SIGINT)
    out, err = reader.communicate(timeout=60)

    assert b'"entry": "no_room_for_kv_cache"' in out
    assert b"Traceback" not in err


def test_file_that_is_still_growing_is_read_to_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_text(OOM)

    assert diagnose.read(path).source == str(path)
