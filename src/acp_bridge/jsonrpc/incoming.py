"""What the other side asks of us: one request, and the batch it may have come in."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from msgspec import Raw

from acp_bridge.jsonrpc.messages import INTERNAL_ERROR, Id, RpcError, dumps

_log = logging.getLogger(__name__)


class IncomingCall:
    """A request the other side made of us; `params` is peer.NO_PARAMS where it sent none."""

    __slots__ = ("_cancelled", "_on_cancel", "_reply", "id", "method", "params")

    def __init__(self, call_id: Id, method: str, params: Raw, reply: Callable[[bytes], None]) -> None:
        self.id = call_id
        self.method = method
        self.params = params
        self._reply: Callable[[bytes], None] | None = reply
        self._on_cancel: list[Callable[[], None]] = []
        self._cancelled = False

    @property
    def answered(self) -> bool:
        """True once an answer was sent or can no longer be sent."""
        return self._reply is None

    @property
    def cancelled(self) -> bool:
        """True once the other side took the request back (it still waits for an answer)."""
        return self._cancelled

    def answer(self, result: Any) -> bool:
        """Send the result (any JSON value or msgspec.Raw); False if it was already answered.

        A result that is no JSON value is answered with -32603 instead.
        """
        if self._reply is None:
            return False
        try:
            body = dumps(result)
        except (TypeError, ValueError, RecursionError):
            _log.exception("the result of %s is no JSON value", self.method)
            return self.fail(INTERNAL_ERROR, f"The result of {self.method} could not be encoded.")
        return self._send(b'"result":%b' % (body or b"null"))

    def fail(self, code: int, message: str, data: Any = None) -> bool:
        """Send an error; False if it was already answered. `data` that is no JSON value is left out."""
        return self._reply is not None and self._send(error_member(RpcError(code, message, data)))

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Run `callback` when the other side cancels this request (at once if it already has)."""
        if self._cancelled:
            callback()
        else:
            self._on_cancel.append(callback)

    def cancel(self) -> None:
        """For the peer: the other side takes the request back."""
        self._cancelled = True
        callbacks, self._on_cancel = self._on_cancel, []
        for callback in callbacks:
            try:
                callback()
            except Exception:
                _log.exception("cancelling %s failed", self.method)

    def abandon(self) -> None:
        """For the peer: nobody is there any more to answer."""
        self._reply = None

    def _send(self, member: bytes) -> bool:
        reply, self._reply = self._reply, None
        if reply is None:
            return False
        reply(member)
        return True


class Batch:
    """The answers a batch still owes; they leave together once the last is there, or each by itself."""

    __slots__ = ("_answers", "_owed", "_send", "together")

    def __init__(self, send: Callable[[bytes], None], *, together: bool = True) -> None:
        self._send = send
        self.together = together
        self._answers: list[bytes] = []
        self._owed = 1

    def expect(self) -> None:
        """One more answer is owed."""
        self._owed += 1

    def reply(self, body: bytes) -> None:
        """One owed answer is here."""
        if not self.together:
            self._send(body)
            return
        self._answers.append(body)
        self.settle()

    def settle(self) -> None:
        """One debt less; the first is the batch's own, until all its elements have been looked at."""
        self._owed -= 1
        if not self._owed and self._answers:
            self._send(b"[%b]" % b",".join(self._answers))


def error_member(error: RpcError) -> bytes:
    """The encoded `error` member; `data` that is no JSON value is left out."""
    try:
        return b'"error":%b' % dumps(error.as_object())
    except (TypeError, ValueError, RecursionError):
        _log.exception("the data of an error is no JSON value")
        return b'"error":%b' % dumps({"code": error.code, "message": error.message})
