"""One agent of the configuration and its running program, shared by all sessions that use it.

Guarantees
- Events reach their session in wire order; those that come before the session is known wait for it.
- A request for a session that nobody knows is answered with an error, never left.
- One program at a time: a start that is under way is given up by `stop`, a program that dies before it is
  ready never counts as running.
- A program that dies takes no session with it: they are told, keep their thread, and start it again.
"""

from __future__ import annotations

import contextlib
import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import anyio

from acp_bridge.agents import dialects
from acp_bridge.agents.agent import Agent, AgentError, Exit
from acp_bridge.agents.events import AnyEvent, ExtensionRequest, Log, Notice, Request
from acp_bridge.config.availability import Availability, check
from acp_bridge.config.server import AgentServer
from acp_bridge.host.errors import HostError
from acp_bridge.host.ids import now
from acp_bridge.host.link import Link
from acp_bridge.jsonrpc.messages import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND

if TYPE_CHECKING:
    from acp_bridge.host.host import Host
    from acp_bridge.host.session import Session

Json = dict[str, Any]
log = logging.getLogger(__name__)
State = Literal["stopped", "starting", "running", "authRequired", "failed"]

LOG_LINES = 2000
LOG_LINE = 10_000
"""How much of a line is kept, in characters."""
LINE_SHOWN = 65536
EARLY_EVENTS = 10_000


