"""An editor on pytest-lsp: capabilities of a real one, open documents that take edits, answers as data.

`client.acp` records every `acp/*` notification as plain JSON, `client.asked` every window/showMessageRequest.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Union

from lsprotocol import types as lsp
from pygls.protocol import JsonRPCNotification, JsonRPCResponseMessage, default_converter
from pytest_lsp import LanguageClient, client_capabilities
from pytest_lsp.client import register_lsp_features

from support.editor_documents import EditorDocuments

Json = dict[str, Any]
COMMAND = [sys.executable, "-m", "acp_bridge", "lsp"]
TIMEOUT = 60.0
NOWHERE = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))


class EditorClient(LanguageClient):
    """See the module. `answer` chooses the title for a message request (None: the user closes it)."""

    def __init__(self) -> None:
        super().__init__(converter_factory=_converter)
        self.acp: list[tuple[str, Json]] = []
        self.asked: list[lsp.ShowMessageRequestParams] = []
        self.answer: Callable[[list[str]], str | None] = lambda titles: None
        self.documents = EditorDocuments(self._notify)
        self._news = asyncio.Event()
        register_lsp_features(self)
        self.feature(lsp.WORKSPACE_APPLY_EDIT)(lambda params: self._apply(params))
        self.feature(lsp.WINDOW_SHOW_MESSAGE_REQUEST)(lambda params: self._ask(params))
        for method in ("acp/thread/changed", "acp/session/changed", "acp/agent/changed"):
            self._record(method)
        for method in ("acp/permission/requested", "acp/permission/resolved"):
            self._record(method)

    async def start(self, root: Path, editor: str, **options: Any) -> lsp.InitializeResult:
        """Shake hands as `editor` (a client of pytest-lsp), in UTF-16, with code action literals."""
        capabilities = client_capabilities(editor)
        capabilities.general = lsp.GeneralClientCapabilities(position_encodings=["utf-16"])
        uri = root.as_uri()
        return await self.initialize_session(
            lsp.InitializeParams(
                capabilities=capabilities,
                client_info=lsp.ClientInfo(name=editor),
                root_uri=uri,
                workspace_folders=[lsp.WorkspaceFolder(uri=uri, name=root.name)],
                **options,
            )
        )

    async def command(self, name: str, **argument: Any) -> Any:
        """workspace/executeCommand with one object; the result as plain JSON."""
        params = lsp.ExecuteCommandParams(command=f"acpBridge.{name}", arguments=[argument])
        return await asyncio.wait_for(self.workspace_execute_command_async(params), TIMEOUT)

    async def actions(self, uri: str, **context: Any) -> list[lsp.CodeAction]:
        """The code actions of a file, invoked by the user."""
        params = lsp.CodeActionParams(
            text_document=lsp.TextDocumentIdentifier(uri),
            range=NOWHERE,
            context=lsp.CodeActionContext(diagnostics=[], **context),
        )
        found = await asyncio.wait_for(self.text_document_code_action_async(params), TIMEOUT)
        return [action for action in found or [] if isinstance(action, lsp.CodeAction)]

    async def run(self, action: lsp.CodeAction) -> Any:
        """Do what an action does."""
        assert action.command is not None
        command, arguments = action.command.command, action.command.arguments
        return await self.workspace_execute_command_async(lsp.ExecuteCommandParams(command, arguments))

    async def until(self, what: Callable[[], Any]) -> Any:
        """Wait until `what()` is true; looked at whenever something arrives."""

        async def wait() -> Any:
            while not (value := what()):
                self._news.clear()
                await self._news.wait()
            return value

        return await asyncio.wait_for(wait(), TIMEOUT)

    def news(self) -> None:
        self._news.set()

    def _notify(self, method: str, params: Any) -> None:
        shape: Any = lsp.METHOD_TO_TYPES[method][2]
        self.protocol.notify(method, self.protocol._converter.structure(params, shape))

    def _apply(self, params: lsp.ApplyWorkspaceEditParams) -> lsp.ApplyWorkspaceEditResult:
        result = self.documents.apply(self.protocol._converter.unstructure(params))
        self.news()
        return lsp.ApplyWorkspaceEditResult(
            applied=result["applied"], failure_reason=result.get("failureReason")
        )

    def _ask(self, params: lsp.ShowMessageRequestParams) -> lsp.MessageActionItem | None:
        self.asked.append(params)
        self.news()
        title = self.answer([action.title for action in params.actions or []])
        return None if title is None else lsp.MessageActionItem(title)

    def _record(self, method: str) -> None:
        def record(params: Any) -> None:
            self.acp.append((method, params))
            self.news()

        self.feature(method)(record)


def _converter() -> Any:
    """pygls's own, but custom payloads stay plain JSON, and an action with a command is no command."""
    converter: Any = default_converter()  # type: ignore[no-untyped-call]

    def action(value: Json, _: Any) -> Any:
        shape = lsp.Command if isinstance(value.get("command"), str) else lsp.CodeAction
        return converter.structure(value, shape)

    converter.register_structure_hook(
        JsonRPCNotification, lambda o, _: JsonRPCNotification(o["method"], o["jsonrpc"], o.get("params"))
    )
    converter.register_structure_hook(
        JsonRPCResponseMessage, lambda o, _: JsonRPCResponseMessage(o["id"], o["jsonrpc"], o.get("result"))
    )
    converter.register_structure_hook(Union[lsp.Command, lsp.CodeAction], action)  # noqa: UP007
    return converter
