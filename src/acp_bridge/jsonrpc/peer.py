"""The bidirectional peer: ids, order, cancellation, failure. Sans-I/O (see module `framing`).

Guarantees
- Everything is delivered to the handler in wire order, synchronously, within `receive`.
- An answer runs its `on_answer` callback in that same order, so a prompt's answer is seen after every
  notification that preceded it on the wire.
- Every incoming request is answered exactly once; a handler that raises answers -32603.
- Whatever is not a message goes to `on_noise` and costs nothing but itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from acp_bridge.jsonrpc.framing import Framing
from acp_bridge.jsonrpc.messages import Answer, Id


class IncomingCall(Protocol):
    """A request the other side made of us."""

    id: Id
    method: str
    params: msgspec.Raw

    def answer(self, result: Any) -> bool:
        """Send the result (any JSON value or msgspec.Raw); False if it was already answered."""
        ...

    def fail(self, code: int, message: str, data: Any = None) -> bool:
        """Send an error; False if it was already answered."""
        ...

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Run `callback` when the other side cancels this request (at once if it already has)."""
        ...


class Handler(Protocol):
    """What a peer tells its owner. All four run synchronously and must not block."""

    def on_request(self, call: IncomingCall) -> None: ...
    def on_notification(self, method: str, params: msgspec.Raw) -> None: ...
    def on_noise(self, reason: str, data: bytes) -> None: ...
    def on_read_end(self) -> None:
        """Everything one read delivered has been handled: the moment to flush."""
        ...


class PeerApi(Protocol):
    """The surface other floors use (implemented by `Peer`)."""

    def receive(self, data: bytes) -> None: ...
    def eof(self, reason: str) -> None:
        """The stream ended: deliver a half line as noise or message, fail every pending call with
        ConnectionClosed(reason), mark incoming requests as answered."""
        ...

    def notify(self, method: str, params: Any) -> None: ...
    def request(self, method: str, params: Any, on_answer: Callable[[Answer], None]) -> Id: ...
    async def call(self, method: str, params: Any) -> Any:
        """`request` as a coroutine: the decoded result, or raises RpcError / ConnectionClosed. Cancelling
        the awaiting task sends the protocol's cancel notification and drops the answer."""
        ...

    def cancel(self, request_id: Id) -> None: ...


PeerFactory = Callable[[Framing, Callable[[bytes], None], Handler], PeerApi]
