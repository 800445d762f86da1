"""What the host needs from whoever shows it: `Documents` and `Show`, implemented by a face.

Everything in `Show` is synchronous, on the event loop, never blocks, and must not call back into the host
before it returns. JSON values are those of docs/editor-protocol.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from acp_bridge.host.session import Session
    from acp_bridge.host.thread import Delta

Json = dict[str, Any]


@dataclass(slots=True)
class OpenText:
    """An open document as the editor has it, line ends as typed; `dirty` when it differs from the text last
    known equal on disk."""

    text: str
    version: int
    dirty: bool


class Documents(Protocol):
    """The open documents of the face that opened a session. Paths are absolute."""

    def get(self, path: str) -> OpenText | None:
        """The open document at `path`, None if it is not open."""
        ...

    async def replace(self, path: str, expected: str, new_text: str) -> None:
        """Turn the open document from `expected` into `new_text` by a versioned edit that keeps undo, and
        return once the editor's own didChange has shown it. Raises HostError("stale") if the document is
        not `expected` any more or the editor did not do it."""
        ...

    async def save(self, path: str) -> bool:
        """Ask the editor to save; False where it does not serve that."""
        ...


class NoDocuments:
    """Documents of a face that has no editor: nothing is open."""

    def get(self, path: str) -> OpenText | None:
        return None

    async def replace(self, path: str, expected: str, new_text: str) -> None:
        raise AssertionError("no document is open")

    async def save(self, path: str) -> bool:
        return False


class Show(Protocol):
    """One attached UI. What it does not draw it ignores."""

    @property
    def congested(self) -> bool:
        """True while its connection takes no more; the host then holds thread changes back, merged, until
        the face calls `Host.drained(ui)`."""
        ...

    def thread_changed(self, session: Session, delta: Delta) -> None:
        """`delta.message()` is the whole `acp/thread/changed` params as a dict; a delta is valid only
        during this call."""
        ...

    def session_changed(self, session: Session) -> None:
        """Something of `session.summary()` changed."""
        ...

    def agent_changed(self, agent: Json) -> None: ...
    def permission_requested(self, session: Session, request: Json) -> None: ...
    def permission_resolved(self, session: Session, request_id: str, outcome: Json, by: str) -> None: ...
    def elicitation_requested(self, session: Session | None, request: Json) -> None: ...
    def elicitation_resolved(self, request_id: str, action: str, by: str) -> None: ...
    def progress(self, session: Session, percent: float | None, message: str | None) -> None: ...
    def log(self, agent_id: str, stream: str, text: str) -> None:
        """One line of an agent, secrets masked: stream is stderr, noise or log; in or out (a message from or
        to it, the first 64 KiB) only where `Host.follow` asked for them."""
        ...
