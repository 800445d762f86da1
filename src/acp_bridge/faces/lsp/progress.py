"""`$/progress` for each turn, with cancel, in editors that draw no thread themselves (LSP 3.15)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from acp_bridge.host.session import Session
from acp_bridge.jsonrpc.messages import Answer

if TYPE_CHECKING:
    from acp_bridge.faces.lsp.editor import Editor


@dataclass(slots=True)
class _Turn:
    session: Session
    turn_id: str
    token: str
    begun: bool = False
    ended: bool = False
    message: str | None = None


class TurnProgress:
    """One token a running turn. Nothing is sent under a token that the editor did not accept."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._turns: dict[str, _Turn] = {}

    def session_changed(self, session: Session) -> None:
        """Begin, go on or end, as the session's state says."""
        if not self._editor.features.progress:
            return
        running = session.turns.running
        turn = self._turns.get(session.id)
        if turn is not None and (running is None or running.id != turn.turn_id):
            self._end(turn)
            turn = None
        if running is None:
            return
        if turn is None:
            turn = self._turns[session.id] = _Turn(session, running.id, f"acp-bridge/{running.id}")
            params = {"token": turn.token}
            self._editor.peer.request("window/workDoneProgress/create", params, partial(self._created, turn))
        message = {"requires_action": "waits for your permission", "cancelling": "cancelling"}
        self._report(turn, message.get(session.state, "working"))

    def report(self, session: Session, percent: float | None, message: str | None) -> None:
        """What the agent itself says of its progress."""
        turn = self._turns.get(session.id)
        if turn is not None and turn.begun and not self._editor.ui.congested:
            value: dict[str, Any] = {"kind": "report"}
            if message:
                value["message"] = message
            if percent is not None:
                value["percentage"] = max(0, min(100, round(percent)))
            self._send(turn, value)

    def cancelled(self, token: Any) -> None:
        """The user pressed cancel on a token."""
        for turn in list(self._turns.values()):
            if turn.token == token:
                turn.session.cancel(turn.turn_id)

    def _created(self, turn: _Turn, answer: Answer) -> None:
        if answer.error is not None or turn.ended:
            return
        turn.begun = True
        session = turn.session
        title = f"{session.agent_id}: {session.title}" if session.title else session.agent_id
        value = {"kind": "begin", "title": title, "cancellable": True, "message": turn.message or "working"}
        self._send(turn, value)

    def _report(self, turn: _Turn, message: str) -> None:
        if message == turn.message:
            return
        turn.message = message
        if turn.begun:
            self._send(turn, {"kind": "report", "message": message, "cancellable": message != "cancelling"})

    def _end(self, turn: _Turn) -> None:
        del self._turns[turn.session.id]
        turn.ended = True
        if turn.begun:
            self._send(turn, {"kind": "end", "message": "done"})

    def _send(self, turn: _Turn, value: dict[str, Any]) -> None:
        self._editor.peer.notify("$/progress", {"token": turn.token, "value": value})
