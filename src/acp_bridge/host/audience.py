"""Everyone a host shows itself to: hands out what changed, and pauses an agent that nobody keeps up with.

Guarantees
- A session of which nobody knows yet, or any more, is not spoken of.
- `flush` shows each UI what changed, in order; it is called at the end of each read from an agent and once
  after any other change.
- An agent is paused only while no attached UI keeps up, and never for a session that is closed.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from acp_bridge.host.attached import Attached
from acp_bridge.host.ports import Show

if TYPE_CHECKING:
    from acp_bridge.host.host import Host
    from acp_bridge.host.runner import Runner
    from acp_bridge.host.session import Session

Json = dict[str, Any]

PAUSE_ABOVE = 8 * 1024 * 1024
"""Bytes of a session that may wait for every UI before its agent is paused."""


class Audience:
    """The attached UIs of one host."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._attached: dict[int, Attached] = {}
        self._dirty: dict[str, Session] = {}
        self._flush_scheduled = False

    def attach(self, ui: Show) -> None:
        """See Host.attach."""
        self.detach(ui)
        self._attached[id(ui)] = Attached(ui, self._host.sessions.values())
        self.relieve()

    def detach(self, ui: Show) -> None:
        """Nothing is told to `ui` any more."""
        attached = self._attached.pop(id(ui), None)
        if attached is not None:
            attached.detach(self._host.sessions.values())
        self.relieve()

    def watch(self, session: Session) -> None:
        """A session was made: its changes are told from now on, once it is published."""
        for attached in self._attached.values():
            attached.watch(session)

    def forget(self, session: Session) -> None:
        """A session is closed."""
        for attached in self._attached.values():
            attached.forget(session)
        self._dirty.pop(session.id, None)
        self.relieve()

    def drained(self, ui: Show) -> None:
        """See Host.drained."""
        attached = self._attached.get(id(ui))
        if attached is not None:
            attached.drain(list(self._host.sessions.values()))
        self.relieve()

    def flush(self) -> None:
        """Show what changed since the last flush."""
        while self._dirty:
            _, session = self._dirty.popitem()
            for attached in self._attached.values():
                attached.flush(session)
            self._check_pressure(session)

    def _check_pressure(self, session: Session) -> None:
        waits = [attached.pending(session) for attached in self._attached.values()]
        if waits and min(waits) > PAUSE_ABOVE:
            session.runner.pause()

    def relieve(self) -> None:
        """Let the agents go on that somebody keeps up with again."""
        for runner in self._host.runners():
            if not runner.paused:
                continue
            behind = (
                min((attached.pending(session) for attached in self._attached.values()), default=0)
                for session in self._host.of_runner(runner)
            )
            if all(pending <= PAUSE_ABOVE for pending in behind):
                runner.resume()

    def touched(self, session: Session) -> None:
        """Its thread may have changed; the flush at the end of this read looks at it."""
        self._dirty[session.id] = session

    def session_changed(self, session: Session) -> None:
        """Something of its summary changed: the flush that follows tells it."""
        if not session.published or session.id not in self._host.sessions:
            return
        for attached in self._attached.values():
            attached.session_changed(session)
        self._dirty[session.id] = session
        if not self._flush_scheduled:
            self._flush_scheduled = True
            asyncio.get_running_loop().call_soon(self._flush_soon)

    def _flush_soon(self) -> None:
        self._flush_scheduled = False
        self.flush()

    def permission_requested(self, session: Session, request: Json) -> None:
        """Tell at once, after the change of the thread that belongs to it."""
        if not session.published:
            return
        self.flush()
        for attached in self._attached.values():
            attached.tell(attached.ui.permission_requested, session, request)

    def permission_resolved(self, session: Session, request_id: str, outcome: Json, by: str) -> None:
        """Tell at once that nobody need answer any more."""
        if not session.published:
            return
        for attached in self._attached.values():
            attached.tell(attached.ui.permission_resolved, session, request_id, outcome, by)

    def agent_changed(self, runner: Runner) -> None:
        """Tell how an agent is now."""
        for attached in self._attached.values():
            attached.tell_agent(runner.server.id, runner.summary)

    def progress(self, session: Session, percent: float | None, message: str | None) -> None:
        """Tell whoever has room for it."""
        if not session.published:
            return
        for attached in self._attached.values():
            attached.tell_if_ready(attached.ui.progress, session, percent, message)

    def log(self, agent_id: str, stream: str, text: str) -> None:
        """Tell whoever has room for it."""
        for attached in self._attached.values():
            attached.tell_if_ready(attached.ui.log, agent_id, stream, text)
