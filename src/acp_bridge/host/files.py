"""fs/read_text_file and fs/write_text_file of one session: the editor's unsaved text first, then the disk.

Guarantees
- A read sees what the user sees: the open document, saved or not.
- A write to an open document is an edit of that document, verified, then saved where the editor serves it.
- A dirty document that the agent has not seen as it is now is never overwritten: the write is refused.
- Outside the session's folders nothing is touched without the user's explicit yes; what is touched is what
  was judged: a link that comes into the path after that is not followed.
- The calls of one session are done one after the other, in the order in which they came, and none before the
  agent has room for its answer: one that asks and does not read costs bounded memory.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import anyio
import anyio.to_thread

from acp_bridge.agents.events import ReadFile, WriteFile
from acp_bridge.host.disk import DiskError, Shape, line_end, read_text, with_line_ends, write_text
from acp_bridge.host.errors import HostError
from acp_bridge.host.ports import Documents
from acp_bridge.host.roots import Roots
from acp_bridge.jsonrpc.messages import INTERNAL_ERROR, INVALID_PARAMS, NOT_FOUND

AskOutside = Callable[[Literal["read", "edit"], str, str, str | None], Awaitable[bool]]
"""What is wanted, the path, where it really leads, the text to write."""


class Files:
    """The files of one session. `asker` is called when a request arrives, perhaps long before its turn comes;
    what it gives gets the user's yes for a path outside the roots. `room` waits until the agent can take an
    answer."""

    def __init__(
        self,
        documents: Documents,
        roots: Roots,
        asker: Callable[[], AskOutside],
        room: Callable[[], Awaitable[None]],
    ) -> None:
        self._documents = documents
        self._roots = roots
        self._asker = asker
        self._room = room
        self._lock = anyio.Lock()
        self._seen: dict[str, bytes] = {}

    async def read(self, request: ReadFile) -> None:
        """Answer a read request: the text, or the error that says why not."""

        async def done(place: _Place) -> str:
            text = await self._text(place)
            lines = _lines(text, request.line, request.limit)
            if lines == text:
                self._seen[place.real] = _digest(text)
            return lines

        await self._serve(request, "read", None, done)

    async def write(self, request: WriteFile) -> None:
        """Answer a write request once the text is where the user will find it."""
        await self._serve(request, "edit", request.content, lambda place: self._write(place, request.content))

    async def _serve(
        self,
        request: ReadFile | WriteFile,
        what: Literal["read", "edit"],
        content: str | None,
        done: Callable[[_Place], Awaitable[str | None]],
    ) -> None:
        reply, ask = request.reply, self._asker()
        async with self._lock:
            await self._room()
            place = _place(request.path)
            if place is None:
                reply.fail(INVALID_PARAMS, f"{request.path!r} is no absolute path of a file")
                return
            inside = self._roots.holds(place.real)
            if not inside and not await ask(what, place.path, place.real, content):
                reply.fail(INVALID_PARAMS, outside(place.path))
                return
            try:
                answer = await done(place)
            except DiskError as error:
                reply.fail(NOT_FOUND if error.missing else INTERNAL_ERROR, error.message)
            except HostError as error:
                message = f"{error.message}; {error.hint}" if error.hint else error.message
                reply.fail(INTERNAL_ERROR, message)
            else:
                reply.answer(answer)

    async def _text(self, place: _Place) -> str:
        document = self._documents.get(place.path)
        if document is not None:
            return document.text
        text, _ = await anyio.to_thread.run_sync(partial(read_text, place.real, exact=True))
        return text

    async def _write(self, place: _Place, content: str) -> None:
        path = place.path
        document = self._documents.get(path)
        if document is None:
            await anyio.to_thread.run_sync(_write_disk, place.real, content)
            self._seen[place.real] = _digest(content)
            return
        if document.dirty and self._seen.get(place.real) != _digest(document.text):
            message = f"{path} has unsaved changes in the editor that the agent has not read"
            raise HostError(
                "stale", message, "read the whole file again, then write; or save it in the editor first"
            )
        text = with_line_ends(content, line_end(document.text))
        if text != document.text:
            await self._documents.replace(path, document.text, text)
        self._seen[place.real] = _digest(text)
        await self._documents.save(path)


@dataclass(frozen=True, slots=True)
class _Place:
    """A path as the agent gave it, and where it really leads."""

    path: str
    real: str


def _place(path: str) -> _Place | None:
    """None for what names no place on a disk: relative, with a NUL, not encodable."""
    if not os.path.isabs(path):
        return None
    normal = os.path.normpath(path)
    try:
        return _Place(normal, os.path.realpath(normal))
    except ValueError:
        return None


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def outside(path: str) -> str:
    """What the agent is told of a path it may not touch."""
    return f"{path} is outside the folders of this session, and the user did not allow it"


def _write_disk(path: str, content: str) -> None:
    try:
        _, shape = read_text(path, exact=True)
    except DiskError as error:
        if not error.missing:
            raise
        shape = Shape()
    write_text(path, with_line_ends(content, shape.newline), shape, exact=True)


def _lines(text: str, line: int | None, limit: int | None) -> str:
    """`limit` lines from the 1-based `line` on, line ends kept; "" past the end."""
    if line is None and limit is None:
        return text
    lines = [part + "\n" for part in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    start = max(0, (line or 1) - 1)
    end = len(lines) if limit is None else start + max(0, limit)
    return "".join(lines[start:end])
