"""The peer among well-behaved partners: calls, answers, order, cancellation, the end of the stream."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import Raw, Struct

from acp_bridge.jsonrpc.framing import ContentLength, Ndjson
from acp_bridge.jsonrpc.messages import ConnectionClosed, Encoded, RpcError, dumps, loads
from acp_bridge.jsonrpc.peer import LSP_CANCEL, NO_PARAMS, IncomingCall, Peer
from jsonrpc.recorder import Recorder, Wire, line, notification, outcome, request, result


class TestSending:
    def test_a_notification(self) -> None:
        wire = Wire()
        wire.peer.notify("session/cancel", {"sessionId": "é"})
        assert wire.writes == [
            '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"é"}}\n'.encode()
        ]

    @pytest.mark.parametrize("nothing", [None, Raw(), Raw(b"null")])
    def test_no_params_means_no_member(self, nothing: Any) -> None:
        wire = Wire()
        wire.peer.notify("exit", nothing)
        assert wire.sent == [{"jsonrpc": "2.0", "method": "exit"}]

    def test_raw_params_pass_through_untouched(self) -> None:
        wire = Wire()
        wire.peer.notify("m", Raw(b'{ "big": 1e400 }'))
        assert b'"params":{ "big": 1e400 }' in wire.writes[0]

    def test_without_the_jsonrpc_member(self) -> None:
        wire = Wire(jsonrpc_member=False)
        wire.peer.notify("a")
        wire.request("b")
        wire.feed({"id": 9, "method": "c"})
        wire.handler.calls[0].answer(1)
        assert wire.sent == [{"method": "a"}, {"id": 1, "method": "b"}, {"id": 9, "result": 1}]

    def test_content_length_frames(self) -> None:
        wire = Wire(ContentLength())
        wire.peer.notify("a")
        assert wire.writes == [b'Content-Length: 30\r\n\r\n{"jsonrpc":"2.0","method":"a"}']

    def test_what_is_no_json_is_the_callers_error_and_sends_nothing(self) -> None:
        wire = Wire()
        with pytest.raises(TypeError):
            wire.peer.notify("a", {"x": object()})
        with pytest.raises(TypeError):
            wire.request("b", object())
        assert wire.writes == []
        wire.peer.eof("gone")
        assert wire.answers == []

    def test_everything_of_one_read_leaves_in_one_write(self) -> None:
        wire = Wire()
        wire.handler.on_call = lambda call: call.answer(call.id) and None
        wire.feed(line(request(1, "a")) + line(request(2, "b")))
        assert len(wire.writes) == 1
        assert [message["result"] for message in wire.sent] == [1, 2]

    def test_corked_gathers_elsewhere_also_when_nested(self) -> None:
        wire = Wire()
        with wire.peer.corked():
            wire.peer.notify("a")
            with wire.peer.corked():
                wire.peer.notify("b")
            assert wire.writes == []
        assert len(wire.writes) == 1
        assert [message["method"] for message in wire.sent] == ["a", "b"]


class TestAnswers:
    def test_any_order_and_both_kinds(self) -> None:
        wire = Wire()
        first, second = wire.request("a"), wire.request("b")
        error = {"code": -32000, "message": "log in", "data": {"x": 1}}
        wire.feed({"jsonrpc": "2.0", "id": second, "error": error}, result(first, {"ok": True}))
        assert wire.outcomes == [("error", -32000, "log in", {"x": 1}), {"ok": True}]

    def test_an_answer_comes_after_all_that_preceded_it(self) -> None:
        wire = Wire()
        seen: list[str] = []
        wire.handler.on_note = seen.append
        request_id = wire.peer.request("session/prompt", {}, lambda _: seen.append("answer"))
        wire.feed(line(notification("u1")) + line(result(request_id)) + line(notification("u2")))
        assert seen == ["u1", "answer", "u2"]

    def test_a_callback_that_raises_costs_nothing_else(self) -> None:
        wire = Wire()
        request_id = wire.peer.request("a", {}, lambda _: 1 / 0)
        wire.feed(line(result(request_id)) + line(notification("next")))
        assert wire.handler.events == [("notification", "next", {})]

    def test_a_null_error_beside_a_result_is_no_error(self) -> None:
        wire = Wire()
        wire.feed({"id": wire.request(), "result": 5, "error": None})
        assert wire.outcomes == [5]

    def test_an_answer_without_result_is_null(self) -> None:
        wire = Wire()
        wire.feed({"id": wire.request()})
        assert wire.outcomes == [None]
        assert wire.handler.noise == []

    async def test_call(self) -> None:
        wire = Wire()
        call = asyncio.create_task(wire.peer.call("a", [1]))
        await asyncio.sleep(0)
        wire.feed(result(wire.sent[0]["id"], {"x": [1, 2]}))
        assert await call == {"x": [1, 2]}

    async def test_call_raises_the_error(self) -> None:
        wire = Wire()
        call = asyncio.create_task(wire.peer.call("a"))
        await asyncio.sleep(0)
        wire.feed({"id": 1, "error": {"code": -32601, "message": "no such method"}})
        with pytest.raises(RpcError, match="no such method") as caught:
            await call
        assert caught.value.code == -32601


class TestRequests:
    @pytest.mark.parametrize("message_id", ["abc", "", "1", 0, -7, 2.5, None, 10**30, "\u00e9\n"])
    def test_the_id_goes_back_as_it_came(self, message_id: Any) -> None:
        wire = Wire()
        wire.feed(request(message_id, "a"))
        assert wire.handler.calls[0].answer("ok")
        assert wire.sent == [{"jsonrpc": "2.0", "id": message_id, "result": "ok"}]
        assert type(wire.sent[0]["id"]) is type(message_id)

    def test_answered_exactly_once(self) -> None:
        wire = Wire()
        wire.feed(request(1, "a"))
        call = wire.handler.calls[0]
        assert call.answer(None)
        assert call.answered
        assert not call.answer(2)
        assert not call.fail(-1, "x")
        assert wire.sent == [{"jsonrpc": "2.0", "id": 1, "result": None}]

    def test_both_sides_may_use_the_same_ids(self) -> None:
        wire = Wire()
        ours = wire.request("ours")
        wire.feed(request(ours, "theirs"))
        wire.handler.calls[0].answer("for them")
        wire.feed(result(ours, "for us"))
        assert wire.outcomes == ["for us"]
        assert wire.sent[1] == {"jsonrpc": "2.0", "id": ours, "result": "for them"}

    def test_missing_params(self) -> None:
        wire = Wire()
        wire.feed({"id": 1, "method": "a"}, {"method": "b"}, {"id": 2, "method": "c", "params": None})
        assert wire.handler.calls[0].params is NO_PARAMS
        assert [event[2] for event in wire.handler.events] == [{}, {}, None]

    def test_a_handler_that_raises_answers_an_internal_error_without_its_secrets(self) -> None:
        wire = Wire()

        def broken(call: IncomingCall) -> None:
            raise FileNotFoundError("/home/someone/secret")

        wire.handler.on_call = broken
        wire.feed(line(request(1, "fs/read")) + line(notification("next")))
        assert wire.sent[0]["error"]["code"] == -32603
        assert "fs/read" in wire.sent[0]["error"]["message"]
        assert b"someone" not in b"".join(wire.writes)
        assert wire.handler.events[-1] == ("notification", "next", {})

    def test_a_handler_that_raises_an_rpc_error_answers_it(self) -> None:
        wire = Wire()

        def refuse(call: IncomingCall) -> None:
            raise RpcError(-32602, "no cwd", {"param": "cwd"})

        wire.handler.on_call = refuse
        wire.feed(request("x", "a"))
        assert wire.sent == [
            {
                "jsonrpc": "2.0",
                "id": "x",
                "error": {"code": -32602, "message": "no cwd", "data": {"param": "cwd"}},
            }
        ]

    def test_a_handler_that_raises_after_answering_does_not_answer_twice(self) -> None:
        wire = Wire()

        def answer_and_break(call: IncomingCall) -> None:
            call.answer(1)
            raise ValueError

        wire.handler.on_call = answer_and_break
        wire.feed(request(1, "a"))
        assert wire.sent == [{"jsonrpc": "2.0", "id": 1, "result": 1}]

    def test_a_notification_handler_that_raises_costs_nothing_else(self) -> None:
        wire = Wire()
        wire.handler.on_note = lambda method: 1 / 0 if method == "bad" else None
        wire.feed(line(notification("bad")) + line(notification("good")))
        assert [event[1] for event in wire.handler.events] == ["bad", "good"]
        assert wire.handler.reads == 1

    @pytest.mark.parametrize("odd", [object(), {1, object()}, {"a": object()}])
    def test_a_result_that_is_no_json_is_answered_with_an_error(self, odd: Any) -> None:
        wire = Wire()
        wire.feed(request(1, "a"))
        assert wire.handler.calls[0].answer(odd)
        assert wire.sent[0]["error"]["code"] == -32603
        assert not wire.handler.calls[0].answer(1)

    def test_a_result_that_contains_itself_is_answered_with_an_error(self) -> None:
        loop: list[Any] = []
        loop.append(loop)
        wire = Wire()
        wire.feed(request(1, "a"))
        wire.handler.calls[0].answer(loop)
        assert wire.sent[0]["error"]["code"] == -32603

    def test_error_data_that_is_no_json_is_left_out(self) -> None:
        wire = Wire()
        wire.feed(request(1, "a"))
        wire.handler.calls[0].fail(-32803, "no", object())
        assert wire.sent[0]["error"] == {"code": -32803, "message": "no"}


class TestCancellation:
    @pytest.mark.parametrize(
        ("options", "cancel"),
        [
            ({}, notification("$/cancel_request", {"requestId": 5})),
            ({"cancel": LSP_CANCEL}, notification("$/cancelRequest", {"id": 5})),
        ],
    )
    def test_of_their_request(self, options: dict[str, Any], cancel: dict[str, Any]) -> None:
        wire = Wire(**options)
        cancelled: list[str] = []
        wire.handler.on_call = lambda call: call.on_cancel(lambda: cancelled.append(call.method))
        wire.feed(request(5, "a"), request(6, "b"), cancel, cancel)
        assert cancelled == ["a"]
        call = wire.handler.calls[0]
        assert call.cancelled
        assert not call.answered
        assert call.fail(-32800, "cancelled")
        assert not call.answer(1)
        assert [message["id"] for message in wire.sent] == [5]
        assert [event[0] for event in wire.handler.events] == ["request", "request"]

    def test_a_late_on_cancel_runs_at_once(self) -> None:
        wire = Wire()
        wire.feed(request(5, "a"), notification("$/cancel_request", {"requestId": 5}))
        ran: list[int] = []
        wire.handler.calls[0].on_cancel(lambda: ran.append(1))
        assert ran == [1]

    @pytest.mark.parametrize("params", [{"requestId": 77}, {"requestId": None}, {}, [], None, "x"])
    def test_of_nothing_is_harmless(self, params: Any) -> None:
        wire = Wire()
        wire.feed(request(5, "a"), notification("$/cancel_request", params), notification("next"))
        assert not wire.handler.calls[0].cancelled
        assert wire.handler.events[-1] == ("notification", "next", {})

    def test_of_an_answered_request_is_harmless(self) -> None:
        wire = Wire()
        ran: list[int] = []
        wire.handler.on_call = lambda call: call.on_cancel(lambda: ran.append(1))
        wire.feed(request(5, "a"))
        wire.handler.calls[0].answer(1)
        wire.feed(notification("$/cancel_request", {"requestId": 5}))
        assert ran == []

    def test_the_id_may_come_back_as_text(self) -> None:
        wire = Wire()
        wire.feed(request(5, "a"), notification("$/cancel_request", {"requestId": "5"}))
        assert wire.handler.calls[0].cancelled

    def test_the_id_may_come_back_as_a_number(self) -> None:
        wire = Wire()
        wire.feed(request("5", "a"), notification("$/cancel_request", {"requestId": 5}))
        assert wire.handler.calls[0].cancelled

    def test_of_the_newer_of_two_requests_with_one_id(self) -> None:
        wire = Wire()
        wire.feed(request(5, "a"), request(5, "b"))
        wire.handler.calls[0].answer(1)
        wire.feed(notification("$/cancel_request", {"requestId": 5}))
        assert [call.cancelled for call in wire.handler.calls] == [False, True]

    def test_a_cancel_callback_that_raises_costs_nothing_else(self) -> None:
        wire = Wire()
        ran: list[int] = []
        wire.feed(request(5, "a"))
        wire.handler.calls[0].on_cancel(lambda: 1 / 0)
        wire.handler.calls[0].on_cancel(lambda: ran.append(1))
        wire.feed(notification("$/cancel_request", {"requestId": 5}))
        assert ran == [1]

    def test_of_ours_tells_them_and_still_takes_the_answer(self) -> None:
        wire = Wire()
        request_id = wire.request("a")
        wire.peer.cancel(request_id)
        assert wire.sent[1] == notification("$/cancel_request", {"requestId": request_id})
        wire.feed({"id": request_id, "error": {"code": -32800, "message": "cancelled"}})
        assert wire.outcomes == [("error", -32800, "cancelled", None)]
        wire.peer.cancel(request_id)
        assert len(wire.sent) == 2

    async def test_cancelling_the_task_of_a_call(self, caplog: pytest.LogCaptureFixture) -> None:
        wire = Wire(cancel=LSP_CANCEL)
        call = asyncio.create_task(wire.peer.call("slow"))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert wire.sent[1] == notification("$/cancelRequest", {"id": wire.sent[0]["id"]})
        wire.feed(result(wire.sent[0]["id"], "too late"), notification("next"))
        assert wire.handler.noise == []
        assert caplog.records == []
        assert wire.handler.events == [("notification", "next", {})]


class TestTheEnd:
    def test_every_pending_call_fails_at_once(self) -> None:
        wire = Wire()
        wire.request("a")
        wire.request("b")
        wire.peer.eof("exit code 3")
        assert wire.outcomes == [("closed", "exit code 3")] * 2
        assert wire.handler.reads == 1

    async def test_also_a_coroutine(self) -> None:
        wire = Wire()
        call = asyncio.create_task(wire.peer.call("a"))
        await asyncio.sleep(0)
        wire.peer.eof("killed")
        with pytest.raises(ConnectionClosed, match="killed"):
            await call

    def test_incoming_requests_count_as_answered_and_nothing_more_is_sent(self) -> None:
        wire = Wire()
        wire.feed(request(1, "a"))
        wire.peer.eof("gone")
        assert not wire.handler.calls[0].answer(1)
        wire.peer.notify("b")
        assert wire.writes == []

    def test_unless_the_other_side_may_still_listen(self) -> None:
        wire = Wire()
        wire.feed(request(1, "a"))
        wire.request("ours")
        wire.peer.eof("stdin ended", answers=True)
        assert wire.outcomes == [("closed", "stdin ended")]
        assert wire.handler.calls[0].answer(1)
        wire.peer.notify("b")
        assert [message.get("method") for message in wire.sent] == ["ours", None, "b"]

    def test_a_request_afterwards_fails_at_once(self) -> None:
        wire = Wire()
        wire.peer.eof("")
        wire.request("late")
        assert wire.outcomes == [("closed", "the connection was closed")]
        assert wire.writes == []

    def test_input_afterwards_is_nothing(self) -> None:
        wire = Wire()
        wire.peer.eof("gone")
        wire.peer.eof("again")
        wire.feed(notification("late"))
        assert wire.handler.events == []
        assert wire.handler.reads == 1

    def test_ending_it_from_within_a_read_stops_the_read(self) -> None:
        wire = Wire()
        wire.handler.on_note = lambda _: wire.peer.eof("enough")
        wire.feed(line(notification("a")) + line(notification("b")))
        assert [event[1] for event in wire.handler.events] == ["a"]

    def test_a_last_message_without_line_end_is_delivered(self) -> None:
        wire = Wire()
        wire.feed(line(notification("last")).rstrip())
        assert wire.handler.events == []
        wire.peer.eof("gone")
        assert wire.handler.events == [("notification", "last", {})]

    def test_half_a_message_is_noise_and_its_call_knows_the_real_reason(self) -> None:
        wire = Wire()
        request_id = wire.request("a")
        wire.feed(line(result(request_id, "long"))[:-5])
        wire.peer.eof("SIGKILL")
        assert wire.outcomes == [("closed", "SIGKILL")]
        assert [reason for reason, _ in wire.handler.noise] == ["cut off by the end of the stream"]


class TestIntercept:
    def test_sees_every_body_and_consumes_what_it_wants(self) -> None:
        seen: list[bytes] = []

        def intercept(body: bytes) -> bool:
            seen.append(body)
            return b"hot" in body

        wire = Wire(intercept=intercept)
        wire.feed(line(notification("hot")) + line(notification("cold")) + b"noise\n")
        assert [event[1] for event in wire.handler.events] == ["cold"]
        assert len(seen) == 3
        assert wire.handler.reads == 1

    def test_one_that_raises_leaves_the_message_to_the_peer(self) -> None:
        wire = Wire(intercept=lambda body: 1 / 0 > 0)
        wire.feed(notification("a"))
        assert [event[1] for event in wire.handler.events] == ["a"]

    def test_gets_valid_utf8(self) -> None:
        seen: list[bytes] = []
        wire = Wire(intercept=lambda body: seen.append(body) is None)
        wire.feed(b'{"method":"a","params":"\xff"}\n')
        assert seen[0].decode() == '{"method":"a","params":"\ufffd"}'


class _Point(Struct):
    x: int
    name: str


class TestEncoding:
    @pytest.mark.parametrize(
        ("value", "text"),
        [
            ("a\ud83db", '"a\ufffdb"'),
            ({"k\udc00": ["\ud83d", 1, None]}, '{"k\ufffd":["\ufffd",1,null]}'),
            ([Raw(b'{"a":1}'), "\ud83d"], '[{"a":1},"\ufffd"]'),
            ([_Point(1, "\ud83d")], '[{"x":1,"name":"\ufffd"}]'),
            (["\ud83d\ude00"], '["\U0001f600"]'),
            (["\ud83d", float("nan")], '["\ufffd",null]'),
        ],
    )
    def test_lone_surrogates_are_replaced(self, value: Any, text: str) -> None:
        assert dumps(value) == text.encode()

    def test_what_is_no_json_beside_a_lone_surrogate(self) -> None:
        with pytest.raises(TypeError):
            dumps(["\ud83d", object()])

    @pytest.mark.parametrize("text", [b'"\\ud83d"', b"NaN", b"[Infinity]", b'"a\tb\x01"'])
    def test_loads_takes_what_only_the_standard_library_takes(self, text: bytes) -> None:
        loads(text)

    @pytest.mark.parametrize("text", [b"", b"{", b"nonsense", b'{"a":}'])
    def test_loads_refuses_what_is_no_json(self, text: bytes) -> None:
        with pytest.raises(ValueError):
            loads(text)


def test_a_notification_costs_less_than_parsing_it_with_the_standard_library() -> None:
    """The path of every streamed chunk: envelope, dispatch, nothing built from the params."""
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x" * 120}}
    one = line(notification("session/update", {"sessionId": "s-0123456789", "update": update}))
    stream = one * 200

    class Counter(Recorder):
        count = 0

        def on_notification(self, method: str, params: Raw) -> None:
            self.count += 1

    counter = Counter()
    peer = Peer(Ndjson(), lambda data: None, counter)

    def cpu(run: Callable[[], Any]) -> float:
        began = time.process_time()
        for _ in range(50):
            run()
        return time.process_time() - began

    ours = min(cpu(lambda: peer.receive(stream)) for _ in range(5))
    theirs = min(cpu(lambda: [json.loads(one) for _ in range(200)]) for _ in range(5))
    assert counter.count == 5 * 50 * 200
    assert ours < theirs


def test_two_peers_of_either_framing_talk() -> None:
    for framing in (Ndjson, ContentLength):
        left, right = Recorder(), Recorder()
        peers: list[Peer] = []
        peers.append(Peer(framing(), lambda data, to=peers: to[1].receive(data), left))
        peers.append(Peer(framing(), lambda data, to=peers: to[0].receive(data), right))
        right.on_call = lambda call: call.answer({"echo": loads(call.params)}) and None
        answers: list[Any] = []
        peers[0].request("echo", {"text": "é" * 1000}, lambda answer, to=answers: to.append(outcome(answer)))
        assert answers == [{"echo": {"text": "é" * 1000}}]


@pytest.mark.parametrize("size", [1, 200_000])
def test_params_that_are_json_already_go_out_as_they_are(size: int) -> None:
    written: list[bytes] = []
    peer = Peer(ContentLength(), written.append, Recorder())
    peer.notify("m", Encoded([b'{"a":"', b"x" * size, b'"}']))
    stream = b"".join(written)
    head, _, body = stream.partition(b"\r\n\r\n")
    assert head == b"Content-Length: %d" % len(body)
    assert json.loads(body) == {"jsonrpc": "2.0", "method": "m", "params": {"a": "x" * size}}
