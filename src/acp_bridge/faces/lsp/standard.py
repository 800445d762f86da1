"""pygls behind our transport: typed standard features, loaded after the handshake.

It gets the requests that nobody else owns and answers through the peer's calls, so that ids, order,
cancellation and back-pressure stay in one hand. It never sees the handshake, documents, commands or `acp/*`,
and sends no requests of its own. A request it does not know gets -32601, bad params -32602.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter

from acp_bridge import __version__
from acp_bridge.faces.lsp.actions import code_actions
from acp_bridge.jsonrpc.messages import INVALID_PARAMS, METHOD_NOT_FOUND
from acp_bridge.jsonrpc.peer import IncomingCall

if TYPE_CHECKING:
    from acp_bridge.faces.lsp.editor import Editor


class _Protocol(LanguageServerProtocol):
    """Answers through our calls instead of a stream."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.calls: dict[str, IncomingCall] = {}

    def _send_response(self, msg_id: Any, result: Any = None, error: Any = None) -> None:
        self._result_types.pop(msg_id, None)
        call = self.calls.pop(msg_id, None)
        if call is None:
            return
        if error is not None:
            call.fail(error.code, error.message, error.data)
        else:
            call.answer(self._converter.unstructure(result))

    def _send_data(self, data: Any) -> None:
        raise AssertionError("pygls sends nothing of its own here")


class Standard:
    """The standard requests of one editor."""

    def __init__(self, editor: Editor) -> None:
        self._server = LanguageServer(
            "acp-bridge", __version__, protocol_cls=_Protocol, converter_factory=default_converter
        )
        self._count = 0

        @self._server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION)
        def _(params: lsp.CodeActionParams) -> list[lsp.CodeAction | lsp.Command]:
            return code_actions(editor, params)

    @property
    def _protocol(self) -> _Protocol:
        protocol = self._server.protocol
        assert isinstance(protocol, _Protocol)
        return protocol

    def request(self, call: IncomingCall) -> None:
        """Answer one request, now or later."""
        protocol = self._protocol
        if call.method not in protocol.fm.features:
            call.fail(METHOD_NOT_FOUND, f"unknown method {call.method!r}")
            return
        self._count += 1
        name = str(self._count)
        message = {
            "jsonrpc": "2.0",
            "id": name,
            "method": call.method,
            "params": json.loads(bytes(call.params)),
        }
        try:
            typed = protocol.structure_message(message)
        except JsonRpcException:
            call.fail(INVALID_PARAMS, f"the params of {call.method} are not those of LSP 3.17")
            return
        protocol.calls[name] = call
        call.on_cancel(lambda: protocol._handle_cancel_notification(name))
        protocol.handle_message(typed)
