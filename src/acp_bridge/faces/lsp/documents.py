"""The open documents of one editor, decoded by us from didOpen, didChange, didSave and didClose.

Implements `host.ports.Documents`. A document is dirty when its text differs from the text last known equal on
disk. Whatever makes no sense is refused whole (`Malformed`) and changes nothing.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_bridge.faces.lsp.positions import Change, Encoding, apply_changes, same_lines
from acp_bridge.faces.lsp.uris import path_of

if TYPE_CHECKING:
    from acp_bridge.faces.lsp.edits import Edits
    from acp_bridge.host.ports import OpenText

Json = dict[str, Any]
READ_LIMIT = 16 * 1024 * 1024


class Malformed(Exception):
    """A notification that makes no sense; says why."""


class Document:
    """One open document. `uri` is the editor's spelling, `saved` the text last known equal on disk."""

    __slots__ = ("_waiters", "language", "path", "saved", "text", "uri", "version")

    def __init__(self, uri: str, path: str | None, language: str, version: int, text: str) -> None:
        self.uri = uri
        self.path = path
        self.language = language
        self.version = version
        self.text = text
        self.saved: str | None = None
        self._waiters: list[asyncio.Future[None]] = []

    @property
    def dirty(self) -> bool:
        """Looks at the disk again before it says yes: the editor may have reloaded the file."""
        if self._equals(self.saved):
            return False
        if self.path is not None and self._equals(on_disk := read_text(self.path)):
            self.saved = on_disk
            return False
        return self.saved is not None or self.text != ""

    def _equals(self, text: str | None) -> bool:
        return text is not None and same_lines(text, self.text)

    def changed(self) -> asyncio.Future[None]:
        """Done at the next change, save or close of this document."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        return waiter

    def wake(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)


class Watcher:
    """Told what happens to documents, after it happened; does nothing unless overridden."""

    def opened(self, document: Document) -> None: ...
    def edited(self, document: Document, before: str, changes: list[Change]) -> None: ...
    def saved(self, document: Document) -> None: ...
    def closed(self, document: Document) -> None: ...


class OpenDocuments:
    """All open documents by URI and by path. `edits` is set once the bridge can ask the editor for edits."""

    def __init__(self, encoding: Encoding) -> None:
        self.encoding = encoding
        self.edits: Edits | None = None
        self.watchers: list[Watcher] = []
        self._by_key: dict[str, Document] = {}

    def notified(self, method: str, params: Any) -> None:
        """Apply one `textDocument/did…` notification. Raises Malformed."""
        handle: Callable[[Any], None] | None = {
            "textDocument/didOpen": self._did_open,
            "textDocument/didChange": self._did_change,
            "textDocument/didSave": self._did_save,
            "textDocument/didClose": self._did_close,
        }.get(method)
        if handle is None:
            return
        try:
            handle(params)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Malformed(f"{method}: {type(error).__name__}: {error}") from error

    def find(self, uri: str) -> Document | None:
        """The open document of that URI, however it is spelt."""
        return self._by_key.get(_key(uri))

    def at(self, path: str) -> Document | None:
        """The open document at that path, directly or through symlinks."""
        found = self._by_key.get(path)
        if found is not None:
            return found
        real = os.path.realpath(path)
        for document in self._by_key.values():
            if document.path is not None and os.path.realpath(document.path) == real:
                return document
        return None

    def get(self, path: str) -> OpenText | None:
        from acp_bridge.host.ports import OpenText

        document = self.at(path)
        return None if document is None else OpenText(document.text, document.version, document.dirty)

    async def replace(self, path: str, expected: str, new_text: str) -> None:
        from acp_bridge.host.errors import HostError

        document = self.at(path)
        if document is None or self.edits is None:
            raise HostError("stale", f"{path} is not open in the editor any more", "read it again")
        if document.text != expected:
            raise HostError("stale", f"{path} changed in the editor meanwhile", "read it again")
        await self.edits.replace(document, new_text)

    async def save(self, path: str) -> bool:
        document = self.at(path)
        return document is not None and self.edits is not None and await self.edits.save(document)

    def _did_open(self, params: Any) -> None:
        item = params["textDocument"]
        uri, text, version = item["uri"], item["text"], item.get("version", 0)
        if not isinstance(uri, str) or not isinstance(text, str):
            raise TypeError("uri and text must be strings")
        path = path_of(uri)
        document = Document(uri, path, str(item.get("languageId", "")), _version(version), text)
        on_disk = read_text(path) if path is not None else None
        document.saved = on_disk if on_disk is not None or path is None or not Path(path).exists() else text
        self._by_key[_key(uri)] = document
        for watcher in self.watchers:
            watcher.opened(document)

    def _did_change(self, params: Any) -> None:
        document = self._known(params)
        before = document.text
        text, changes = apply_changes(before, params["contentChanges"], self.encoding)
        version = params["textDocument"].get("version")
        document.version = _version(version) if version is not None else document.version + 1
        document.text = text
        for watcher in self.watchers:
            watcher.edited(document, before, changes)
        document.wake()

    def _did_save(self, params: Any) -> None:
        document = self._known(params)
        document.saved = document.text
        for watcher in self.watchers:
            watcher.saved(document)
        document.wake()

    def _did_close(self, params: Any) -> None:
        document = self._known(params)
        del self._by_key[_key(document.uri)]
        for watcher in self.watchers:
            watcher.closed(document)
        document.wake()

    def _known(self, params: Any) -> Document:
        uri = params["textDocument"]["uri"]
        document = self.find(uri)
        if document is None:
            raise ValueError(f"{uri} is not open")
        return document


def read_text(path: str) -> str | None:
    """The text of a regular UTF-8 file up to 16 MiB, without its BOM; None for anything else."""
    try:
        state = Path(path).stat()
        if not stat.S_ISREG(state.st_mode) or state.st_size > READ_LIMIT:
            return None
        return Path(path).read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError, ValueError):
        return None


def _key(uri: str) -> str:
    return path_of(uri) or uri


def _version(value: Any) -> int:
    if not isinstance(value, int):
        raise TypeError(f"version is no number: {value!r}")
    return value
