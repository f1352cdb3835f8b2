"""From a log to cause, evidence and next step: `diagnose.read(path)`.

Reads logs of any size in one pass; depends on errors, messages and paths only. Not for starting or
watching servers.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import BinaryIO

from helpers.diagnose import verdict
from helpers.diagnose.answer import Diagnosis
from helpers.diagnose.attached import of_run
from helpers.diagnose.findings import Search
from helpers.diagnose.reading import BLANKS, BLOCK_BYTES, Block, Blocks
from helpers.diagnose.squeezed import LineAt
from helpers.diagnose.stages import Stages

__all__ = ["Diagnosis", "of_run", "read", "read_stream", "read_text"]


def read(path: str | Path, language: str | None = None) -> Diagnosis:
    """Return the diagnosis of a log file.

    Args:
        path: a file of any size and encoding.
        language: "zh" or "en"; None takes the language in force.
    Raises:
        OSError: the file cannot be read.
    """
    with Path(path).open("rb") as file:
        found = read_stream(file, language)
    return found.model_copy(update={"source": str(path)})


def read_text(text: str, language: str | None = None) -> Diagnosis:
    """Return the diagnosis of a text: a log's end, an exception, an answer of the server."""
    return read_stream(io.BytesIO(text.encode("utf-8", "replace")), language)


def read_stream(stream: BinaryIO, language: str | None = None) -> Diagnosis:
    """Return the diagnosis of everything that a stream gives until it ends or Ctrl-C is pressed."""
    blocks, search, stages = Blocks(), Search(), Stages()
    read_some = getattr(stream, "read1", stream.read)
    try:
        while data := read_some(BLOCK_BYTES):
            for block in blocks.add(data):
                _take(block, search, stages)
    except KeyboardInterrupt:
        pass  # what came before is what is asked about
    for block in blocks.end():
        _take(block, search, stages)
    return verdict.diagnose(search, stages, language)


def _take(block: Block, search: Search, stages: Stages) -> None:
    text, line_at = block.squeezed, LineAt(block.lines, BLANKS)
    stages.add(block, text, line_at)
    search.add(block, text, line_at)
