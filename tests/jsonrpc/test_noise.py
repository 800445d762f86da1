"""What is no proper message: each kind costs nothing but itself, and nobody waits for ever because of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acp_bridge.jsonrpc.framing import ContentLength
from jsonrpc.recorder import Wire, content_length, line, notification, request, result

DEEP = b"[" * 100_000 + b"]" * 100_000

NOISE = {
    "text": b"npm WARN deprecated something",
    "broken JSON": b'{"method":',
    "a number": b"42",
    "a string": b'"hello"',
    "null": b"null",
    "true": b"true",
    "an empty object": b"{}",
    "neither request nor answer": b'{"jsonrpc":"2.0","params":{}}',
    "a method that is a number": b'{"method":5}',
    "bytes that are no UTF-8": b"\xff\xfe\x00garbage",
    "nested too deeply": DEEP,
    "an object nested too deeply": b'{"method":"x","params":' + DEEP + b"}",
    "an unknown answer": b'{"id":999,"result":1}',
    "a parse error of theirs": b'{"id":null,"error":{"code":-32700,"message":"Parse error"}}',
    "an answer with a list for an id": b'{"id":[1],"result":1}',
    "an answer with an object for an id": b'{"id":{"a":1},"result":1}',
    "an answer with true for an id": b'{"id":true,"result":1}',
    "an empty batch": b"[]",
    "a batch of nothing sensible": b'[1,null,"x",[]]',
}


@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE.keys())
def test_is_reported_and_loses_nothing_around_it(noise: bytes) -> None:
    wire = Wire()
    wire.request("pending")
    wire.feed(line(notification("before")) + noise + b"\n" + line(notification("after")))
    assert [event[1] for event in wire.handler.events] == ["before", "after"]
    assert wire.handler.noise
    assert all(isinstance(reason, str) and reason for reason, _ in wire.handler.noise)
    assert wire.answers == []
    wire.feed(result(1, "still there"))
    assert wire.outcomes == ["still there"]


@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE.keys())
def test_in_a_content_length_frame_likewise(noise: bytes) -> None:
    wire = Wire(ContentLength())
    before, after = (json.dumps(notification(name)).encode() for name in ("before", "after"))
    wire.feed(content_length(before) + content_length(noise) + content_length(after))
    assert [event[1] for event in wire.handler.events] == ["before", "after"]
    assert wire.handler.noise


def test_between_content_length_frames_text_is_noise() -> None:
    wire = Wire(ContentLength())
    frame = content_length(json.dumps(notification("a")).encode())
    wire.feed(frame + b"print() was here\n" + frame)
    assert [event[1] for event in wire.handler.events] == ["a", "a"]
    assert [data for _, data in wire.handler.noise] == [b"print() was here"]


@pytest.mark.parametrize("silent", ["text", "a number", "an empty object", "a method that is a number"])
def test_is_not_answered_towards_an_agent(silent: str) -> None:
    wire = Wire()
    wire.feed(NOISE[silent] + b"\n")
    assert wire.writes == []


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("text", -32700),
        ("broken JSON", -32700),
        ("nested too deeply", -32700),
        ("a number", -32600),
        ("an empty object", -32600),
        ("a method that is a number", -32600),
        ("an empty batch", -32600),
    ],
)
def test_is_answered_with_id_null_where_we_are_the_server(kind: str, code: int) -> None:
    wire = Wire(answer_malformed=True)
    wire.feed(NOISE[kind] + b"\n")
    assert len(wire.sent) == 1
    assert wire.sent[0]["id"] is None
    assert wire.sent[0]["error"]["code"] == code


@pytest.mark.parametrize("kind", ["an unknown answer", "a parse error of theirs"])
def test_an_answer_is_never_answered(kind: str) -> None:
    wire = Wire(answer_malformed=True)
    wire.feed(NOISE[kind] + b"\n")
    assert wire.writes == []


class TestAnswersThatAreOdd:
    def test_the_id_comes_back_as_text(self) -> None:
        wire = Wire()
        wire.feed(result(str(wire.request()), "ok"))
        assert wire.outcomes == ["ok"]

    def test_the_id_comes_back_as_a_float(self) -> None:
        wire = Wire()
        wire.feed(b'{"id":%d.0,"result":"ok"}\n' % wire.request())
        assert wire.outcomes == ["ok"]

    def test_a_second_answer_is_noise(self) -> None:
        wire = Wire()
        request_id = wire.request()
        wire.feed(result(request_id, 1), result(request_id, 2))
        assert wire.outcomes == [1]
        assert len(wire.handler.noise) == 1

    @pytest.mark.parametrize(
        ("error", "seen"),
        [
            ("it broke", ("error", -32603, "it broke", "it broke")),
            (404, ("error", -32603, "404", 404)),
            ([1, 2], ("error", -32603, "[1, 2]", [1, 2])),
            ({}, ("error", -32603, "error None", None)),
            ({"code": 500}, ("error", 500, "error 500", None)),
            ({"code": "429", "message": "slow down"}, ("error", 429, "slow down", None)),
            ({"code": 1.0, "message": "x"}, ("error", 1, "x", None)),
            ({"code": "E_FAIL", "message": "x"}, ("error", -32603, "x", None)),
            ({"code": -1, "message": {"text": "x"}}, ("error", -1, '{"text":"x"}', None)),
        ],
    )
    def test_an_error_that_is_no_error_object(self, error: Any, seen: Any) -> None:
        wire = Wire()
        wire.feed({"id": wire.request(), "error": error})
        assert wire.outcomes == [seen]

    @pytest.mark.parametrize("rest", [DEEP, b'{"cut', b"nonsense"])
    def test_one_that_cannot_be_read_fails_its_call(self, rest: bytes) -> None:
        wire = Wire()
        wire.feed(b'{"jsonrpc":"2.0","id":%d,"result":%b}\n' % (wire.request(), rest))
        assert [(kind, code) for kind, code, _, _ in wire.outcomes] == [("error", -32700)]
        assert len(wire.handler.noise) == 1


class TestRequestsThatAreOdd:
    @pytest.mark.parametrize("message_id", [[1], {"a": 1}, [], True])
    def test_an_id_that_is_no_id_is_refused(self, message_id: Any) -> None:
        wire = Wire()
        wire.feed(request(message_id, "a"), notification("next"))
        assert wire.sent[0]["error"]["code"] == -32600
        assert wire.sent[0]["id"] == message_id
        assert [event[1] for event in wire.handler.events] == ["next"]

    def test_a_method_that_is_no_string_is_refused_by_its_id(self) -> None:
        wire = Wire()
        wire.feed({"id": "x", "method": {"a": 1}})
        assert wire.sent[0]["id"] == "x"
        assert wire.sent[0]["error"]["code"] == -32600

    def test_one_that_cannot_be_read_is_answered_by_its_id(self) -> None:
        wire = Wire()
        wire.feed(b'{"jsonrpc": "2.0", "id": "x-1", "method": "a", "params": ' + DEEP + b"}\n")
        assert wire.sent[0]["id"] == "x-1"
        assert wire.sent[0]["error"]["code"] == -32700

    def test_the_wrong_or_no_version_is_forgiven(self) -> None:
        wire = Wire()
        wire.feed({"jsonrpc": "1.0", "method": "a"}, {"method": "b"}, {"jsonrpc": 2, "method": "c"})
        assert [event[1] for event in wire.handler.events] == ["a", "b", "c"]


class TestText:
    def test_a_lone_surrogate(self) -> None:
        wire = Wire()
        wire.feed(b'{"id":7,"method":"a","params":{"text":"\\ud83d!","ok":"\\ud83d\\ude00"}}\n')
        assert wire.handler.events == [("request", "a", {"text": "\ufffd!", "ok": "\U0001f600"})]
        wire.handler.calls[0].answer(1)
        assert wire.sent[0]["id"] == 7

    def test_a_lone_surrogate_in_an_answer(self) -> None:
        wire = Wire()
        wire.feed(b'{"id":%d,"result":"\\udc00"}\n' % wire.request())
        assert wire.outcomes == ["\ufffd"]

    def test_invalid_utf8_in_a_text_is_replaced(self) -> None:
        wire = Wire()
        wire.feed(b'{"method":"a","params":{"text":"caf\xe9 \xc3\xa9"}}\n')
        assert wire.handler.events == [("notification", "a", {"text": "caf\ufffd é"})]

    def test_invalid_utf8_far_into_a_long_message(self) -> None:
        head, tail = "é" * 700_000, "🎉" * 200_000
        body = b'{"method":"a","params":"' + head.encode() + b"\xff" + tail.encode() + b'"}\n'
        wire = Wire()
        wire.feed(body)
        assert wire.handler.events == [("notification", "a", head + "\ufffd" + tail)]

    def test_a_long_valid_message_is_untouched(self) -> None:
        text = "é🎉" * 500_000
        wire = Wire()
        wire.feed(line(notification("a", text)), json.dumps(text, ensure_ascii=False).encode() + b"\n")
        assert wire.handler.events == [("notification", "a", text)]

    def test_what_only_the_standard_library_takes(self) -> None:
        wire = Wire()
        wire.feed(b'{"method":"a","params":[NaN,Infinity]}\n')
        assert wire.handler.events == [("notification", "a", [None, None])]

    def test_raw_control_characters(self) -> None:
        wire = Wire()
        wire.feed(b'{"method":"a","params":"tab\there \x1b[1m"}\n')
        assert wire.handler.events == [("notification", "a", "tab\there \x1b[1m")]

    def test_a_byte_order_mark(self) -> None:
        wire = Wire()
        wire.feed(b"\xef\xbb\xbf" + line(notification("a")))
        assert wire.handler.events == [("notification", "a", {})]
        assert wire.handler.noise == []

    def test_a_line_of_50_mib(self) -> None:
        wire = Wire()
        text = "x" * (50 << 20)
        stream = line(notification("big", {"text": text})) + line(notification("next"))
        for at in range(0, len(stream), 65536):
            wire.feed(stream[at : at + 65536])
        assert [event[1] for event in wire.handler.events] == ["big", "next"]
        assert wire.handler.events[0][2] == {"text": text}


class TestBatches:
    def test_are_handled_in_order_and_answered_as_one_array(self) -> None:
        wire = Wire()
        ours = wire.request("ours")
        wire.feed(
            [notification("n1"), request(1, "a"), result(ours, "r"), request("2", "b"), notification("n2")]
        )
        assert [event[1] for event in wire.handler.events] == ["n1", "a", "b", "n2"]
        assert wire.outcomes == ["r"]
        first, second = wire.handler.calls
        second.answer("B")
        assert len(wire.sent) == 1
        first.fail(-32800, "cancelled")
        assert wire.sent[1] == [
            {"jsonrpc": "2.0", "id": "2", "result": "B"},
            {"jsonrpc": "2.0", "id": 1, "error": {"code": -32800, "message": "cancelled"}},
        ]

    def test_answers_given_at_once_leave_together(self) -> None:
        wire = Wire()
        wire.handler.on_call = lambda call: call.answer(call.method) and None
        wire.feed([request(1, "a"), request(2, "b")])
        assert [[answer["result"] for answer in batch] for batch in wire.sent] == [["a", "b"]]

    def test_of_notifications_is_not_answered(self) -> None:
        wire = Wire()
        wire.feed([notification("a"), notification("b")])
        assert wire.writes == []
        assert len(wire.handler.events) == 2

    def test_an_empty_one_is_an_invalid_request(self) -> None:
        wire = Wire()
        wire.feed(b" [ ]\n")
        assert [(message["id"], message["error"]["code"]) for message in wire.sent] == [(None, -32600)]

    def test_elements_that_are_no_requests_are_answered_one_by_one(self) -> None:
        wire = Wire()
        wire.feed([1, request(5, "a"), [notification("nested")]])
        assert wire.writes == []
        wire.handler.calls[0].answer(True)
        assert [(answer["id"], "error" in answer) for answer in wire.sent[0]] == [
            (None, True),
            (None, True),
            (5, False),
        ]

    def test_where_the_protocol_has_none_are_answered_singly_and_what_is_odd_is_noise(self) -> None:
        wire = Wire(batches=False)
        wire.feed(b"[]\n")
        wire.feed([1, request(5, "a"), [notification("nested")], request("6", "b"), None])
        assert wire.writes == []
        for call in wire.handler.calls:
            call.answer(True)
        assert [answer["id"] for answer in wire.sent] == [5, "6"]
        assert len(wire.handler.noise) == 4

    def test_with_a_lone_surrogate_in_one_element(self) -> None:
        wire = Wire()
        wire.feed(b'[{"method":"a","params":"\\ud83d"},{"method":"b"}]\n')
        assert wire.handler.events == [("notification", "a", "\ufffd"), ("notification", "b", {})]

    def test_each_element_is_shown_to_the_interceptor(self) -> None:
        wire = Wire(intercept=lambda body: body.startswith(b"{") and b"hot" in body)
        wire.feed([notification("hot"), notification("cold")])
        assert [event[1] for event in wire.handler.events] == ["cold"]

    def test_a_cancelled_element_is_still_answered_with_the_others(self) -> None:
        wire = Wire()
        wire.feed([request(1, "a"), notification("$/cancel_request", {"requestId": 1})])
        call = wire.handler.calls[0]
        assert call.cancelled
        call.fail(-32800, "cancelled")
        assert [answer["id"] for answer in wire.sent[0]] == [1]
