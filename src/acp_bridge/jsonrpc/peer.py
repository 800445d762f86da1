"""The bidirectional peer: ids, order, cancellation, failure. Sans-I/O (see module `framing`).

    state    input                                output
    open     every message is handled             everything is sent
    ended    none comes; a new request fails at   answers and notifications are still sent
             once with ConnectionClosed           (`eof(…, answers=True)`: only their input ended)
    closed   none comes; likewise                 dropped; incoming requests count as answered

Guarantees
- Everything is delivered to the handler in wire order, synchronously, within `receive`.
- An answer runs its `on_answer` callback in that same order, so a prompt's answer is seen after every
  notification that preceded it on the wire. Each runs once: with the answer, or with why there is none.
- Every incoming request is answered exactly once; a handler that raises answers -32603. A cancelled one is
  still the handler's to answer. The id goes back as it came, whatever JSON type it has.
- The two sides' ids never mix. An answer is matched by type and value, then by text ("1" for 1).
- A batch is handled in its order; its answers leave together as one array. We never send batches otherwise.
- Whatever is not a message goes to `on_noise` and costs nothing but itself. Invalid UTF-8 and lone surrogates
  become U+FFFD, so every body and every Raw handed out is valid UTF-8 that msgspec decodes, and none is
  nested so deeply that what was read could not be written again.
- All that is written while one read is handled leaves as one write at its end (`corked` does it elsewhere).
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

import msgspec
from msgspec import Raw

from acp_bridge.jsonrpc import messages
from acp_bridge.jsonrpc.framing import Framing
from acp_bridge.jsonrpc.ids import IdTable
from acp_bridge.jsonrpc.incoming import Batch, IncomingCall, error_member
from acp_bridge.jsonrpc.messages import Answer, ConnectionClosed, Encoded, Id, RpcError, dumps, loads
from acp_bridge.jsonrpc.nesting import too_deep
from acp_bridge.jsonrpc.outbox import LARGE, Outbox
from acp_bridge.jsonrpc.utf8 import valid_utf8

__all__ = ["ACP_CANCEL", "LSP_CANCEL", "NO_PARAMS", "Handler", "IncomingCall", "Peer"]

ACP_CANCEL = ("$/cancel_request", "requestId")
LSP_CANCEL = ("$/cancelRequest", "id")

NO_PARAMS = Raw(b"{}")
"""What a message without `params` is delivered with (this very object)."""

_log = logging.getLogger(__name__)
_ABSENT = Raw()
_NULL = b"null"
_WHITESPACE = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"
_HEAD = re.compile(
    rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"[^"]*"\s*,\s*)?'
    rb'"id"\s*:\s*(-?\d{1,19}|"[^"\\]{0,200}")\s*,\s*"(method|result|error)"\s*:'
)
"""The head of a message whose rest cannot be read: enough to tell whom it concerns."""


class _Envelope(msgspec.Struct, gc=False):
    method: str | None = None
    id: Raw = _ABSENT
    params: Raw = NO_PARAMS
    result: Raw = _ABSENT
    error: Raw = _ABSENT


_decode = msgspec.json.Decoder(_Envelope).decode
_decode_array = msgspec.json.Decoder(list[Raw]).decode


class Handler(Protocol):
    """What a peer tells its owner. All four run synchronously and must not block."""

    def on_request(self, call: IncomingCall) -> None: ...
    def on_notification(self, method: str, params: Raw) -> None: ...
    def on_noise(self, reason: str, data: bytes) -> None: ...
    def on_read_end(self) -> None:
        """Everything one read delivered has been handled: the moment to flush."""
        ...


class Peer:
    """One end of a JSON-RPC connection. Feed it with `receive` and `eof`; it writes framed bytes to `write`.

    `jsonrpc_member=False` leaves `"jsonrpc":"2.0"` out of what is sent (Codex). `cancel` is the notification
    that takes a request back and the name of its id parameter, in both directions. `intercept_read` sees
    all bodies of a read at once, as they came, and takes all or none; `intercept` sees each body
    before it is decoded and returns True if it consumed it: the hot path of a codec. `answer_malformed`
    answers what cannot be read with -32700 or -32600 and id null, as JSON-RPC 2.0 section 5 asks of a server;
    leave it off towards an agent, which may print anything. `batches=False` is for a protocol without batches
    (ACP v1): one that comes is read all the same, its requests are answered one by one, what is odd in it is
    noise; otherwise an empty or odd batch is always answered.
    """

    def __init__(
        self,
        framing: Framing,
        write: Callable[[bytes], None],
        handler: Handler,
        *,
        jsonrpc_member: bool = True,
        cancel: tuple[str, str] = ACP_CANCEL,
        intercept: Callable[[bytes], bool] | None = None,
        intercept_read: Callable[[list[bytes]], bool] | None = None,
        answer_malformed: bool = False,
        batches: bool = True,
    ) -> None:
        self._framing = framing
        self._outbox = Outbox(framing, write)
        self._handler = handler
        self._start = b'{"jsonrpc":"2.0",' if jsonrpc_member else b"{"
        self._cancel_method, self._cancel_key = cancel
        self._intercept = intercept
        self._intercept_read = intercept_read
        self._answer_malformed = answer_malformed
        self._batches = batches
        self._pending: IdTable[Callable[[Answer], None]] = IdTable()
        self._incoming: IdTable[IncomingCall] = IdTable()
        self._last_id = 0
        self._ended = ""

    def receive(self, data: bytes) -> None:
        """Handle what one read delivered: all messages it completes, then `on_read_end`."""
        if self._ended:
            return
        with self._outbox:
            for body in self._untaken(self._framing.feed(data)):
                if self._ended:
                    return
                self._body(body)
            self._report_junk()
            self._guarded(self._handler.on_read_end)

    def _untaken(self, bodies: list[bytes]) -> list[bytes]:
        """The bodies of one read that `intercept_read` leaves: all or none."""
        if self._intercept_read is None or not bodies:
            return bodies
        try:
            return [] if self._intercept_read(bodies) else bodies
        except Exception:
            _log.exception("the interceptor failed; the messages go the ordinary way")
            return bodies

    def eof(self, reason: str, *, answers: bool = False) -> None:
        """The stream ended: a half line is delivered as message or noise, every pending call fails with
        ConnectionClosed(reason). Incoming requests count as answered, unless `answers` says that the other
        side may still listen."""
        if self._ended:
            return
        self._ended = reason or "the connection was closed"
        with self._outbox:
            rest = self._framing.eof()
            if rest:
                self._body(rest)
            self._report_junk()
            self._fail_pending()
            if not answers:
                self._close()
            self._guarded(self._handler.on_read_end)

    def notify(self, method: str, params: Any = None) -> None:
        """Send a notification; `params` None (or an empty Raw) sends none. Raises TypeError for what is no
        JSON value."""
        if isinstance(params, Encoded) and params.size > LARGE:
            start = b'%b"method":%b,"params":' % (self._start, dumps(method))
            self._outbox.send_large(start, *params.parts, b"}")
        else:
            self._outbox.send(b'%b"method":%b%b}' % (self._start, dumps(method), _params_member(params)))

    def request(self, method: str, params: Any, on_answer: Callable[[Answer], None]) -> Id:
        """Send a request; `on_answer` runs once, in wire order (at once if the connection is over).

        Raises TypeError for params that are no JSON value; nothing is sent then.
        """
        body = b'"method":%b%b}' % (dumps(method), _params_member(params))
        self._last_id = request_id = self._last_id + 1
        if self._ended:
            on_answer(Answer(error=ConnectionClosed(self._ended)))
            return request_id
        self._pending[request_id] = on_answer
        self._outbox.send(b'%b"id":%d,%b' % (self._start, request_id, body))
        return request_id

    async def call(self, method: str, params: Any = None) -> Any:
        """`request` as a coroutine: the decoded result, or raises RpcError / ConnectionClosed. Cancelling
        the awaiting task sends the protocol's cancel notification and drops the answer.

        The awaiting task wakes after the whole read was handled: where order counts, use `request`.
        """
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

        def arrived(answer: Answer) -> None:
            if not future.done():
                future.set_result(answer)

        request_id = self.request(method, params, arrived)
        try:
            answer = await future
        except asyncio.CancelledError:
            self.cancel(request_id)
            raise
        return answer.value()

    def cancel(self, request_id: Id) -> None:
        """Take one of our requests back. Its answer still comes (an error -32800 as a rule); nothing is
        sent if it is already there."""
        if self._pending.find(request_id) is not None:
            self.notify(self._cancel_method, {self._cancel_key: request_id})

    def corked(self) -> AbstractContextManager[object]:
        """Whatever is sent inside leaves as one write at the end."""
        return self._outbox

    def _body(self, body: bytes, batch: Batch | None = None) -> None:
        if not body.isascii():
            body = valid_utf8(body)
        try:
            if self._intercept is not None and self._intercept(body):
                return
        except Exception:
            _log.exception("the interceptor failed; the message goes the ordinary way")
        try:
            envelope = _decode(body)
        except (msgspec.DecodeError, RecursionError):
            self._unusual(body, batch)
            return
        self._message(envelope, body, batch)

    def _message(self, envelope: _Envelope, body: bytes, batch: Batch | None) -> None:
        method = envelope.method
        if too_deep(body):
            self._unreadable("nested too deeply", body, batch)
        elif method is None:
            self._answer(envelope, body, batch)
        elif envelope.id is not _ABSENT:
            self._request(envelope, method, batch)
        elif method == self._cancel_method:
            self._cancel_incoming(envelope.params, body)
        else:
            try:
                self._handler.on_notification(method, envelope.params)
            except Exception:
                _log.exception("handling %s failed", method)

    def _request(self, envelope: _Envelope, method: str, batch: Batch | None) -> None:
        raw_id = bytes(envelope.id)
        call_id = loads(raw_id)
        if isinstance(call_id, bool | dict | list):
            self._refuse(
                raw_id, messages.INVALID_REQUEST, "A request id is a string, a number or null.", batch
            )
            return
        send = self._outbox.send
        if batch is not None:
            batch.expect()
            send = batch.reply

        def reply(member: bytes) -> None:
            self._incoming.discard(call_id, call)
            send(b'%b"id":%b,%b}' % (self._start, raw_id, member))

        call = IncomingCall(call_id, method, envelope.params, reply)
        self._incoming[call_id] = call
        try:
            self._handler.on_request(call)
        except RpcError as error:
            call.fail(error.code, error.message, error.data)
        except Exception:
            _log.exception("handling %s failed", method)
            call.fail(messages.INTERNAL_ERROR, f"Internal error while handling {method}.")

    def _answer(self, envelope: _Envelope, body: bytes, batch: Batch | None) -> None:
        if envelope.id is _ABSENT:
            self._invalid("neither a request nor an answer", body, batch)
            return
        failed = envelope.error is not _ABSENT and bytes(envelope.error) != _NULL
        on_answer = self._pending.take(loads(envelope.id))
        if on_answer is None:
            self._handler_noise("an answer to no pending request", body)
        elif failed:
            self._guarded(on_answer, Answer(error=RpcError.read(envelope.error)))
        else:
            # A JavaScript agent drops `result: undefined` when it encodes: that is the answer null.
            result = Raw(_NULL) if envelope.result is _ABSENT else envelope.result
            self._guarded(on_answer, Answer(result=result))

    def _cancel_incoming(self, params: Raw, body: bytes) -> None:
        value = loads(params)
        if not isinstance(value, dict) or self._cancel_key not in value:
            self._handler_noise(f"{self._cancel_method} without {self._cancel_key}", body)
            return
        call = self._incoming.find(value[self._cancel_key])
        if call is not None:
            call.cancel()

    def _unusual(self, body: bytes, batch: Batch | None) -> None:
        """What the envelope decoder refuses: no JSON, no object, a batch, text only stdlib json takes."""
        text = body.removeprefix(_BOM).strip(_WHITESPACE)
        if not text:
            return
        try:
            value = loads(text)
            clean = dumps(value)
        except RecursionError:
            self._unreadable("nested too deeply", body, batch)
        except ValueError:
            self._unreadable("not JSON", body, batch)
        else:
            self._odd_value(value, clean, body, batch)

    def _odd_value(self, value: Any, clean: bytes, body: bytes, batch: Batch | None) -> None:
        if isinstance(value, list) and batch is None:
            self._batch(clean, body)
        elif not isinstance(value, dict):
            self._invalid("JSON, but no object", body, batch)
        else:
            try:
                envelope = _decode(clean)
            except msgspec.DecodeError:
                self._invalid("the method is no string", body, batch, dumps(value.get("id")))
                return
            self._message(envelope, body, batch)

    def _batch(self, text: bytes, body: bytes) -> None:
        elements = [bytes(element) for element in _decode_array(text)]
        if not elements:
            if self._batches or self._answer_malformed:
                self._refuse(_NULL, messages.INVALID_REQUEST, "A batch must not be empty.", None)
            self._handler_noise("an empty batch", body)
            return
        batch = Batch(self._outbox.send, together=self._batches)
        for element in elements:
            self._body(element, batch)
        batch.settle()

    def _unreadable(self, reason: str, body: bytes, batch: Batch | None) -> None:
        head = _HEAD.match(body[:512])
        if self._ended:
            reason, head = "cut off by the end of the stream", None
        self._handler_noise(reason, body)
        if head is None:
            if self._answer_malformed:
                self._refuse(_NULL, messages.PARSE_ERROR, f"The message cannot be read: {reason}.", batch)
        elif head[2] == b"method":
            self._refuse(head[1], messages.PARSE_ERROR, f"The request cannot be read: {reason}.", batch)
        else:
            on_answer = self._pending.take(loads(head[1]))
            if on_answer is not None:
                error = RpcError(messages.PARSE_ERROR, f"The answer cannot be read: {reason}.")
                self._guarded(on_answer, Answer(error=error))

    def _invalid(self, reason: str, body: bytes, batch: Batch | None, raw_id: bytes = _NULL) -> None:
        self._handler_noise(reason, body)
        in_batch = batch is not None and batch.together
        if in_batch or self._answer_malformed or raw_id != _NULL:
            self._refuse(raw_id, messages.INVALID_REQUEST, f"Invalid request: {reason}.", batch)

    def _refuse(self, raw_id: bytes, code: int, message: str, batch: Batch | None) -> None:
        body = b'%b"id":%b,%b}' % (self._start, raw_id, error_member(RpcError(code, message)))
        if batch is None:
            self._outbox.send(body)
        else:
            batch.expect()
            batch.reply(body)

    def _fail_pending(self) -> None:
        for on_answer in self._pending.take_all():
            self._guarded(on_answer, Answer(error=ConnectionClosed(self._ended)))

    def _close(self) -> None:
        self._outbox.close()
        for call in self._incoming.take_all():
            call.abandon()

    def _report_junk(self) -> None:
        junk = self._framing.junk
        if junk:
            self._framing.junk = []
            for text in junk:
                self._handler_noise("text between the messages", text)

    def _handler_noise(self, reason: str, data: bytes) -> None:
        self._guarded(self._handler.on_noise, reason, data)

    def _guarded(self, callback: Callable[..., None], *arguments: Any) -> None:
        """Run a callback of the owner's; one that raises costs neither the read nor the other callbacks."""
        try:
            callback(*arguments)
        except Exception:
            _log.exception("a callback of the connection's owner failed")


def _params_member(params: Any) -> bytes:
    if isinstance(params, Encoded):
        return b',"params":%b' % b"".join(params.parts)
    body = _NULL if params is None else dumps(params)
    return b"" if body in (b"", _NULL) else b',"params":%b' % body
