"""What the raw test client knows of the wire: frame headers, error answers, usual capabilities."""

from __future__ import annotations

import asyncio
import json
from typing import Any

Json = dict[str, Any]


class LspError(Exception):
    """An error answer: `code`, `message`, `data`."""

    def __init__(self, error: Json) -> None:
        super().__init__(json.dumps(error, ensure_ascii=False)[:2000])
        self.code: int = error.get("code", 0)
        self.message: str = error.get("message", "")
        self.data: Json = error.get("data") or {}

    @property
    def kind(self) -> str:
        return str(self.data.get("kind", ""))


class ProtocolBroken(Exception):
    """The server wrote something to stdout that is no frame."""


class ServerGone(Exception):
    """The server's stdout ended while somebody waited."""


async def body_length(stream: asyncio.StreamReader) -> int | None:
    """The body length of the next frame, None at a clean end of the stream."""
    length: int | None = None
    while True:
        line = await stream.readline()
        if not line and length is None:
            return None
        if line == b"\r\n" and length is not None:
            return length
        name, colon, value = line.partition(b":")
        if (
            not colon
            or name.lower() not in (b"content-length", b"content-type")
            or not line.endswith(b"\r\n")
        ):
            raise ProtocolBroken(f"not a frame header on stdout: {line[:200]!r}")
        if name.lower() == b"content-length":
            length = int(value)


DEFAULT_CAPABILITIES: Json = {
    "general": {"positionEncodings": ["utf-16"]},
    "workspace": {
        "applyEdit": True,
        "workspaceEdit": {"documentChanges": True},
        "configuration": True,
        "workspaceFolders": True,
    },
    "textDocument": {"synchronization": {"didSave": True, "dynamicRegistration": True}},
    "window": {
        "workDoneProgress": True,
        "showDocument": {"support": True},
        "showMessage": {"messageActionItem": {"additionalPropertiesSupport": True}},
    },
}
