"""Properties for all inputs hypothesis can think of, over both framings.

Any split of the byte stream gives the same messages; any order of answers resolves the right calls; noise
between the messages loses none.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_bridge.jsonrpc.framing import ContentLength, Framing, Ndjson
from jsonrpc.recorder import Wire, content_length, notification, request, result

settings.register_profile("jsonrpc", deadline=None, max_examples=100)
JSONRPC = settings.get_profile("jsonrpc")

FRAMINGS = pytest.mark.parametrize("framing", [Ndjson, ContentLength])

text = st.text(st.characters(exclude_categories=["Cs"]))
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | text
)
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(text, inner), max_leaves=10)
ids = st.integers(-(2**53), 2**53) | text
messages = st.one_of(
    st.builds(notification, text.map("n".__add__), values.filter(lambda value: value is not None)),
    st.builds(request, ids, text.map("r".__add__), values.filter(lambda value: value is not None)),
)


def encoded(message: Any, ascii_only: bool) -> bytes:
    return json.dumps(message, ensure_ascii=ascii_only).encode()


def framed(framing: type[Framing], body: bytes) -> bytes:
    return body + b"\n" if framing is Ndjson else content_length(body)


def pieces(stream: bytes, cuts: list[int]) -> list[bytes]:
    at = sorted({0, len(stream), *(cut % (len(stream) + 1) for cut in cuts)})
    return [stream[start:end] for start, end in pairwise(at)]


def expected_events(sent: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [
        ("request" if "id" in message else "notification", message["method"], message["params"])
        for message in sent
    ]


@FRAMINGS
@settings(JSONRPC)
@given(sent=st.lists(messages, max_size=8), cuts=st.lists(st.integers(0, 10**6)), ascii_only=st.booleans())
def test_any_split_gives_the_same_messages(
    framing: type[Framing], sent: list[dict[str, Any]], cuts: list[int], ascii_only: bool
) -> None:
    stream = b"".join(framed(framing, encoded(message, ascii_only)) for message in sent)
    wire = Wire(framing())
    for piece in pieces(stream, cuts):
        wire.feed(piece)
    wire.peer.eof("end")
    assert wire.handler.events == expected_events(sent)
    assert wire.handler.noise == []


@FRAMINGS
@settings(JSONRPC)
@given(stream=st.binary(), cuts=st.lists(st.integers(0, 10**6)))
def test_any_split_of_any_bytes_gives_the_same(
    framing: type[Framing], stream: bytes, cuts: list[int]
) -> None:
    whole, split = framing(), framing()
    bodies = whole.feed(stream)
    in_pieces = [body for piece in pieces(stream, cuts) for body in split.feed(piece)]
    assert in_pieces == bodies
    assert split.eof() == whole.eof()
    assert split.junk == whole.junk


@FRAMINGS
@settings(JSONRPC)
@given(data=st.data(), count=st.integers(1, 12), cuts=st.lists(st.integers(0, 10**6)))
def test_any_order_of_answers_resolves_the_right_calls(
    framing: type[Framing], data: st.DataObject, count: int, cuts: list[int]
) -> None:
    wire = Wire(framing())
    outcomes: dict[int, list[Any]] = {number: [] for number in range(count)}
    by_id = {
        wire.peer.request(
            "call", {"number": number}, lambda a, to=outcomes[number]: to.append(a.value())
        ): number
        for number in range(count)
    }
    stream = b""
    for request_id in data.draw(st.permutations(list(by_id))):
        echoed = str(request_id) if data.draw(st.booleans()) else request_id
        stream += framed(framing, encoded(result(echoed, [by_id[request_id]]), True))
    for piece in pieces(stream, cuts):
        wire.feed(piece)
    assert outcomes == {number: [[number]] for number in range(count)}


not_messages = st.one_of(
    st.binary(min_size=1).map(lambda data: data.replace(b"\n", b"")),
    values.map(lambda value: encoded(value, True)).filter(lambda body: b'"method"' not in body),
    st.sampled_from([b"[]", b'{"id":5000,"result":1}', b'{"method":1}', b"[1,2]", b"[" * 5000]),
)


@settings(JSONRPC)
@given(sent=st.lists(messages, min_size=1, max_size=5), data=st.data(), cuts=st.lists(st.integers(0, 10**6)))
def test_noise_between_lines_loses_no_message(
    sent: list[dict[str, Any]], data: st.DataObject, cuts: list[int]
) -> None:
    stream = b""
    for message in sent:
        for noise in data.draw(st.lists(not_messages, max_size=3)):
            stream += noise + b"\n"
        stream += encoded(message, False) + data.draw(st.sampled_from([b"\n", b"\r\n"]))
    wire = Wire()
    for piece in pieces(stream, cuts):
        wire.feed(piece)
    assert wire.handler.events == expected_events(sent)


@settings(JSONRPC)
@given(sent=st.lists(messages, min_size=1, max_size=5), data=st.data(), cuts=st.lists(st.integers(0, 10**6)))
def test_noise_in_and_between_frames_loses_no_message(
    sent: list[dict[str, Any]], data: st.DataObject, cuts: list[int]
) -> None:
    stream = b""
    for message in sent:
        for noise in data.draw(st.lists(not_messages, max_size=3)):
            # Text without a line end glues itself to the next header, which is found all the same.
            stream += data.draw(st.sampled_from([content_length(noise), noise + b"\n", noise]))
        stream += content_length(encoded(message, False))
    wire = Wire(ContentLength())
    for piece in pieces(stream, cuts):
        wire.feed(piece)
    assert wire.handler.events == expected_events(sent)


@FRAMINGS
@settings(JSONRPC)
@given(stream=st.lists(st.binary() | messages.map(lambda message: encoded(message, False) + b"\n")))
def test_nothing_that_arrives_raises_and_what_is_written_stays_sound(
    framing: type[Framing], stream: list[bytes]
) -> None:
    wire = Wire(framing(), answer_malformed=True)
    wire.handler.on_call = lambda call: call.answer(call.id) and None
    for piece in stream:
        wire.feed(piece)
    wire.peer.eof("end", answers=True)
    reader = framing()
    for body in reader.feed(b"".join(wire.writes)):
        assert isinstance(json.loads(body), dict | list)
    assert reader.junk == []
    assert reader.eof() == b""
