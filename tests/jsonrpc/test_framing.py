"""Framing: what counts as a line or a frame, what lies between them, and that size costs only its size."""

from __future__ import annotations

import time

import pytest

from acp_bridge.jsonrpc.framing import ContentLength, Ndjson
from jsonrpc.recorder import content_length

MIB = 1 << 20


class TestNdjson:
    def test_lines_of_one_read(self) -> None:
        assert Ndjson().feed(b'{"a":1}\n{"b":2}\n') == [b'{"a":1}', b'{"b":2}']

    def test_a_line_in_many_reads(self) -> None:
        framing = Ndjson()
        assert framing.feed(b'{"a"') == []
        assert framing.feed(b":") == []
        assert framing.feed(b'1}\n{"b":2') == [b'{"a":1}']
        assert framing.feed(b"}\n") == [b'{"b":2}']

    def test_carriage_returns_go_wherever_the_read_ends(self) -> None:
        framing = Ndjson()
        assert framing.feed(b"1\r\n2\r") == [b"1"]
        assert framing.feed(b"\n3\n") == [b"2", b"3"]

    def test_a_carriage_return_inside_a_line_stays(self) -> None:
        assert Ndjson().feed(b"1\r2\n") == [b"1\r2"]

    def test_blank_lines_are_nothing(self) -> None:
        assert Ndjson().feed(b"\n\r\n  \t\n1\n\n") == [b"1"]

    def test_half_a_line_at_the_end(self) -> None:
        framing = Ndjson()
        framing.feed(b'1\n{"half"')
        assert framing.eof() == b'{"half"'
        assert framing.eof() == b""

    def test_a_character_split_between_reads(self) -> None:
        text = '"naïve 🎉"'.encode()
        framing = Ndjson()
        assert framing.feed(text[:10]) == []
        assert framing.feed(text[10:] + b"\n") == [text]

    def test_a_line_without_end_is_given_up_and_the_next_one_counts(self) -> None:
        framing = Ndjson(longest=1000)
        bodies = [body for _ in range(20) for body in framing.feed(b"x" * 99)]
        bodies += framing.feed(b'yy\n{"a":1}\n{"b"')
        bodies += framing.feed(b":2}\n")
        assert bodies == [b'{"a":1}', b'{"b":2}']
        assert framing.junk == [b"x" * 200]

    def test_frame(self) -> None:
        assert Ndjson().frame(b"{}") == b"{}\n"


class TestContentLength:
    def test_frames_of_one_read(self) -> None:
        assert ContentLength().feed(content_length(b"{}") + content_length(b"[1]")) == [b"{}", b"[1]"]

    @pytest.mark.parametrize(
        "header",
        [
            b"Content-Length: 2\r\n\r\n",
            b"content-length:2\r\n\r\n",
            b"CONTENT-LENGTH :  2 \r\n\r\n",
            b"Content-Length: 2\n\n",
            b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2\r\n\r\n",
            b"Content-Length: 2\r\ncontent-type: x\r\n\r\n",
            b"\r\n\nContent-Length: 2\r\n\r\n",
        ],
    )
    def test_headers_as_they_come(self, header: bytes) -> None:
        framing = ContentLength()
        assert framing.feed(header + b"{}" + content_length(b"[]")) == [b"{}", b"[]"]
        assert framing.junk == []

    @pytest.mark.parametrize(
        ("junk", "reported"),
        [
            (b"warning: something\n", b"warning: something"),
            (b"no line end", b"no line end"),
            (b"Content-Length: many\r\n", b"Content-Length: many"),
            (b"Content-Length: -5\r\n", b"Content-Length: -5"),
            (b"Content-Length: 99999999999999999999\r\n", b"Content-Length: 99999999999999999999"),
            (b"\xff\xfe\x00\n", b"\xff\xfe\x00"),
            (b"x" * 100_000 + b"\r\n", b"x" * 100_000),
        ],
    )
    def test_junk_is_set_aside_and_the_next_frame_found(self, junk: bytes, reported: bytes) -> None:
        framing = ContentLength()
        stream = content_length(b"[1]") + junk + content_length(b"[2]")
        assert framing.feed(stream) == [b"[1]", b"[2]"]
        assert framing.junk == [reported]

    def test_a_body_longer_than_announced_costs_only_itself(self) -> None:
        framing = ContentLength()
        stream = b'Content-Length: 7\r\n\r\n{"a":1}, "too long"}' + content_length(b"[2]")
        assert framing.feed(stream) == [b'{"a":1}', b"[2]"]
        assert framing.junk == [b', "too long"}']

    def test_an_empty_frame_is_nothing(self) -> None:
        assert ContentLength().feed(b"Content-Length: 0\r\n\r\n" + content_length(b"1")) == [b"1"]

    def test_half_a_body_and_half_a_header_at_the_end(self) -> None:
        framing = ContentLength()
        framing.feed(b"Content-Length: 10\r\n\r\n[1,")
        assert framing.eof() == b"[1,"
        framing = ContentLength()
        framing.feed(b"Content-Le")
        assert framing.eof() == b"Content-Le"

    def test_frame(self) -> None:
        assert ContentLength().frame('"é"'.encode()) == b'Content-Length: 4\r\n\r\n"\xc3\xa9"'


def _feed_in_pieces(framing: Ndjson | ContentLength, stream: bytes, size: int) -> tuple[list[bytes], float]:
    bodies: list[bytes] = []
    began = time.process_time()
    for at in range(0, len(stream), size):
        bodies += framing.feed(stream[at : at + size])
    return bodies, time.process_time() - began


@pytest.mark.parametrize("kind", ["ndjson", "content-length"])
def test_a_line_of_50_mib_in_pieces_of_64_kib(kind: str) -> None:
    body = b'"' + b"x" * (50 * MIB) + b'"'
    framing = Ndjson() if kind == "ndjson" else ContentLength()
    stream = body + b"\n" if kind == "ndjson" else content_length(body)
    bodies, seconds = _feed_in_pieces(framing, stream, 65536)
    assert bodies == [body]
    # Copying the whole line again with each piece would move 20 GB: some 10 s.
    assert seconds < 3


@pytest.mark.parametrize("kind", ["ndjson", "content-length", "junk"])
def test_byte_by_byte_the_work_grows_with_the_bytes(kind: str) -> None:
    """Eight times the bytes cost about eight times the work; a quadratic reader needs sixty-four times."""

    def seconds_for(size: int) -> float:
        body = b"y" * size
        framing = Ndjson() if kind == "ndjson" else ContentLength()
        stream = content_length(body) if kind == "content-length" else body + b"\n"
        bodies, seconds = _feed_in_pieces(framing, stream, 1)
        assert (framing.junk if kind == "junk" else bodies) == [body]
        return seconds

    small = min(seconds_for(MIB // 4) for _ in range(3))
    assert seconds_for(2 * MIB) < 24 * small + 0.1
