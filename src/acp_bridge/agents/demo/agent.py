"""`DemoAgent`: an `agents.agent.Agent` that plays scenarios instead of running a program.

It is what `acp-bridge demo` shows and what tests of the host and the faces talk to. Cancel is honoured at
every await. Environment: ACP_BRIDGE_DEMO_DELAY = seconds between two chunks (default 0.02; 0 = no wait).
`protocol_config.require_auth` makes new_session refuse until logged in with method `demo-login`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import Any

from acp_bridge.agents.agent import AgentError, AgentInfo, Capabilities, Client, Exit, SessionParams
from acp_bridge.agents.demo import scenarios
from acp_bridge.agents.demo.turn import DemoSession, Turn
from acp_bridge.agents.events import AuthStatus, Commands, Error, Json, TurnState

_DEFAULT_DELAY = 0.02


class DemoAgent:
    """An `Agent` without a program behind it. `delay` overrides the environment variable."""

    def __init__(self, client: Client, *, delay: float | None = None, require_auth: bool = False) -> None:
        self.capabilities = Capabilities(close=True, logout=True, embedded_context=True)
        self.info = AgentInfo()
        self.authenticated = False
        self._client = client
        self._delay = _delay_from_environment() if delay is None else delay
        self._require_auth = require_auth
        self._sessions: dict[str, DemoSession] = {}
        self._turns: dict[str, asyncio.Task[TurnState]] = {}
        self._made = 0
        self._dead: Exit | None = None

    async def start(self) -> None:
        """Nothing to launch."""

    async def initialize(self) -> None:
        self.info = AgentInfo(
            name="demo",
            title="Demo agent",
            version="1",
            protocol="demo",
            auth_methods=[dict(scenarios.LOGIN)],
        )

    async def authenticate(self, method_id: str) -> None:
        self._check_alive()
        if method_id != scenarios.LOGIN["id"]:
            raise AgentError(
                "unsupported", f"The demo agent has no log-in method {method_id!r}", hint="Use demo-login."
            )
        self._log_in(True)

    async def logout(self) -> None:
        self._check_alive()
        self._log_in(False)

    async def new_session(self, params: SessionParams) -> str:
        self._check_alive()
        if self._require_auth and not self.authenticated:
            raise AgentError("authRequired", "Log in first", hint="Use demo-login.", code=-32000)
        self._made += 1
        session = DemoSession(f"demo-{self._made}", params.cwd, self._client)
        self._sessions[session.id] = session
        session.show_options()
        session.emit(Commands(commands=[dict(command) for command in scenarios.COMMANDS]))
        session.flush()
        return session.id

    async def load_session(self, session_id: str, params: SessionParams) -> None:
        raise _cannot("load a session")

    async def resume_session(self, session_id: str, params: SessionParams) -> None:
        raise _cannot("resume a session")

    async def fork_session(self, session_id: str, params: SessionParams) -> str:
        raise _cannot("fork a session")

    async def list_sessions(self, cwd: str | None, cursor: str | None) -> Json:
        raise _cannot("list sessions")

    async def delete_session(self, session_id: str) -> None:
        raise _cannot("delete a session")

    async def close_session(self, session_id: str) -> None:
        self._session(session_id)
        await self._stop_turn(session_id)
        del self._sessions[session_id]

    async def prompt(self, session_id: str, blocks: list[Json]) -> None:
        session = self._session(session_id)
        if session_id in self._turns:
            raise AgentError("internal", "The demo agent runs one turn at a time", hint="Wait or cancel.")
        text = "\n".join(block["text"] for block in blocks if isinstance(block.get("text"), str))
        session.emit(TurnState(state="running"))
        turn = Turn(session, text, delay=self._delay, authenticated=self.authenticated, die=self._die)
        task = asyncio.create_task(turn.run(), name=f"turn of {session_id}")
        self._turns[session_id] = task
        task.add_done_callback(lambda done: self._turn_over(session, done))

    async def steer(self, session_id: str, blocks: list[Json]) -> None:
        raise _cannot("be steered in mid-turn")

    def cancel(self, session_id: str, reason: str) -> None:
        turn = self._turns.get(session_id)
        if turn is not None:
            turn.cancel()

    async def set_config_option(self, session_id: str, config_id: str, value: Any) -> None:
        session = self._session(session_id)
        if config_id == "mode" and value in ("ask", "auto"):
            session.mode = value
        elif config_id == "thoughts" and isinstance(value, bool):
            session.thoughts = value
        else:
            raise AgentError(
                "unsupported",
                f"The demo agent cannot set option {config_id!r} to {value!r}",
                hint='Options: mode = "ask" | "auto", thoughts = true | false.',
                code=-32602,
            )
        session.show_options()
        session.flush()

    def pause(self) -> None:
        """Nothing to stop reading: a turn yields to the loop between chunks."""

    def resume(self) -> None:
        """See pause."""

    async def room(self) -> None:
        """Answers are taken at once."""

    def stderr_tail(self, lines: int = 20) -> list[str]:
        return self._dead.stderr[-lines:] if self._dead else []

    async def close(self) -> None:
        self._dead = self._dead or Exit(reason="closed")
        for session_id in list(self._turns):
            await self._stop_turn(session_id)

    def _turn_over(self, session: DemoSession, task: asyncio.Task[TurnState]) -> None:
        self._turns.pop(session.id, None)
        if task.cancelled():
            state = TurnState(state="idle", stop_reason="cancelled")
        elif (fault := task.exception()) is not None:
            error = Error(message=f"The demo agent failed: {fault!r}", terminal=True)
            state = TurnState(state="idle", stop_reason="error", error=error)
        else:
            state = task.result()
        if self._dead is None:
            session.emit(state)
            session.flush()

    async def _stop_turn(self, session_id: str) -> None:
        turn = self._turns.get(session_id)
        if turn is None:
            return
        turn.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await turn

    def _die(self, code: int, stderr: tuple[str, ...]) -> None:
        self._dead = Exit(code=code, stderr=list(stderr))
        self._client.exited(self._dead)

    def _log_in(self, yes: bool) -> None:
        self.authenticated = yes
        self._client.event(None, AuthStatus(authenticated=yes))
        self._client.flush()

    def _session(self, session_id: str) -> DemoSession:
        self._check_alive()
        session = self._sessions.get(session_id)
        if session is None:
            raise AgentError("internal", f"The demo agent has no session {session_id!r}", code=-32602)
        return session

    def _check_alive(self) -> None:
        if self._dead is not None:
            raise AgentError("agentDied", f"The demo agent {self._dead.describe()}", hint="Restart it.")


def _delay_from_environment() -> float:
    try:
        return max(0.0, float(os.environ.get("ACP_BRIDGE_DEMO_DELAY", _DEFAULT_DELAY)))
    except ValueError:
        return _DEFAULT_DELAY


def _cannot(what: str) -> AgentError:
    return AgentError("unsupported", f"The demo agent cannot {what}", hint="Start a new session.")
