"""A handler that writes down what a peer tells it, and readers of what a peer wrote (stdlib only)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from msgspec import Raw

from acp_bridge.jsonrpc.framing import Framing, Ndjson
from acp_bridge.jsonrpc.messages import Answer, ConnectionClosed, RpcError
from acp_bridge.jsonrpc.peer import IncomingCall, Peer


class Recorder:
    """What came, in order: ("notification", method, params) or ("request", method, params); noise apart."""

    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []
        self.calls: list[IncomingCall] = []
        self.noise: list[tuple[str, bytes]] = []
        self.reads = 0
        self.on_call: Callable[[IncomingCall], None] | None = None
        self.on_note: Callable[[str], None] | None = None

    def on_request(self, call: IncomingCall) -> None:
        self.events.append(("request", call.method, json.loads(bytes(call.params))))
        self.calls.append(call)
        if self.on_call is not None:
            self.on_call(call)

    def on_notification(self, method: str, params: Raw) -> None:
        self.events.append(("notification", method, json.loads(bytes(params))))
        if self.on_note is not None:
            self.on_note(method)

    def on_noise(self, reason: str, data: bytes) -> None:
        self.noise.append((reason, data))

    def on_read_end(self) -> None:
        self.reads += 1


class Wire:
    """A peer without any I/O: `feed` plays the other side, `sent` is what it would have read."""

    def __init__(self, framing: Framing | None = None, **options: Any) -> None:
        self.handler = Recorder()
        self.writes: list[bytes] = []
        self.answers: list[Answer] = []
        self.peer = Peer(framing or Ndjson(), self.writes.append, self.handler, **options)

    def feed(self, *messages: Any) -> None:
        """Each message as its own read: bytes as they are, anything else as a line of JSON."""
        for message in messages:
            self.peer.receive(message if isinstance(message, bytes) else line(message))

    def request(self, method: str = "m", params: Any = None) -> Any:
        """Ask; what comes back is appended to `answers`."""
        return self.peer.request(method, params, self.answers.append)

    @property
    def sent(self) -> list[Any]:
        return [json.loads(text) for text in b"".join(self.writes).split(b"\n") if text]

    @property
    def outcomes(self) -> list[Any]:
        """The answers that came: a decoded result, ("error", code, message, data) or ("closed", reason)."""
        return [outcome(answer) for answer in self.answers]


def outcome(answer: Answer) -> Any:
    if isinstance(answer.error, RpcError):
        return ("error", answer.error.code, answer.error.message, answer.error.data)
    if isinstance(answer.error, ConnectionClosed):
        return ("closed", answer.error.reason)
    return json.loads(bytes(answer.result)) if answer.result is not None else None


def line(message: Any) -> bytes:
    """One NDJSON line, written by the standard library."""
    return json.dumps(message).encode() + b"\n"


def content_length(body: bytes) -> bytes:
    return b"Content-Length: " + str(len(body)).encode() + b"\r\n\r\n" + body


def notification(method: str, params: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": {} if params is None else params}


def request(message_id: Any, method: str, params: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": message_id, "method": method, "params": {} if params is None else params}


def result(message_id: Any, value: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": message_id, "result": value}
