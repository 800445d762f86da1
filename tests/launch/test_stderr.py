"""The stderr ring: bounded, split as it comes, cleaned of what is not text."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_bridge.launch.stderr import BYTES, LINE, LINES, StderrRing


def fed(*chunks: bytes) -> list[str]:
    ring = StderrRing()
    lines = [line for chunk in chunks for line in ring.feed(chunk)]
    return lines + ring.end()


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"plain", "plain"),
        (b"\x1b[1;31merror\x1b[0m: \x1b[38;5;12mx\x1b[K", "error: x"),
        (b"\x1b]0;title\x07text", "text"),
        (b"\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"\x1bPq#0\x1b\\after", "after"),
        (b"\x1b(B\x1b7\x1bMx\x1b", "x"),
        (b"10%\r55%\r100%", "100%"),
        (b"windows\r", "windows"),
        (b"tab\there", "tab\there"),
        (b"bell\x07 nul\x00 back\x08", "bell nul back"),
        ("é 漢 🙂".encode(), "é 漢 🙂"),
        (b"bad \xff\xc3 end", "bad �� end"),
        (b"", ""),
    ],
)
def test_a_line_is_shown_as_a_person_would_see_it(raw: bytes, shown: str) -> None:
    assert fed(raw + b"\n") == [shown]


@given(
    st.lists(st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "Zs"])), max_size=30), st.data()
)
def test_any_split_of_the_stream_gives_the_same_lines(lines: list[str], data: st.DataObject) -> None:
    stream = "".join(line + "\n" for line in lines).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=10)))
    edges = [0, *cuts, len(stream)]
    chunks = [stream[start:end] for start, end in itertools.pairwise(edges)]
    assert fed(*chunks) == lines


def test_a_line_without_an_end_is_shown_and_told_at_the_end() -> None:
    ring = StderrRing()
    assert ring.feed(b"one\nha") == ["one"]
    assert ring.tail(5) == ["one", "ha"]
    assert ring.feed(b"lf") == []
    assert ring.end() == ["half"]
    assert ring.end() == []
    assert ring.tail(1) == ["half"]


def test_the_tail_is_the_newest_oldest_first() -> None:
    ring = StderrRing()
    ring.feed(b"1\n2\n3\n")
    ring.note("from the bridge")
    assert ring.tail(2) == ["3", "from the bridge"]
    assert ring.tail(0) == []
    assert ring.tail(99) == ["1", "2", "3", "from the bridge"]


def test_only_so_many_lines_are_kept() -> None:
    ring = StderrRing()
    for number in range(LINES + 500):
        ring.feed(b"%d\n" % number)
    assert ring.tail(10**9) == [str(number) for number in range(500, LINES + 500)]


def test_only_so_much_text_is_kept() -> None:
    ring = StderrRing()
    for number in range(100):
        ring.feed(f"{number} ".encode().ljust(LINE - 1, b"x") + b"\n")
    kept = ring.tail(10**9)
    assert BYTES - LINE <= sum(map(len, kept)) <= BYTES
    assert kept[-1].startswith("99 ")


def test_an_endless_line_comes_in_pieces_and_does_not_grow() -> None:
    ring = StderrRing()
    pieces: list[str] = []
    for _ in range(1000):
        pieces += ring.feed(b"y" * 5000)
    pieces += ring.end()
    assert "".join(pieces) == "y" * 5_000_000
    assert max(map(len, pieces)) <= LINE
    assert sum(map(len, ring.tail(10**9))) <= BYTES
