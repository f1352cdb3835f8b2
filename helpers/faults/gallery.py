"""Recorded logs of Ascend machines to judge: what each is, and which lines a judgement may rest on.

The files are in assets/recorded, unchanged public recordings with their sources. None of them was
made by this course.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from helpers import diagnose, messages, paths
from helpers.diagnose import Diagnosis
from helpers.faults import logfile, texts
from helpers.tables import Table

FOLDER = paths.ROOT / "assets" / "recorded"
Verdict = Literal["fault", "healthy", "cut off"]
_COLUMNS = (
    "faults.column.number",
    "faults.column.recording",
    "faults.column.lines",
    "faults.column.source",
)
VERDICTS: tuple[Verdict, ...] = ("fault", "healthy", "cut off")


@dataclass(frozen=True)
class Recording:
    """One recorded log.

    Attributes:
        number: what the lab calls it.
        file: name in assets/recorded.
        source: where it is public.
        verdict: "cut off" where it failed and ends before it says why.
        evidence: regular expression of the lines that the verdict rests on.
        entry: what the knowledge base calls it, or None.
    """

    number: int
    file: str
    source: str
    verdict: Verdict
    evidence: str
    entry: str | None

    @property
    def path(self) -> Path:
        """Return the file."""
        return FOLDER / self.file

    @property
    def about(self) -> str:
        """Return what was recorded, without the verdict."""
        return texts.said("faults.recordings", str(self.number))

    def show(self, first: int = 1, last: int = 20) -> None:
        """Print lines first to last with their numbers."""
        print("\n".join(logfile.numbered(logfile.lines(self.path), first, last)))

    def find(self, pattern: str) -> None:
        """Print the first lines that a regular expression matches."""
        found = logfile.lines(self.path)
        for number in logfile.matching(found, pattern):
            print(*logfile.numbered(found, number, number))

    def rests_on(self, line: int) -> bool:
        """Return whether a line, counted from 1, is one that decides."""
        found = logfile.lines(self.path)
        return 0 < line <= len(found) and bool(re.search(self.evidence, found[line - 1]))

    def diagnosis(self) -> Diagnosis:
        """Return what the log reader says of it."""
        return diagnose.read(self.path)


_ALL = (
    Recording(
        1,
        "serve_310p_qwen3_vl.txt",
        "vllm-project/vllm-ascend#4074",
        "fault",
        r"error code is 507013|hardware execution error|ERR00100",
        "code.507013",
    ),
    Recording(
        2,
        "offline_a3_qwen3.txt",
        "vllm-project/vllm-ascend docs/source/installation.md@6e011c7840",
        "healthy",
        r"Generated text|died unexpectedly|Shutdown complete",
        "exit_noise",
    ),
    Recording(
        3,
        "serve_minicpm_v_int4.txt",
        "vllm-project/vllm-ascend#3867",
        "fault",
        r"MiniCPM-V-4_5-int4|EngineCore failed to start",
        "quantized_for_cuda",
    ),
    Recording(
        4,
        "collect_env_910b1.txt",
        "vllm-project/vllm-ascend#3403",
        "fault",
        r"Failed to load plugin ascend|no attribute 'register'|_version'",
        "plugin_not_loadable",
    ),
    Recording(
        5,
        "serve_a2_qwen3_vl.txt",
        "a public index of code, file 55204712336",
        "healthy",
        r"startup complete|200 OK|400 Bad Request|Capturing CUDA graphs",
        None,
    ),
    Recording(
        6,
        "serve_minicpm_v.txt",
        "vllm-project/vllm-ascend#5349",
        "cut off",
        r"EngineCore failed to start|engine_core = EngineCoreProc|\^\^\^\^",
        "engine_start_cut_off",
    ),
)
RECORDINGS = {one.number: one for one in _ALL}
"""The recordings by number."""


def table() -> Table:
    """Return a row for each recording: number, what it is, lines, source."""
    head = [messages.text(code) for code in _COLUMNS]
    rows = [
        (str(one.number), one.about, str(len(logfile.lines(one.path))), one.source) for one in _ALL
    ]
    return Table(head, rows)


def grade(answers: Mapping[int, tuple[str, int]]) -> bool:
    """Return whether every recording is judged rightly, and print a line for each.

    Args:
        answers: number → (verdict, line that it rests on).
    Raises:
        KeyError: a recording is missing.
    """
    marks = {True: messages.text("faults.right"), False: messages.text("faults.wrong")}
    outcomes = []
    for one in _ALL:
        verdict, line = answers[one.number]
        right = (verdict == one.verdict, one.rests_on(int(line)))
        outcomes.append(all(right))
        told = {"verdict": f"{verdict} {marks[right[0]]}", "line": f"{line} {marks[right[1]]}"}
        print(messages.text("faults.graded", number=one.number, **told))
    return all(outcomes)


def answers() -> dict[int, tuple[Verdict, int]]:
    """Return judgements that are right."""
    found: dict[int, tuple[Verdict, int]] = {}
    for one in _ALL:
        line = logfile.matching(logfile.lines(one.path), one.evidence, limit=1)[0]
        found[one.number] = (one.verdict, line)
    return found
