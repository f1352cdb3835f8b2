"""Tests of thinking: a table of contents and their parts, and the stream against the whole."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.thinking import CLOSE, OPEN, Parts, split, split_stream


@pytest.mark.parametrize(
    ("content", "asked", "expected"),
    [
        # With enable_thinking=true the prompt ends in <think>: the content starts inside.
        ("I see.\n</think>\n\nParis", True, Parts("I see.", "Paris", True)),
        ("<think>\nI see.\n</think>\n\nParis", True, Parts("I see.", "Paris", True)),
        ("I see and", True, Parts("I see and", "", False)),
        ("<think>\nI see and", True, Parts("I see and", "", False)),
        ("", True, Parts("", "", False)),
        ("</think>Paris", True, Parts("", "Paris", True)),
        ("I see.</think>", True, Parts("I see.", "", True)),
        # Not sent: the model may open the block itself.
        ("<think>I see.</think>Paris", None, Parts("I see.", "Paris", True)),
        ("  <think>I see.", None, Parts("I see.", "", False)),
        ("Paris", None, Parts(None, "Paris", True)),
        # False: the prompt holds an empty block.
        ("\n\nParis ", False, Parts(None, "Paris", True)),
        ("", False, Parts(None, "", True)),
        ("<think>\n\n</think>\n\nParis", False, Parts("", "Paris", True)),
        # Tags in the answer belong to the answer.
        ("a</think>b</think>c", True, Parts("a", "b</think>c", True)),
        ("a</think><think>b", True, Parts("a", "<think>b", True)),
        # What only looks like a tag.
        ("a < b and <thin", None, Parts(None, "a < b and <thin", True)),
        ("a </thin", True, Parts("a </thin", "", False)),
    ],
)
def test_split_of_a_content_gives_its_parts(
    content: str, asked: bool | None, expected: Parts
) -> None:
    assert split(content, asked) == expected


def _joined(pieces: list[str], asked: bool | None) -> tuple[str, str]:
    found = {"thinking": "", "answer": ""}
    for kind, text in split_stream(pieces, asked):
        found[kind] += text
    return found["thinking"].strip(), found["answer"].strip()


TOKENS = st.sampled_from(
    [OPEN, CLOSE, "<", "</", "<thi", "nk>", "</think", ">", " ", "\n", "a", "中", "I see."]
)
CONTENTS = st.one_of(st.lists(TOKENS, max_size=12).map("".join), st.text(max_size=40))


@st.composite
def _cut(draw: st.DrawFn, contents: st.SearchStrategy[str] = CONTENTS) -> tuple[str, list[str]]:
    """Return a content and the same cut into pieces anywhere, empty pieces included."""
    content = draw(contents)
    ends = sorted(draw(st.lists(st.integers(0, len(content)), max_size=10)))
    bounds = [0, *ends, len(content)]
    return content, [content[a:b] for a, b in zip(bounds, bounds[1:], strict=False)]


@settings(max_examples=400, deadline=None, derandomize=True, database=None)
@given(_cut())
def test_stream_when_asked_to_think_equals_split_for_any_cut(cut: tuple[str, list[str]]) -> None:
    content, pieces = cut

    parts = split(content, True)

    assert _joined(pieces, True) == ((parts.thinking or "").strip(), parts.answer.strip())


@settings(max_examples=400, deadline=None, derandomize=True, database=None)
@given(_cut(), st.sampled_from([None, False]))
def test_stream_when_not_asked_equals_split_unless_the_block_was_never_opened(
    cut: tuple[str, list[str]], asked: bool | None
) -> None:
    content, pieces = cut
    parts = split(content, asked)
    # A </think> that nothing opened is known only when it comes: what was shown was an answer.
    never_opened = CLOSE in content and not content.lstrip().startswith(OPEN)

    thinking, answer = _joined(pieces, asked)

    if never_opened:
        assert (thinking, answer) == ("", content.strip())
    else:
        assert (thinking, answer) == ((parts.thinking or "").strip(), parts.answer.strip())


def test_stream_of_an_answer_yields_each_piece_as_it_comes() -> None:
    assert list(split_stream(["Pa", "ris", "."], None)) == [
        ("answer", "Pa"),
        ("answer", "ris"),
        ("answer", "."),
    ]


def test_stream_holds_back_no_more_than_a_tag_may_need() -> None:
    stream = split_stream(iter(["I see", "</thi", "s"]), True)

    assert [next(stream), next(stream)] == [("thinking", "I see"), ("thinking", "</this")]


def test_stream_of_nothing_yields_nothing() -> None:
    assert list(split_stream([], True)) == []
