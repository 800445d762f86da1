"""The handshake: what a client can do, as `Features`, and the answer to `initialize`, from static data.

Imports nothing heavy: the answer leaves before anything else of the bridge is loaded. Whatever a client
leaves out or misshapes counts as "cannot".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from acp_bridge import __version__
from acp_bridge.faces.lsp.positions import Encoding
from acp_bridge.faces.lsp.uris import path_of

Json = dict[str, Any]

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")

COMMANDS = (
    "acpBridge.ask",
    "acpBridge.newThread",
    "acpBridge.openThread",
    "acpBridge.send",
    "acpBridge.cancel",
    "acpBridge.permission.answer",
    "acpBridge.elicitation.answer",
    "acpBridge.authenticate",
    "acpBridge.session.open",
    "acpBridge.session.list",
    "acpBridge.config.set",
    "acpBridge.queue",
    "acpBridge.review.accept",
    "acpBridge.review.reject",
    "acpBridge.review.acceptAll",
    "acpBridge.review.rejectAll",
    "acpBridge.checkpoint.list",
    "acpBridge.checkpoint.restore",
    "acpBridge.agent.select",
)


@dataclass(slots=True)
class Features:
    """One client, as far as the bridge cares. `folders` are paths; `acp` is `initializationOptions.acp`."""

    name: str | None = None
    encoding: Encoding = "utf-16"
    folders: list[str] = field(default_factory=list)
    process_id: int | None = None
    apply_edit: bool = False
    document_changes: bool = False
    show_document: bool = False
    progress: bool = False
    action_literals: bool = False
    acp: Json | None = None

    def draws(self, what: str) -> bool:
        """Whether the editor draws or serves `what` (a key of `ui`) itself."""
        ui = self.acp.get("ui") if self.acp is not None else None
        return isinstance(ui, dict) and ui.get(what) is True


def dig(value: Any, *keys: str) -> Any:
    """`value[key]…` where every step is an object, else None."""
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def features_of(params: Any) -> Features:
    """Read InitializeParams (LSP 3.17)."""
    capabilities = dig(params, "capabilities")
    name = dig(params, "clientInfo", "name")
    process_id = dig(params, "processId")
    acp = dig(params, "initializationOptions", "acp")
    return Features(
        name=name if isinstance(name, str) else None,
        encoding=_encoding(dig(capabilities, "general", "positionEncodings")),
        folders=_folders(params),
        process_id=process_id if isinstance(process_id, int) and process_id > 0 else None,
        apply_edit=dig(capabilities, "workspace", "applyEdit") is True,
        document_changes=dig(capabilities, "workspace", "workspaceEdit", "documentChanges") is True,
        show_document=dig(capabilities, "window", "showDocument", "support") is True,
        progress=dig(capabilities, "window", "workDoneProgress") is True,
        action_literals=isinstance(
            dig(capabilities, "textDocument", "codeAction", "codeActionLiteralSupport"), dict
        ),
        acp=acp if isinstance(acp, dict) else None,
    )


def folder_paths(folders: Any) -> list[str]:
    """The paths of WorkspaceFolder objects; those without a file URI are left out."""
    if not isinstance(folders, list):
        return []
    paths = [path_of(uri) for folder in folders if isinstance(uri := dig(folder, "uri"), str)]
    return [path for path in paths if path is not None]


def answer(features: Features) -> Json:
    """InitializeResult: static capabilities in the encoding chosen."""
    return {
        "capabilities": {
            "positionEncoding": features.encoding,
            "textDocumentSync": {"openClose": True, "change": 2, "save": {"includeText": False}},
            "codeActionProvider": _code_actions(features),
            "executeCommandProvider": {"commands": list(COMMANDS)},
            "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}},
            "experimental": {"acp": {"version": 1}},
        },
        "serverInfo": {"name": "acp-bridge", "version": __version__},
    }


def _code_actions(features: Features) -> bool | Json:
    if not features.action_literals:
        return True
    return {"codeActionKinds": ["quickfix", "refactor"]}


def _encoding(offered: Any) -> Encoding:
    if isinstance(offered, list):
        for word in offered:
            for encoding in ENCODINGS:
                if word == encoding:
                    return encoding
    return "utf-16"


def _folders(params: Any) -> list[str]:
    folders = folder_paths(dig(params, "workspaceFolders"))
    if folders:
        return folders
    root = dig(params, "rootUri")
    if isinstance(root, str) and (path := path_of(root)) is not None:
        return [path]
    root_path = dig(params, "rootPath")
    return [root_path] if isinstance(root_path, str) and root_path else []
