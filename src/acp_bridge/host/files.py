"""fs/read_text_file and fs/write_text_file of one session: the editor's unsaved text first, then the disk.

Guarantees
- A read sees what the user sees: the open document, saved or not.
- A write to an open document is an edit of that document, verified, then saved where the editor serves it.
- A dirty document that the agent has not seen as it is now is never overwritten: the write is refused.
- Outside the session's folders nothing is touched without the user's explicit yes.
- The calls of one session are done one after the other, in the order in which they came.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import Literal

import anyio
import anyio.to_thread

from acp_bridge.agents.events import ReadFile, WriteFile
from acp_bridge.host.disk import DiskError, Shape, line_end, read_text, with_line_ends, write_text
from acp_bridge.host.errors import HostError
from acp_bridge.host.ports import Documents
from acp_bridge.host.roots import Roots
from acp_bridge.jsonrpc.messages import INTERNAL_ERROR, INVALID_PARAMS, NOT_FOUND

AskOutside = Callable[[Literal["read", "edit"], str, str | None], Awaitable[bool]]


class Files:
    """The files of one session. `ask` gets the user's yes for a path outside the roots."""

    def __init__(self, documents: Documents, roots: Roots, ask: AskOutside) -> None:
        self._documents = documents
        self._roots = roots
        self._ask = ask
        self._lock = anyio.Lock()
        self._seen: dict[str, str] = {}

    async def read(self, request: ReadFile) -> None:
        """Answer a read request: the text, or the error that says why not."""
        async with self._lock:
            path = os.path.normpath(request.path)
            if not await self._allowed("read", path, None):
                request.reply.fail(INVALID_PARAMS, outside(path))
                return
            try:
                text = await self._text(path)
            except DiskError as error:
                request.reply.fail(NOT_FOUND if error.missing else INTERNAL_ERROR, error.message)
                return
            self._seen[path] = text
            request.reply.answer(_lines(text, request.line, request.limit))

    async def write(self, request: WriteFile) -> None:
        """Answer a write request once the text is where the user will find it."""
        async with self._lock:
            path = os.path.normpath(request.path)
            if not await self._allowed("edit", path, request.content):
                request.reply.fail(INVALID_PARAMS, outside(path))
                return
            try:
                await self._write(path, request.content)
            except DiskError as error:
                request.reply.fail(INTERNAL_ERROR, error.message)
            except HostError as error:
                request.reply.fail(
                    INTERNAL_ERROR, f"{error.message}; {error.hint}" if error.hint else error.message
                )
            else:
                request.reply.answer(None)

    async def _allowed(self, what: Literal["read", "edit"], path: str, text: str | None) -> bool:
        return self._roots.contains(path) or await self._ask(what, path, text)

    async def _text(self, path: str) -> str:
        document = self._documents.get(path)
        if document is not None:
            return document.text
        text, _ = await anyio.to_thread.run_sync(read_text, path)
        return text

    async def _write(self, path: str, content: str) -> None:
        document = self._documents.get(path)
        if document is None:
            await anyio.to_thread.run_sync(_write_disk, path, content)
            self._seen[path] = content
            return
        if document.dirty and self._seen.get(path) != document.text:
            message = f"{path} has unsaved changes in the editor that the agent has not read"
            raise HostError(
                "stale", message, "read the file again, then write; or save it in the editor first"
            )
        text = with_line_ends(content, line_end(document.text))
        if text != document.text:
            await self._documents.replace(path, document.text, text)
        self._seen[path] = text
        await self._documents.save(path)


def outside(path: str) -> str:
    """What the agent is told of a path it may not touch."""
    return f"{path} is outside the folders of this session, and the user did not allow it"


def _write_disk(path: str, content: str) -> None:
    try:
        _, shape = read_text(path)
    except DiskError as error:
        if not error.missing:
            raise
        shape = Shape()
    write_text(path, with_line_ends(content, shape.newline), shape)


def _lines(text: str, line: int | None, limit: int | None) -> str:
    """`limit` lines from the 1-based `line` on, line ends kept; "" past the end."""
    if line is None and limit is None:
        return text
    lines = [part + "\n" for part in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    start = max(0, (line or 1) - 1)
    end = len(lines) if limit is None else start + max(0, limit)
    return "".join(lines[start:end])
