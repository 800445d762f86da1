"""What one attached UI has been told and still has to be told.

Guarantees
- Per session, changes of the thread leave before anything that follows from them.
- A UI whose connection is full gets nothing more; at `drain` it gets one merged change a session, then what
  else happened, in order. Nothing is lost and nothing is copied while it waits, but progress and log lines.
- A UI that raises harms nobody: not the agent's read, not the other UIs. What it was told counts as told.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from acp_bridge.host.ports import Show
from acp_bridge.host.thread import Delta

if TYPE_CHECKING:
    from acp_bridge.host.session import Session

Json = dict[str, Any]
log = logging.getLogger(__name__)


class Attached:
    """The host's side of one UI."""

    def __init__(self, ui: Show, sessions: Iterable[Session]) -> None:
        self.ui = ui
        self._agents: dict[str, Callable[[], Json]] = {}
        self._deltas: dict[str, Delta] = {}
        self._summaries: dict[str, Session] = {}
        self._backlog: deque[Callable[[], None]] = deque()
        for session in sessions:
            self.watch(session)

    def watch(self, session: Session) -> None:
        """From now on the changes of this session are told."""
        self.forget(session)
        self._deltas[session.id] = session.thread.watch()

    def forget(self, session: Session) -> None:
        delta = self._deltas.pop(session.id, None)
        if delta is not None:
            session.thread.unwatch(delta)
        self._summaries.pop(session.id, None)

    def detach(self, sessions: Iterable[Session]) -> None:
        for session in sessions:
            self.forget(session)

    def pending(self, session: Session) -> int:
        """About how many bytes of this session wait for this UI."""
        delta = self._deltas.get(session.id)
        return delta.pending if delta is not None else 0

    def session_changed(self, session: Session) -> None:
        self._summaries[session.id] = session

    def flush(self, session: Session) -> None:
        """Tell what changed in one session, unless the connection is full."""
        delta = self._deltas.get(session.id)
        if delta and not self.ui.congested:
            self._call(self.ui.thread_changed, session, delta)
            delta.reset()
        if session.id in self._summaries and not self._held(session):
            del self._summaries[session.id]
            self._call(self.ui.session_changed, session)

    def tell(self, method: Callable[..., None], *args: Any) -> None:
        """Call a method of the UI now, or after what waits if the connection is full."""
        if self._backlog or self.ui.congested:
            self._backlog.append(partial(method, *args))
        else:
            self._call(method, *args)

    def tell_agent(self, agent_id: str, summary: Callable[[], Json]) -> None:
        """Tell how an agent is; while the connection is full only its last state waits."""
        if self.ui.congested:
            self._agents[agent_id] = summary
        else:
            self._agents.pop(agent_id, None)
            self._call(self.ui.agent_changed, summary())

    def tell_if_ready(self, method: Callable[..., None], *args: Any) -> None:
        """Call a method of the UI with what nobody misses; dropped if the connection is full."""
        if not self.ui.congested:
            self._call(method, *args)

    def drain(self, sessions: Iterable[Session]) -> None:
        """The connection takes more again."""
        for session in sessions:
            self.flush(session)
        while self._agents and not self.ui.congested:
            agent_id = next(iter(self._agents))
            self._call(self.ui.agent_changed, self._agents.pop(agent_id)())
        while self._backlog and not self.ui.congested:
            self._call(self._backlog.popleft())

    def _call(self, method: Callable[..., None], *args: Any) -> None:
        try:
            method(*args)
        except Exception:
            log.exception("a UI failed")

    def _held(self, session: Session) -> bool:
        return self.ui.congested or bool(self._deltas.get(session.id))
