"""Tell the thinking from the answer in what MiniCPM5 returns. Text only; `chat` asks the server.

MiniCPM5 has no reasoning parser in vLLM 0.18-0.32, so both stand in `message.content`. With
enable_thinking=true the prompt itself ends in `<think>`, and the content starts inside the block:
only `</think>` can be relied on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

OPEN, CLOSE = "<think>", "</think>"


@dataclass(frozen=True)
class Parts:
    """Thinking and answer of one content.

    Attributes:
        thinking: text of the thinking, or None where there was none.
        answer: what comes after it.
        closed: False where the content ended inside the thinking.
    """

    thinking: str | None
    answer: str
    closed: bool


def split(content: str, asked: bool | None) -> Parts:
    """Return thinking and answer, split at the first `</think>`; `<think>` is not required.

    Args:
        content: message.content as the server returned it.
        asked: enable_thinking of the request: True, False, or None where it was not sent.
    """
    if CLOSE in content:
        before, _, after = content.partition(CLOSE)
        return Parts(before.strip().removeprefix(OPEN).strip(), after.strip(), True)
    started = content.lstrip().startswith(OPEN)
    if asked or started:
        return Parts(content.strip().removeprefix(OPEN).strip(), "", False)
    return Parts(None, content.strip(), True)


def split_stream(pieces: Iterable[str], asked: bool | None) -> Iterator[tuple[str, str]]:
    """Yield ("thinking" | "answer", text) for each piece as it comes; a tag may be cut anywhere.

    The tags themselves are not part of either. White space between a tag and the text is dropped,
    as `split` does.
    """
    kind = "thinking" if asked else "undecided"
    waiting, started = "", False
    for piece in pieces:
        waiting += piece
        if kind == "undecided":
            head = waiting.lstrip()
            if not head or (len(head) < len(OPEN) and OPEN.startswith(head)):
                continue
            kind = "thinking" if head.startswith(OPEN) else "answer"
        if kind == "thinking":
            if not started:
                head = waiting.lstrip()
                if not head or (len(head) < len(OPEN) and OPEN.startswith(head)):
                    continue
                waiting, started = head.removeprefix(OPEN), True
            before, found, after = waiting.partition(CLOSE)
            if not found:
                keep = _partial(waiting)
                ready, waiting = waiting[: len(waiting) - keep], waiting[len(waiting) - keep :]
                if ready:
                    yield kind, ready
                continue
            if before:
                yield kind, before
            kind, waiting, started = "answer", after, False
        if not started:
            waiting = waiting.lstrip()
            started = bool(waiting)
        if waiting:
            yield kind, waiting
            waiting = ""
    if waiting:
        yield ("answer" if kind == "undecided" else kind), waiting


def _partial(text: str) -> int:
    """Return how many of the last characters may be the beginning of `</think>`."""
    return next((n for n in range(len(CLOSE) - 1, 0, -1) if text.endswith(CLOSE[:n])), 0)