class Runner:
    """Made by the host, one for each configured agent."""

    def __init__(self, host: Host, server: AgentServer) -> None:
        self.host = host
        self.server = server
        self.label = server.label
        self.state: State = "stopped"
        self.agent: Agent | None = None
        self.log: deque[Json] = deque(maxlen=LOG_LINES)
        self.followers: set[int] = set()
        self.paused = False
        self._link: Link | None = None
        self._lock = anyio.Lock()
        self._sessions: dict[str, Session] = {}
        self._starting: anyio.CancelScope | None = None
        self._opening = 0
        self._early: dict[str, list[AnyEvent]] = {}

    # what it looks like

    def availability(self, environ: Mapping[str, str]) -> Availability:
        """Whether it can be started here: its program is there, and we speak its protocol."""
        found = check(self.server, environ)
        if found.available and not dialects.spoken(self.server):
            why = f"speaks the protocol {self.server.protocol!r}, which this version does not"
            return Availability(False, why, found.command)
        return found

    def summary(self) -> Json:
        """The `agent` object of `acp/agents/list` and `acp/agent/changed`."""
        found = self.availability(self.host.environ)
        summary: Json = {
            "id": self.server.id,
            "name": self.server.name or self.server.id,
            "displayName": self.label,
            "description": self.server.description,
            "protocol": self.server.protocol,
            "source": self.server.source,
            "enabled": self.server.enabled,
            "available": found.available,
            "state": self.state,
            "profiles": [],
        }
        if found.reason:
            summary["reason"] = found.reason
        if self.agent is not None:
            if self.agent.info.version:
                summary["version"] = self.agent.info.version
            summary["authMethods"] = self.agent.info.auth_methods
        return summary

    # life

    async def ensure(self, cwd: str) -> Agent:
        """Start it and shake hands if it is not running. Raises HostError."""
        async with self._lock:
            if self.agent is not None:
                return self.agent
            with anyio.CancelScope() as self._starting:
                try:
                    return await self._start(cwd)
                finally:
                    self._starting = None
        raise HostError("agentDied", f"{self.label} was stopped while it started", "try again")

    async def _start(self, cwd: str) -> Agent:
        if self.host.closing:
            raise HostError("agentUnavailable", f"{self.label} cannot be started", "the bridge is ending")
        found = self.availability(await self.host.resolved_environ())
        if not found.available:
            hint = "choose another agent, or see `acp-bridge doctor`"
            raise HostError("agentUnavailable", f"{self.label} is not available: {found.reason}", hint)
        self._set_state("starting")
        self._link = link = Link(self)
        agent: Agent | None = None
        try:
            agent = dialects.create(self.server, link, cwd=cwd, client_info=self.host.client_info)
            await agent.start()
            await agent.initialize()
            if self._link is not link:
                raise HostError("agentDied", f"{self.label} ended as it started", "see its log")
        except BaseException as error:
            link.cut()
            self._link = None
            self._set_state("failed" if isinstance(error, Exception) else "stopped")
            if agent is not None:
                with anyio.CancelScope(shield=True):
                    await agent.close()
            if isinstance(error, AgentError):
                raise self.failed(error) from error
            raise
        self.agent = agent
        self._set_state("running")
        return agent

    async def stop(self, why: str) -> None:
        """End the program, or give up its start; its sessions are detached."""
        agent, link = self.agent, self._link
        self.agent = self._link = None
        if link is not None:
            link.cut()
        if self._starting is not None:
            self._starting.cancel()
        self._lose(Exit(reason=why))
        async with self._lock:
            if agent is not None:
                await agent.close()
            if self.agent is None:
                self._set_state("stopped")

    async def restart(self) -> None:
        """End it and start it anew, in the folder of its newest session if it has one. Raises HostError."""
        folders = [session.cwd for session in self.host.of_runner(self)]
        await self.stop("was restarted")
        await self.ensure(folders[-1] if folders else self.host.default_cwd)
        for session in self.host.of_runner(self):
            await session.attach()

    def exited(self, exit: Exit) -> None:
        """The program ended by itself."""
        self.agent = self._link = None
        self._note("log", exit.describe())
        self._lose(exit)
        self._set_state("failed" if exit.code or exit.signal else "stopped")
        self.host.flush()

    def _lose(self, exit: Exit) -> None:
        self._sessions.clear()
        self._refuse_early()
        self.paused = False
        for session in self.host.of_runner(self):
            session.lost(exit)

    def died(self, exit: Exit) -> HostError:
        """The error of a turn that the program's end cut off."""
        hint = "send the prompt again to start it anew; `acp-bridge doctor` helps if it goes on"
        detail = self.host.mask("\n".join(exit.stderr[-20:]))
        return HostError("agentDied", f"{self.label} {exit.describe()}", hint, detail=detail)

    def failed(self, error: AgentError) -> HostError:
        """The agent's refusal as ours, without secrets."""
        masked = HostError.of_agent(error)
        masked.detail = self.host.mask(masked.detail)
        return masked

    # log-in

    async def authenticate(self, method_id: str | None) -> None:
        """Log in by one of the agent's methods; prompts that waited for it are sent. Raises HostError."""
        agent = await self.ensure(self.host.default_cwd)
        known = [str(method.get("id")) for method in agent.info.auth_methods]
        chosen = method_id if method_id is not None else (known[0] if len(known) == 1 else None)
        if chosen is None or (known and chosen not in known):
            hint = (
                f"choose one of: {', '.join(known)}"
                if known
                else "it offers no way to log in; see its own manual"
            )
            raise HostError("badParam", f"{self.label} has no log-in {method_id!r}", hint, param="methodId")
        try:
            await agent.authenticate(chosen)
        except AgentError as error:
            if error.code == INVALID_PARAMS:
                raise HostError.of_param(error, "methodId") from error
            raise self.failed(error) from error
        if self.agent is agent:
            self._set_state("running")
        for session in self.host.of_runner(self):
            session.logged_in()

    async def logout(self) -> None:
        """Log out where the agent can. Raises HostError."""
        agent = await self.ensure(self.host.default_cwd)
        if not agent.capabilities.logout:
            raise HostError("unsupported", f"{self.label} cannot log out", "use its own command")
        try:
            await agent.logout()
        except AgentError as error:
            raise self.failed(error) from error

    def wants_login(self, message: str) -> HostError:
        """Note that it wants a log-in; the error that tells the user how."""
        self._set_state("authRequired")
        methods = self.agent.info.auth_methods if self.agent is not None else []
        names = ", ".join(str(method.get("name") or method.get("id")) for method in methods)
        hint = f"log in: {names}" if names else "log in with the agent's own command, then try again"
        return HostError("authRequired", message, hint, data={"authMethods": methods})

    # sessions

    async def open(self, session: Session) -> None:
        """Make the agent's side of a session. Raises HostError."""
        agent = await self.ensure(session.cwd)
        self.host.mask.learn(_secrets_of(session.params.mcp_servers))
        self._opening += 1
        try:
            native_id = await agent.new_session(session.params)
            self._opened(session, agent, native_id)
        except AgentError as error:
            if error.kind == "authRequired":
                raise self.wants_login(error.message) from error
            raise self.failed(error) from error
        finally:
            self._opening -= 1
            if not self._opening:
                self._refuse_early()
        if self.state == "authRequired":
            self._set_state("running")

    def _opened(self, session: Session, agent: Agent, native_id: str) -> None:
        if self.agent is not agent:
            raise HostError("agentDied", f"{self.label} ended as it opened the session", "try again")
        if native_id in self._sessions:
            message = f"{self.label} gave a new session the id of one that is open"
            raise HostError("internal", message, "close the other session first; the agent holds only one")
        if session.closed:
            raise HostError("unknownSession", f"session {session.id} is closed", "start a new one")
        session.opened(native_id)
        self._sessions[native_id] = session
        for event in self._early.pop(native_id, []):
            self._apply(session, event)

    def forget(self, session: Session) -> None:
        """The session is closed: its id means nothing any more."""
        if session.native_id is not None and self._sessions.get(session.native_id) is session:
            del self._sessions[session.native_id]

    def renamed(self, session: Session, native_id: str) -> None:
        """The agent gave the session another id of its own."""
        if native_id in self._sessions:
            self._note("log", f"ignored: two sessions would have the id {native_id!r}")
            return
        self.forget(session)
        session.native_id = native_id
        self._sessions[native_id] = session

    # what it says

    def event(self, session_id: str | None, event: AnyEvent) -> None:
        """Hand one event to its session."""
        if self.host.tracer is not None:
            self._trace(self.host.tracer.event, event)
        session = self._sessions.get(session_id) if session_id is not None else None
        if session is not None:
            self._apply(session, event)
            self.host.audience.touched(session)
        elif session_id is not None and self._opening and self._keep_early(session_id, event):
            return
        elif isinstance(event, Request):
            self._refuse(event, session_id)
        elif isinstance(event, Notice):
            self._note("log", f"{event.title}: {event.description}" if event.description else event.title)
        elif isinstance(event, Log):
            self._note("log", event.text)

    def _apply(self, session: Session, event: AnyEvent) -> None:
        """One event that cannot be applied costs neither the next one nor the turn."""
        if isinstance(event, Log):
            self._note("log", event.text)
            return
        try:
            session.apply(event)
        except Exception:
            log.exception("an event of %s could not be applied", self.server.id)
            if isinstance(event, Request):
                event.reply.fail(INTERNAL_ERROR, "the request could not be served")

    def _keep_early(self, session_id: str, event: AnyEvent) -> bool:
        """Keep an event for a session that may be about to be known; False if too many wait."""
        if sum(map(len, self._early.values())) >= EARLY_EVENTS:
            return False
        self._early.setdefault(session_id, []).append(event)
        return True

    def _refuse_early(self) -> None:
        early, self._early = self._early, {}
        for session_id, events in early.items():
            for event in events:
                if isinstance(event, Request):
                    self._refuse(event, session_id)

    def _refuse(self, event: Request, session_id: str | None) -> None:
        if isinstance(event, ExtensionRequest):
            event.reply.fail(METHOD_NOT_FOUND, f"{event.method} is not served by this client")
        else:
            event.reply.fail(INVALID_PARAMS, f"unknown session {session_id!r}")

    def wire(self, direction: str, raw: bytes) -> None:
        """A raw line: kept in the log if it is stderr or noise, else told if somebody follows; traced if
        somebody wants it."""
        if direction in ("stderr", "noise"):
            text = raw[: 4 * LOG_LINE].decode("utf-8", "replace").rstrip("\n")
            self._note(direction, text, len(raw))
        elif self.followers:
            shown = raw[:LINE_SHOWN].decode("utf-8", "replace")
            self.host.audience.log(self.server.id, direction, self.host.mask(shown))
        if self.host.tracer is not None:
            self.host.flush()
            self._trace(self.host.tracer.wire, direction, raw)

    def _trace(self, method: Callable[..., None], *args: Any) -> None:
        """A trace that cannot be written costs no event."""
        try:
            method(self.server.id, *args)
        except Exception:
            log.exception("the trace failed")

    def _note(self, stream: str, text: str, size: int | None = None) -> None:
        size = size or len(text)
        text = self.host.mask(text[: 4 * LOG_LINE])
        if len(text) > LOG_LINE:
            text = f"{text[:LOG_LINE]}… ({size} bytes)"
        self.log.append({"time": now(), "stream": stream, "text": text})
        self.host.audience.log(self.server.id, stream, text)

    def _set_state(self, state: State) -> None:
        if state != self.state:
            self.state = state
            self.host.audience.agent_changed(self)

    # back-pressure

    def pause(self) -> None:
        """Stop reading from the agent: no UI keeps up."""
        if not self.paused and self.agent is not None:
            self.paused = True
            self.agent.pause()

    def resume(self) -> None:
        """Read from the agent again."""
        if self.paused:
            self.paused = False
            if self.agent is not None:
                with contextlib.suppress(AgentError):
                    self.agent.resume()


def _secrets_of(mcp_servers: Sequence[Json]) -> Iterator[dict[str, str]]:
    """The environments and headers of MCP servers (ACP: lists of `{name, value}`)."""
    for server in mcp_servers:
        for pairs in (server.get("env"), server.get("headers")):
            for pair in pairs if isinstance(pairs, list) else ():
                if isinstance(pair, dict) and isinstance(pair.get("value"), str):
                    yield {str(pair.get("name")): pair["value"]}
