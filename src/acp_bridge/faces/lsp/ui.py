"""The editor as a `host.ports.Show`: `acp/*` notifications for what it draws, plain LSP for the rest.

Only what `ui` announced is ever sent; without `initializationOptions.acp` nothing under `acp/` is. While the
connection is congested the host holds changes back, merged; `catch_up` sends them before an answer that names
a revision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_bridge.host.session import Session
from acp_bridge.host.thread import Delta
from acp_bridge.jsonrpc.messages import Encoded

if TYPE_CHECKING:
    from acp_bridge.faces.lsp.editor import Editor

Json = dict[str, Any]


class Ui:
    """See `host.ports.Show`."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._draws_thread = editor.features.draws("thread")
        self._draws_permission = editor.features.draws("permission")
        self._draws_elicitation = editor.features.draws("elicitation")
        self._followed: set[str] = set()
        self._catching_up = False

    @property
    def congested(self) -> bool:
        transport = self._editor.connection.transport
        return transport is not None and transport.congested and not self._catching_up

    def follow(self, agent_id: str, follow: bool) -> None:
        """Start or stop `acp/log` for one agent; never for an editor that announced nothing."""
        host = self._editor.host
        if self._editor.features.acp is None:
            return
        host.follow(self, agent_id, follow)
        (self._followed.add if follow else self._followed.discard)(host.runner(agent_id).server.id)

    def catch_up(self) -> None:
        """Send all that has changed, whatever the connection's state."""
        self._catching_up = True
        try:
            self._editor.host.flush()
            self._editor.host.drained(self)
        finally:
            self._catching_up = False

    def thread_changed(self, session: Session, delta: Delta) -> None:
        if self._draws_thread:
            self._editor.peer.notify("acp/thread/changed", Encoded(delta.encoded()))
        self._editor.threads.changed(session)

    def session_changed(self, session: Session) -> None:
        if self._draws_thread:
            self._editor.peer.notify("acp/session/changed", {"session": session.summary()})
        else:
            self._editor.progress.session_changed(session)
        self._editor.threads.changed(session)

    def agent_changed(self, agent: Json) -> None:
        if self._draws_thread:
            self._editor.peer.notify("acp/agent/changed", {"agent": agent})

    def permission_requested(self, session: Session, request: Json) -> None:
        if self._draws_permission:
            self._editor.peer.notify("acp/permission/requested", {"request": request})
        else:
            self._editor.permissions.add(session, request)

    def permission_resolved(self, session: Session, request_id: str, outcome: Json, by: str) -> None:
        if self._draws_permission:
            params = {"requestId": request_id, "outcome": outcome, "by": by}
            self._editor.peer.notify("acp/permission/resolved", params)
        else:
            self._editor.permissions.resolved(request_id)

    def elicitation_requested(self, session: Session | None, request: Json) -> None:
        if self._draws_elicitation:
            self._editor.peer.notify("acp/elicitation/requested", {"request": request})

    def elicitation_resolved(self, request_id: str, action: str, by: str) -> None:
        if self._draws_elicitation:
            params = {"requestId": request_id, "action": action, "by": by}
            self._editor.peer.notify("acp/elicitation/resolved", params)

    def progress(self, session: Session, percent: float | None, message: str | None) -> None:
        if not self._draws_thread:
            self._editor.progress.report(session, percent, message)

    def log(self, agent_id: str, stream: str, text: str) -> None:
        if agent_id in self._followed:
            params = {"agent": agent_id, "direction": stream, "message": text}
            self._editor.peer.notify("acp/log", params)
