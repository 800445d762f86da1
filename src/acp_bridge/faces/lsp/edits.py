"""Edits of open documents, asked of the editor and verified: an edit counts when its own didChange shows it.

Editors refuse a stale version, or skip it and still answer `applied: true`, or ask the user first; so the
answer alone proves nothing, and waiting for it is generous.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Protocol

from acp_bridge.faces.lsp.positions import Change, minimal_change, range_of, same_lines
from acp_bridge.host.errors import HostError
from acp_bridge.jsonrpc.messages import ConnectionClosed, RpcError

if TYPE_CHECKING:
    from acp_bridge.faces.lsp.documents import Document
    from acp_bridge.faces.lsp.initialize import Features

ANSWER_SECONDS = 300.0
SETTLE_SECONDS = 5.0
ANCHOR = 64


class Caller(Protocol):
    """The part of a peer that asks."""

    async def call(self, method: str, params: Any) -> Any: ...


class Edits:
    """Asks one editor for edits and saves; one edit a document at a time."""

    def __init__(self, peer: Caller, features: Features) -> None:
        self._peer = peer
        self._features = features
        self._locks: dict[str, asyncio.Lock] = {}

    async def replace(self, document: Document, new_text: str) -> None:
        """Turn the document as it stands into `new_text`. Raises HostError("stale") if that did not happen,
        HostError("unsupported") where the editor applies no edits."""
        if document.text == new_text:
            return
        reason = await self.apply(document, minimal_change(document.text, new_text), "edit by the agent")
        if reason is not None and not same_lines(document.text, new_text):
            message = f"the editor did not take the edit of {document.path or document.uri}: {reason}"
            raise HostError("stale", message, "read the file again and repeat the edit")

    async def apply(self, document: Document, change: Change, label: str | None = None) -> str | None:
        """Apply one change to the text as it stands; returns None once it is seen, else why it was not. A
        label is for changes a person may want to name or undo: some editors print it each time."""
        if not self._features.apply_edit:
            message = "this editor applies no edits (workspace.applyEdit)"
            raise HostError("unsupported", message, "close the file, so that it is written on disk")
        before = document.text
        async with self._locks.setdefault(document.uri, asyncio.Lock()):
            if document.text != before:
                return "the text changed meanwhile"
            asked = asyncio.ensure_future(self._ask(document, change, label))
            try:
                reason = await _until_seen(document, before, change, asked)
                await asyncio.wait([asked], timeout=SETTLE_SECONDS)
                return reason
            finally:
                asked.cancel()

    async def save(self, document: Document) -> bool:
        """Ask the editor to save, where it serves that; False where it does not or did not."""
        if not self._features.draws("save"):
            return False
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                answer = await self._peer.call("acp/document/save", {"uri": document.uri})
        except (RpcError, ConnectionClosed, TimeoutError):
            return False
        return isinstance(answer, dict) and answer.get("ok") is True

    async def _ask(self, document: Document, change: Change, label: str | None) -> str | None:
        """Why the editor says it did not apply; None if it says it did."""
        change = inside(document.text, change)
        edit = {
            "range": range_of(document.text, change.start, change.end, self._features.encoding),
            "newText": change.text,
        }
        if self._features.document_changes:
            identifier = {"uri": document.uri, "version": document.version}
            workspace_edit: dict[str, Any] = {
                "documentChanges": [{"textDocument": identifier, "edits": [edit]}]
            }
        else:
            workspace_edit = {"changes": {document.uri: [edit]}}
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                params = (
                    {"edit": workspace_edit} if label is None else {"label": label, "edit": workspace_edit}
                )
                answer = await self._peer.call("workspace/applyEdit", params)
        except (RpcError, ConnectionClosed) as error:
            return str(error)
        except TimeoutError:
            return f"no answer in {ANSWER_SECONDS:.0f} s"
        if isinstance(answer, dict) and answer.get("applied") is True:
            return None
        reason = answer.get("failureReason") if isinstance(answer, dict) else None
        return str(reason or "it refused")


def inside(before: str, change: Change) -> Change:
    """The same edit, but text added behind the last line end goes before it: for editors without a line
    there, an insertion at that place leaves an empty line behind."""
    if change.start < len(before):
        return change
    line_end = next((end for end in ("\r\n", "\n", "\r") if before.endswith(end)), "")
    if not line_end or not change.text.endswith(line_end):
        return change
    at = len(before) - len(line_end)
    return Change(at, at, line_end + change.text.removesuffix(line_end))


async def _until_seen(
    document: Document, before: str, change: Change, asked: asyncio.Future[str | None]
) -> str | None:
    deadline: float | None = None
    loop = asyncio.get_running_loop()
    while not landed(before, change, document.text):
        if asked.done() and deadline is None:
            refused = asked.result()
            if refused is not None:
                return refused
            if document.text != before:
                return "it says applied, but the text shows something else"
            deadline = loop.time() + SETTLE_SECONDS
        left = None if deadline is None else deadline - loop.time()
        if left is not None and left <= 0:
            return "it says applied, but the text did not change"
        changed = document.changed()
        waiting: list[asyncio.Future[Any]] = [changed] if asked.done() else [changed, asked]
        await asyncio.wait(waiting, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        if deadline is not None and changed.done() and not landed(before, change, document.text):
            return "it says applied, but the text shows something else"
    return None


def landed(before: str, change: Change, now: str) -> bool:
    """Whether `now` holds the change, perhaps with something the user typed before or behind it. What was
    only taken away shows by what follows it."""
    expected = change.apply(before)
    if same_lines(expected, now) and not same_lines(before, now):
        return True
    anchor = 0 if change.text else ANCHOR
    head = expected[: change.start + len(change.text) + anchor]
    tail = expected[max(0, change.start - anchor) :]
    return (now.startswith(head) and not before.startswith(head)) or (
        now.endswith(tail) and not before.endswith(tail)
    )
