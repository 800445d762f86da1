"""The host: agents, sessions and attached UIs of one process; what every face talks to.

Guarantees
- Every task of the host lives in its task group; leaving `running()` ends all turns and stops all agents.
- Every public method raises HostError, which names the thing and says what to try.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol

import anyio
import anyio.abc
import anyio.to_thread

from acp_bridge.agents.agent import Agent, AgentError, SessionParams
from acp_bridge.agents.events import AnyEvent
from acp_bridge.config.load import Configuration
from acp_bridge.host.audience import Audience
from acp_bridge.host.errors import HostError
from acp_bridge.host.permissions import Permissions
from acp_bridge.host.ports import Documents, NoDocuments, Show
from acp_bridge.host.runner import Runner
from acp_bridge.host.secrets import Masker
from acp_bridge.host.session import Session
from acp_bridge.launch.environment import inherited

Json = dict[str, Any]
log = logging.getLogger("acp_bridge.host")

CLOSE_SECONDS = 5.0
"""How long closing a session waits for the agent to have freed it."""


class Tracer(Protocol):
    """Gets every raw line, then the events it made; UIs are flushed before the next line."""

    def wire(self, agent_id: str, direction: str, raw: bytes) -> None: ...
    def event(self, agent_id: str, event: AnyEvent) -> None: ...


class Host:
    """`environ` replaces the inherited environment; `client_info` is the `{name, version}` agents see."""

    def __init__(
        self,
        configuration: Configuration,
        *,
        client_info: Mapping[str, str] | None = None,
        environ: Mapping[str, str] | None = None,
        default_cwd: str | None = None,
    ) -> None:
        self.configuration = configuration
        self.client_info = dict(client_info or {"name": "acp-bridge", "version": "0"})
        self.default_cwd = default_cwd or os.getcwd()
        self.environ: Mapping[str, str] = environ if environ is not None else dict(os.environ)
        self.mask = self._masker()
        self.permissions = Permissions()
        self.sessions: dict[str, Session] = {}
        self.tracer: Tracer | None = None
        self._resolved = environ is not None
        self._runners = {key: Runner(self, server) for key, server in configuration.servers.items()}
        self.audience = Audience(self)
        self._tasks: anyio.abc.TaskGroup | None = None
        self._opening: dict[str, Session] = {}
        self.closing = False

    # life

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Host]:
        """Own the tasks; on leaving, stop every agent."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield self
            finally:
                with anyio.CancelScope(shield=True):
                    await self._stop_all()
                self._tasks = None
                tasks.cancel_scope.cancel()

    async def _stop_all(self) -> None:
        self.closing = True
        for session in [*self.sessions.values(), *self._opening.values()]:
            session.interrupt()
        self.flush()
        async with anyio.create_task_group() as stopping:
            for runner in self._runners.values():
                stopping.start_soon(runner.stop, "was stopped")

    def spawn(self, function: Callable[..., Awaitable[Any]], *args: Any) -> None:
        """Run a coroutine function in the host's task group; what it raises is logged, not spread."""
        if self._tasks is not None:
            self._tasks.start_soon(self._guarded, function, args)

    async def _guarded(self, function: Callable[..., Awaitable[Any]], args: tuple[Any, ...]) -> None:
        try:
            await function(*args)
        except Exception:
            log.exception("a task of the host failed")
        self.flush()

    async def resolved_environ(self) -> Mapping[str, str]:
        """The environment agents get, with the login shell's merged in where that is needed."""
        if not self._resolved:
            self.environ = await anyio.to_thread.run_sync(inherited, abandon_on_cancel=True)
            self.mask = self._masker()
            self._resolved = True
        return self.environ

    def _masker(self) -> Masker:
        return Masker(self.environ, [server.env for server in self.configuration.servers.values()])

    # agents

    def list_agents(self) -> list[Json]:
        """The `agents` of `acp/agents/list`, in order of configuration."""
        return [runner.summary() for runner in self._runners.values()]

    def runner(self, agent_id: str) -> Runner:
        """One agent; by id, or by its name where that is unambiguous. Raises HostError unknownAgent."""
        runner = self._runners.get(agent_id)
        if runner is None:
            named = [r for r in self._runners.values() if agent_id in (r.label, r.server.name)]
            if len(named) != 1:
                hint = f"known agents: {', '.join(self._runners) or 'none'}"
                raise HostError("unknownAgent", f"unknown agent {agent_id!r}", hint, param="agent")
            runner = named[0]
        return runner

    def default_agent(self) -> str:
        """The agent to use where none is named. Raises HostError badParam listing the choices."""
        chosen = self.configuration.settings.default_agent
        if chosen:
            return self.runner(chosen).server.id
        available = [key for key, r in self._runners.items() if r.availability(self.environ).available]
        real = [key for key in available if self._runners[key].server.protocol != "demo"]
        if len(real) == 1:
            return real[0]
        if len(available) == 1:
            return available[0]
        hint = f"name one of: {', '.join(available) or 'none is available'}; or set defaultAgent"
        raise HostError("badParam", "no agent was named and there is no single choice", hint, param="agent")

    async def restart_agent(self, agent_id: str) -> None:
        await self.runner(agent_id).restart()
        self.flush()

    async def authenticate(self, agent_id: str, method_id: str | None = None) -> None:
        await self.runner(agent_id).authenticate(method_id)
        self.flush()

    async def logout(self, agent_id: str) -> None:
        await self.runner(agent_id).logout()

    def agent_log(self, agent_id: str, tail: int | None = None) -> list[Json]:
        """The newest lines `{time, stream, text}`, secrets masked."""
        lines = list(self.runner(agent_id).log)
        return lines if tail is None else lines[max(0, len(lines) - tail) :]

    def follow(self, ui: Show, agent_id: str, follow: bool) -> None:
        """Whether `ui` wants every message between the bridge and an agent told by `Show.log` too."""
        followers = self.runner(agent_id).followers
        (followers.add if follow else followers.discard)(id(ui))

    def runners(self) -> Iterable[Runner]:
        """Every agent of the configuration."""
        return self._runners.values()

    def of_runner(self, runner: Runner) -> list[Session]:
        """The sessions of one agent, oldest first."""
        known = [*self.sessions.values(), *self._opening.values()]
        return [session for session in known if session.runner is runner]

    # sessions

    async def new_session(
        self,
        *,
        agent: str,
        cwd: str | None = None,
        additional_directories: Sequence[str] = (),
        mcp_servers: Sequence[Json] = (),
        config_options: Mapping[str, Any] | None = None,
        profile: str | None = None,
        documents: Documents | None = None,
    ) -> Session:
        """Start a session. No UI hears of it before the caller has returned to the loop; the thread as it is
        then belongs to the caller's answer, what follows to the UIs."""
        runner = self.runner(agent)
        if profile is not None:
            raise HostError("notFound", f"unknown profile {profile!r}", "there are none yet", param="profile")
        folder = _folder(cwd if cwd is not None else self.default_cwd, "cwd")
        folders = [_folder(path, "additionalDirectories") for path in additional_directories]
        extra = [path for path in dict.fromkeys(folders) if path != folder]
        params = SessionParams(folder, extra, list(mcp_servers))
        session = Session(self, runner, params, documents or NoDocuments())
        self._opening[session.id] = session
        try:
            await runner.open(session)
            await self._configure(session, config_options or {})
        except BaseException:
            self.spawn(self._give_up, session, session.live())
            session.close()
            runner.forget(session)
            raise
        finally:
            del self._opening[session.id]
        self.sessions[session.id] = session
        self.audience.watch(session)
        asyncio.get_running_loop().call_soon(self._publish, session)
        return session

    async def _configure(self, session: Session, wanted: Mapping[str, Any]) -> None:
        """Set the entry's defaults where the agent has such an option, then what the caller asked for."""
        server = session.runner.server
        known = {str(option.get("id")) for option in session.config_options}
        defaults: Json = {"mode": server.default_mode, "model": server.default_model}
        defaults |= server.default_config_options
        for key, value in defaults.items():
            if value != "" and key in known and key not in wanted:
                await session.set_config_option(key, value)
        unknown = [key for key in wanted if key not in known]
        if unknown:
            hint = f"known: {', '.join(known) or 'none'}"
            raise HostError("badParam", f"unknown option {unknown[0]!r}", hint, param="configOptions")
        for key, value in wanted.items():
            try:
                await session.set_config_option(key, value)
            except HostError as error:
                error.param = error.param and "configOptions"
                raise

    def _publish(self, session: Session) -> None:
        if session.closed:
            return
        session.published = True
        session.changed()
        for pending in self.permissions.of(session):
            self.audience.permission_requested(session, pending.request)
        self.flush()

    def session(self, session_id: str) -> Session:
        """An open session. Raises HostError unknownSession."""
        session = self.sessions.get(session_id)
        if session is None:
            hint = "list the sessions, or start a new one"
            raise HostError("unknownSession", f"unknown session {session_id!r}", hint, param="sessionId")
        return session

    def list_sessions(
        self,
        agent: str | None = None,
        cwd: str | None = None,
        query: str | None = None,
        cursor: str | None = None,
    ) -> Json:
        """`{sessions}`, newest first, without those whose making is not answered yet. All fit in one page, so
        no cursor is ever given."""
        if cursor is not None:
            raise HostError(
                "badParam", f"unknown cursor {cursor!r}", "list again without one", param="cursor"
            )
        if cwd is not None:
            _absolute(cwd, "cwd")
        chosen = [
            session.summary()
            for session in reversed(self.sessions.values())
            if session.published
            and (agent is None or session.agent_id == agent)
            and (cwd is None or session.cwd == os.path.normpath(cwd))
            and (query is None or query.lower() in (session.title or "").lower())
        ]
        return {"sessions": chosen}

    async def close_session(self, session_id: str) -> None:
        """End a session and free what the agent holds of it."""
        session = self.session(session_id)
        live = session.live()
        session.close()
        self.flush()
        self.sessions.pop(session_id, None)
        session.runner.forget(session)
        self.audience.forget(session)
        with anyio.move_on_after(CLOSE_SECONDS):
            await self._give_up(session, live)

    async def _give_up(self, session: Session, live: tuple[Agent, str] | None) -> None:
        """Let the agent free what it holds of a session, where it can."""
        if live is None or not live[0].capabilities.close:
            return
        agent, native_id = live
        try:
            await agent.close_session(native_id)
        except AgentError as error:
            log.info("closing %s: %s", session.id, error)

    # requests that wait

    def answer_permission(self, request_id: str, option_id: str | None, remember: str | None = None) -> Json:
        """`acp/permission/answer`: `{accepted, outcome, by}`."""
        return self.permissions.answer(request_id, option_id, remember)

    def answer_elicitation(self, request_id: str, action: str, content: Json | None = None) -> Json:
        """`acp/elicitation/answer`. No agent is offered elicitation yet, so none is ever pending."""
        del action, content
        raise HostError(
            "unknownRequest", f"unknown elicitation {request_id!r}", "it may have ended with its turn"
        )

    def pending_requests(self, session_id: str | None = None) -> list[Json]:
        """`[{kind, request}]` of one session or of all."""
        sessions = self.sessions.values() if session_id is None else [self.session(session_id)]
        return [pending for session in sessions for pending in session.pending()]

    # UIs

    def attach(self, ui: Show) -> None:
        """Show everything from now on to `ui` too."""
        self.audience.attach(ui)

    def detach(self, ui: Show) -> None:
        for runner in self._runners.values():
            runner.followers.discard(id(ui))
        self.audience.detach(ui)

    def drained(self, ui: Show) -> None:
        """The connection of `ui` takes more again: tell it what it missed."""
        self.audience.drained(ui)

    def flush(self) -> None:
        """Show what changed since the last flush."""
        self.audience.flush()


def _absolute(path: str, param: str) -> None:
    if not os.path.isabs(path):
        raise HostError("badParam", f"{param} {path!r} is not absolute", "give the whole path", param=param)


def _folder(path: str, param: str) -> str:
    """An absolute path of an existing folder, normalised. Raises HostError badParam."""
    _absolute(path, param)
    if not os.path.isdir(path):
        what = "is no folder" if os.path.exists(path) else "does not exist"
        raise HostError("badParam", f"{param} {path} {what}", "give an existing folder", param=param)
    return os.path.normpath(path)
