"""The interface between the host and a dialect: `Agent` (what we ask) and `Client` (what it tells us).

One Agent object is one running agent program (or an in-process one) with any number of sessions. Session ids
here are the agent's own ("native"). Callbacks of Client run synchronously, in wire order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from acp_bridge.agents.events import AnyEvent, Json


@dataclass(slots=True)
class Capabilities:
    """What the agent said it can do, in the words the host asks by."""

    load: bool = False
    resume: bool = False
    fork: bool = False
    list: bool = False
    close: bool = False
    delete: bool = False
    logout: bool = False
    steer: bool = False
    additional_directories: bool = False
    image: bool = False
    audio: bool = False
    embedded_context: bool = False
    mcp_http: bool = False
    mcp_sse: bool = False
    raw: Json = field(default_factory=dict)


@dataclass(slots=True)
class AgentInfo:
    """Name and version the agent gave itself, the protocol it speaks and how one logs in.

    `auth_methods` are `{id, name, description?, type?}` in wire spelling.
    """

    name: str | None = None
    title: str | None = None
    version: str | None = None
    protocol: str = "acp"
    protocol_version: str | None = None
    auth_methods: list[Json] = field(default_factory=list)


@dataclass(slots=True)
class SessionParams:
    """cwd and directories absolute; `mcp_servers` in ACP v1 wire form."""

    cwd: str
    additional_directories: list[str] = field(default_factory=list)
    mcp_servers: list[Json] = field(default_factory=list)


@dataclass(slots=True)
class Exit:
    """How an agent ended: exit `code` or `signal` name, and the last lines of its stderr."""

    code: int | None = None
    signal: str | None = None
    stderr: list[str] = field(default_factory=list)
    reason: str = ""

    def describe(self) -> str:
        """One sentence for a person, without the stderr lines."""
        if self.signal:
            return f"ended by {self.signal}"
        if self.code is not None:
            return f"exited with status {self.code}"
        return self.reason or "closed the connection"


class AgentError(Exception):
    """What an Agent method raises when the agent refuses, dies or makes no sense.

    `kind` is one of the words of the editor protocol: authRequired, agentUnavailable, agentDied,
    agentSpeaksNoAcp, unsupported, config, internal. `code` is the agent's own JSON-RPC code if any.
    """

    def __init__(
        self, kind: str, message: str, *, hint: str = "", detail: str = "", code: int | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.hint = hint
        self.detail = detail
        self.code = code


class Client(Protocol):
    """The answers to what an agent says and asks; implemented by the host."""

    def event(self, session_id: str | None, event: AnyEvent) -> None:
        """Apply one event of one session (None: the connection as a whole)."""
        ...

    def flush(self) -> None:
        """Everything one read delivered has been applied."""
        ...

    def exited(self, exit: Exit) -> None:
        """The agent is gone. Pending Agent calls have raised AgentError("agentDied") already; every
        running turn gets no TurnState from the agent: the host ends it."""
        ...

    def wire(self, direction: str, raw: bytes) -> None:
        """One raw line for log and trace: "stderr" and "noise" always, "in" and "out" only while `tracing`.
        "in" comes before the events that the line makes; while tracing, chunks are not merged."""
        ...

    @property
    def tracing(self) -> bool: ...


class Agent(Protocol):
    """One running agent, whatever it speaks. All coroutines raise AgentError."""

    capabilities: Capabilities
    info: AgentInfo

    async def start(self) -> None:
        """Launch the program (kinds: agentUnavailable when it cannot be started)."""
        ...

    async def initialize(self) -> None:
        """Shake hands; fills `capabilities` and `info`."""
        ...

    async def authenticate(self, method_id: str) -> None: ...
    async def logout(self) -> None: ...
    async def new_session(self, params: SessionParams) -> str:
        """Returns the native session id; modes and options arrive as events for it."""
        ...

    async def load_session(self, session_id: str, params: SessionParams) -> None:
        """Replays history as events; returns after all of them have been applied."""
        ...

    async def resume_session(self, session_id: str, params: SessionParams) -> None: ...
    async def fork_session(self, session_id: str, params: SessionParams) -> str: ...
    async def list_sessions(self, cwd: str | None, cursor: str | None) -> Json:
        """`{sessions, nextCursor?}` as in ACP v1."""
        ...

    async def close_session(self, session_id: str) -> None: ...
    async def delete_session(self, session_id: str) -> None: ...
    async def prompt(self, session_id: str, blocks: list[Json]) -> None:
        """Returns when the agent has taken the prompt (v1: once written); TurnState(idle) ends the turn,
        also when the agent answers with an error."""
        ...

    async def steer(self, session_id: str, blocks: list[Json]) -> None: ...
    def cancel(self, session_id: str, reason: str) -> None: ...
    async def set_config_option(self, session_id: str, config_id: str, value: Any) -> None:
        """The resulting whole list arrives as a ConfigOptions event before this returns."""
        ...

    def pause(self) -> None:
        """Stop reading from the agent (back-pressure)."""
        ...

    def resume(self) -> None: ...
    async def room(self) -> None:
        """Wait until the agent has taken most of what was sent to it, or is gone."""
        ...

    def stderr_tail(self, lines: int = 20) -> list[str]: ...
    async def close(self) -> None:
        """Stop in order: stdin, wait, TERM, KILL, the whole tree. Never raises."""
        ...
