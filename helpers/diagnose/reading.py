"""A log as a stream of blocks of clean lines: decoded, colours removed, numbered. Bounded memory,
whatever the size or the shape of the file.

Not for what the lines mean: `findings` searches the blocks, `stages` follows the start.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

BLOCK_BYTES = 1 << 20
LINE_BYTES = 1 << 18
SAMPLE_BYTES = 4096
BLANKS = b" \t\n\r\x0b\x0c\x00"
_ANSI = re.compile(rb"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]{0,300}(?:\x07|\x1b\\)|[@-Z\\^_])")
_BROKEN_ANSI = re.compile(rb"\x1b\r?\n?\[[0-9;?\r\n]{0,40}[@-~]|\x1b")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class Block:
    """Consecutive lines of a log; `first` is the 1-based number of the first one."""

    first: int
    lines: list[bytes]

    @property
    def squeezed(self) -> bytes:
        """Return the text without blanks and line ends: a wrapped line reads as if unwrapped."""
        return b"".join(self.lines).translate(None, BLANKS)


def encoding_of(sample: bytes) -> str | None:
    """Return the encoding to decode with, or None where the bytes can be searched as they are.

    UTF-8, GBK and Latin-1 keep ASCII as it is, and what is searched for is ASCII.

    Args:
        sample: the beginning of the log.
    """
    for mark, name in _BOMS:
        if sample.startswith(mark):
            return name
    even, odd = sample[0:SAMPLE_BYTES:2].count(0), sample[1:SAMPLE_BYTES:2].count(0)
    half = len(sample[:SAMPLE_BYTES]) // 2
    if half > 8 and odd > half * 0.7 and even < half * 0.1:
        return "utf-16-le"
    if half > 8 and even > half * 0.7 and odd < half * 0.1:
        return "utf-16-be"
    return None


def shown(line: bytes) -> str:
    """Return a line for people: UTF-8, else GB 18030; of a redrawn progress bar its last state."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        text = line.decode("gb18030", errors="replace")
    parts = [part for part in text.replace("\x00", "").split("\r") if part.strip()]
    return parts[-1].rstrip() if parts else ""


class Blocks:
    """Turns pieces of bytes, as they come from a file or a pipe, into blocks of lines."""

    def __init__(self) -> None:
        self._decoder: codecs.IncrementalDecoder | None = None
        self._started = False
        self._rest = b""
        self._line = 1

    def add(self, data: bytes) -> Iterator[Block]:
        """Return the blocks that are complete once these bytes are there."""
        if not self._started:
            self._rest += data
            if len(self._rest) < SAMPLE_BYTES:
                return
            data, self._rest = self._rest, b""
            self._start(data)
        self._rest += self._decoded(data)
        if len(self._rest) >= BLOCK_BYTES:
            yield from self._whole_lines()

    def end(self) -> Iterator[Block]:
        """Return what is left when the stream has ended."""
        if not self._started:
            data, self._rest = self._rest, b""
            self._start(data)
            self._rest = self._decoded(data)
        if self._decoder is not None:
            self._rest += self._decoder.decode(b"", True).encode("utf-8", "replace")
        if self._rest:
            yield self._block(self._rest)
            self._rest = b""

    def _start(self, data: bytes) -> None:
        self._started = True
        name = encoding_of(data)
        if name:
            self._decoder = codecs.getincrementaldecoder(name)(errors="replace")

    def _decoded(self, data: bytes) -> bytes:
        if self._decoder is None:
            return data
        return self._decoder.decode(data).encode("utf-8", "replace")

    def _whole_lines(self) -> Iterator[Block]:
        cut = self._rest.rfind(b"\n") + 1
        if cut == 0:
            cut = len(self._rest) - LINE_BYTES // 64
        yield self._block(self._rest[:cut])
        self._rest = self._rest[cut:]

    def _block(self, data: bytes) -> Block:
        first = self._line
        self._line += data.count(b"\n")
        if b"\x1b" in data:
            data = _ANSI.sub(b"", data)
            if b"\x1b" in data:  # a code that a terminal wrapped; its line end stays
                data = _BROKEN_ANSI.sub(lambda m: b"\n" * m.group().count(b"\n"), data)
        lines = data.split(b"\n")
        if lines and not lines[-1]:
            lines.pop()
        return Block(first, lines)
