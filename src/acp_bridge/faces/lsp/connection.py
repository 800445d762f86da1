"""The connection to one editor: the handshake, the documents, and whose turn each message is.

Guarantees
- `initialize` is answered, and documents are tracked, before the rest of the bridge is loaded. Requests that
  come meanwhile wait, in order, for `Room` (the loaded bridge) to be attached.
- Before `initialize` every request gets -32002 and every notification but `exit` is dropped (LSP 3.17).
- Nothing an editor sends ends the connection but `exit` and the end of the stream.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Protocol

import msgspec

from acp_bridge.faces.lsp.documents import Malformed, OpenDocuments
from acp_bridge.faces.lsp.initialize import Features, answer, features_of
from acp_bridge.jsonrpc.framing import ContentLength
from acp_bridge.jsonrpc.messages import INVALID_REQUEST, PARSE_ERROR, loads
from acp_bridge.jsonrpc.peer import LSP_CANCEL, IncomingCall, Peer
from acp_bridge.jsonrpc.transport import Transport

log = logging.getLogger(__name__)
NOT_INITIALIZED = -32002


class Room(Protocol):
    """The loaded bridge, as the connection sees it."""

    def request(self, call: IncomingCall) -> None: ...
    def notification(self, method: str, params: Any) -> None: ...
    def drained(self) -> None: ...


class Connection:
    """Handler of the peer and receiver of the transport."""

    def __init__(self) -> None:
        self.peer = Peer(ContentLength(), self._write, self, cancel=LSP_CANCEL, answer_malformed=True)
        self.transport: Transport | None = None
        self.features = Features()
        self.documents = OpenDocuments(self.features.encoding)
        self.initialized = asyncio.Event()
        self.ended = asyncio.Event()
        self.exit_code = 1
        self._shut_down = False
        self._room: Room | None = None
        self._waiting: list[IncomingCall | tuple[str, Any]] = []

    def attach(self, room: Room) -> None:
        """The bridge is loaded: hand over what waited, in order."""
        self._room = room
        waiting, self._waiting = self._waiting, []
        for item in waiting:
            if isinstance(item, tuple):
                room.notification(*item)
            else:
                room.request(item)

    def end(self, reason: str, code: int | None = None) -> None:
        """Let the process end; `code` None: 0 after `shutdown`, else 1. The first end counts."""
        if self.ended.is_set():
            return
        log.info("ending: %s", reason)
        self.exit_code = (0 if self._shut_down else 1) if code is None else code
        self.ended.set()
        self.initialized.set()

    def data_received(self, data: bytes) -> None:
        self.peer.receive(data)

    def eof_received(self) -> None:
        self.peer.eof("the editor closed the connection", answers=True)
        self.end("the editor closed the connection")

    def drained(self) -> None:
        if self._room is not None:
            self._room.drained()

    def on_request(self, call: IncomingCall) -> None:
        if call.method == "initialize":
            self._initialize(call)
        elif not self.initialized.is_set():
            call.fail(NOT_INITIALIZED, f"{call.method} came before initialize")
        elif call.method == "shutdown":
            self._shut_down = True
            call.answer(None)
        elif self._shut_down:
            call.fail(INVALID_REQUEST, f"{call.method} came after shutdown")
        elif self._room is None:
            self._waiting.append(call)
        else:
            self._room.request(call)

    def on_notification(self, method: str, params: msgspec.Raw) -> None:
        if method == "exit":
            self.end("exit")
            return
        if not self.initialized.is_set():
            return
        try:
            self._notified(method, loads(params))
        except (Malformed, ValueError, RecursionError) as error:
            log.warning("ignored: %s", error)

    def on_noise(self, reason: str, data: bytes) -> None:
        log.warning("not a message: %s: %r", reason, data[:200])

    def on_read_end(self) -> None:
        pass

    def _notified(self, method: str, params: Any) -> None:
        if method.startswith("textDocument/did"):
            self.documents.notified(method, params)
        elif self._room is None:
            self._waiting.append((method, params))
        else:
            self._room.notification(method, params)

    def _initialize(self, call: IncomingCall) -> None:
        if self.initialized.is_set():
            call.fail(INVALID_REQUEST, "initialize came twice")
            return
        try:
            self.features = features_of(loads(call.params))
        except (ValueError, RecursionError) as error:
            call.fail(PARSE_ERROR, f"initialize: {error}")
            return
        self.documents.encoding = self.features.encoding
        call.answer(answer(self.features))
        self.initialized.set()

    def _write(self, data: bytes) -> None:
        if self.transport is not None:
            self.transport.write(data)
