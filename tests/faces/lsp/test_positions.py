"""Positions and incremental changes: against texts encoded by Python itself, in all three encodings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_bridge.faces.lsp.positions import (
    Change,
    apply_changes,
    minimal_change,
    offset_of,
    position_of,
    range_of,
    same_lines,
)

TEXTS = st.text(alphabet="ab\n\r é€😀\u2028", max_size=40)
ENCODINGS = st.sampled_from(["utf-8", "utf-16", "utf-32"])
CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


def expected_position(text: str, offset: int, encoding: str) -> dict[str, int]:
    """Line and character by the words of LSP: split before the offset at LF, CRLF and CR."""
    before = text[:offset]
    marks = before.replace("\r\n", "\n").replace("\r", "\n")
    line = marks.count("\n")
    tail = marks.rsplit("\n", 1)[-1]
    codec, unit = CODECS[encoding]
    return {"line": line, "character": len(tail.encode(codec)) // unit}


def inside_crlf(text: str, offset: int) -> bool:
    return text[offset - 1 : offset + 1] == "\r\n"


@given(TEXTS, st.integers(0, 40), ENCODINGS)
def test_an_offset_becomes_the_position_lsp_means_and_back(text: str, at: int, encoding: str) -> None:
    offset = min(at, len(text))
    if inside_crlf(text, offset):
        return
    position = position_of(text, offset, encoding)  # type: ignore[arg-type]
    assert position == expected_position(text, offset, encoding)
    assert offset_of(text, position, encoding) == offset  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("position", "offset"),
    [
        ({"line": 0, "character": 99}, 2),
        ({"line": 1, "character": 99}, 6),
        ({"line": 99, "character": 0}, 6),
        ({"line": 0, "character": -1}, 0),
    ],
)
def test_what_lies_outside_the_text_is_clamped(position: dict[str, int], offset: int) -> None:
    assert offset_of("ab\r\ncd", position, "utf-16") == offset


@given(TEXTS, TEXTS)
def test_the_minimal_change_leads_from_one_text_to_the_other(old: str, new: str) -> None:
    change = minimal_change(old, new)
    assert old[: change.start] + change.text + old[change.end :] == new


@given(TEXTS, TEXTS)
def test_the_minimal_change_never_cuts_a_line_end_in_two(old: str, new: str) -> None:
    change = minimal_change(old, new)
    if change == Change(len(old), len(old), ""):
        return
    assert not inside_crlf(old, change.start) and not inside_crlf(old, change.end)
    assert not inside_crlf(new, change.start) and not inside_crlf(new, change.start + len(change.text))


def test_the_minimal_change_is_small() -> None:
    old = "line\n" * 20_000
    new = old[:50_000] + "X" + old[50_000:]
    assert minimal_change(old, new) == Change(50_000, 50_000, "X")


@given(TEXTS, TEXTS, ENCODINGS)
def test_an_edit_sent_as_a_range_is_the_same_edit_when_it_comes_back(
    old: str, new: str, encoding: str
) -> None:
    change = minimal_change(old, new)
    where = range_of(old, change.start, change.end, encoding)  # type: ignore[arg-type]
    text, applied = apply_changes(old, [{"range": where, "text": change.text}], encoding)  # type: ignore[arg-type]
    assert text == new
    assert applied == [change]


def test_changes_apply_one_after_the_other() -> None:
    changes = [
        {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}, "text": "x\n"},
        {"range": {"start": {"line": 1, "character": 1}, "end": {"line": 1, "character": 2}}, "text": ""},
    ]
    assert apply_changes("ab", changes, "utf-8")[0] == "x\na"


def test_a_whole_text_counts_as_its_smallest_change() -> None:
    assert apply_changes("one two three", [{"text": "one 2 three"}], "utf-16")[1] == [Change(4, 7, "2")]


@pytest.mark.parametrize(
    "change",
    [
        {"text": 1},
        {},
        {"range": {}, "text": ""},
        {"range": {"start": {"line": 0}, "end": {"line": 0, "character": 0}}, "text": ""},
        {"range": {"start": {"line": "0", "character": 0}, "end": {"line": 0, "character": 0}}, "text": ""},
        {"range": {"start": {"line": 0, "character": 2}, "end": {"line": 0, "character": 1}}, "text": ""},
        {"range": 3, "text": ""},
    ],
)
def test_a_change_that_makes_no_sense_is_refused(change: dict[str, object]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        apply_changes("abc", [change], "utf-16")


def test_kinds_of_line_ends_and_a_final_one_do_not_make_a_text_another() -> None:
    assert same_lines("a\r\nb\r\n", "a\nb")
    assert not same_lines("a\nb", "a\n\nb")
    assert not same_lines("a\n\n", "a")
