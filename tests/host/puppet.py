"""A puppet agent and a recording UI for tests of the host: both do only what the test says."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from acp_bridge.agents import dialects
from acp_bridge.agents.agent import AgentError, AgentInfo, Capabilities, Client, Exit, SessionParams
from acp_bridge.agents.events import AnyEvent, TurnState
from acp_bridge.config.load import Configuration
from acp_bridge.config.server import AgentServer
from acp_bridge.config.settings import Settings
from acp_bridge.host.host import Host
from acp_bridge.host.session import Session

from .rebuild import apply_ops

Json = dict[str, Any]


class Reply:
    """Records how a request was answered; asserts that it is once."""

    def __init__(self) -> None:
        self.answers: list[tuple[str, Any]] = []
        self.cancel: Callable[[], None] | None = None

    def answer(self, result: Any) -> bool:
        return self._once("result", result)

    def fail(self, code: int, message: str, data: Any = None) -> bool:
        return self._once("error", code)

    def on_cancel(self, callback: Callable[[], None]) -> None:
        self.cancel = callback

    def _once(self, kind: str, value: Any) -> bool:
        if self.answers:
            return False
        self.answers.append((kind, value))
        return True


class Puppet:
    """An agent whose strings the test holds: `say` speaks, `calls` is what it was asked."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.capabilities = Capabilities()
        self.info = AgentInfo(name="puppet", auth_methods=[{"id": "key", "name": "Key"}])
        self.calls: list[tuple[str, Any]] = []
        self.sessions = 0
        self.on_new: Callable[[], None] = lambda: None
        self.refuse_new: AgentError | None = None
        self.refuse_prompt: AgentError | None = None
        self.refuse_set: AgentError | None = None
        self.gates: dict[str, anyio.Event] = {}
        self.paused = False
        self.reads = anyio.Event()
        self.reads.set()
        self.closed = False

    def say(self, *events: AnyEvent, session: str = "n1") -> None:
        for event in events:
            self.client.event(session, event)
        self.client.flush()

    def end(self, stop_reason: str = "end_turn", session: str = "n1") -> None:
        self.say(TurnState(state="idle", stop_reason=stop_reason), session=session)

    def die(self, **exit: Any) -> None:
        self.client.exited(Exit(**exit))

    def hold(self, what: str) -> anyio.Event:
        """Let the next calls of `initialize`, `new`, `close` or `set` wait for the event."""
        self.gates[what] = anyio.Event()
        return self.gates[what]

    async def _pass(self, what: str) -> None:
        if what in self.gates:
            await self.gates[what].wait()

    async def start(self) -> None:
        self.calls.append(("start", None))

    async def initialize(self) -> None:
        self.calls.append(("initialize", None))
        await self._pass("initialize")

    async def authenticate(self, method_id: str) -> None:
        self.calls.append(("authenticate", method_id))
        self.refuse_new = self.refuse_prompt = None

    async def logout(self) -> None: ...

    async def new_session(self, params: SessionParams) -> str:
        self.calls.append(("new", params))
        if self.refuse_new is not None:
            raise self.refuse_new
        self.sessions += 1
        native_id = f"n{self.sessions}"
        self.on_new()
        await self._pass("new")
        await anyio.lowlevel.checkpoint()
        return native_id

    async def prompt(self, session_id: str, blocks: list[Json]) -> None:
        if self.refuse_prompt is not None:
            raise self.refuse_prompt
        self.calls.append(("prompt", "".join(block.get("text", block["type"]) for block in blocks)))

    def cancel(self, session_id: str, reason: str) -> None:
        self.calls.append(("cancel", reason))

    async def set_config_option(self, session_id: str, config_id: str, value: Any) -> None:
        self.calls.append(("set", (config_id, value)))
        await self._pass("set")
        if self.refuse_set is not None:
            raise self.refuse_set

    async def room(self) -> None:
        await self.reads.wait()

    def pause(self) -> None:
        self.paused = True

    def resume(self) -> None:
        self.paused = False

    def stderr_tail(self, lines: int = 20) -> list[str]:
        return []

    async def close_session(self, session_id: str) -> None:
        self.calls.append(("close", session_id))
        await self._pass("close")

    async def close(self) -> None:
        self.closed = True

    def asked(self, what: str) -> list[Any]:
        return [value for name, value in self.calls if name == what]


class Ui:
    """A UI that rebuilds threads from ops and writes down everything else in order."""

    def __init__(self) -> None:
        self.congested = False
        self.faults: list[Exception] = []
        self.seen: list[tuple[str, Any]] = []
        self.threads: dict[str, list[Json]] = {}
        self.revs: dict[str, int] = {}

    def thread_changed(self, session: Session, delta: Any) -> None:
        try:
            message = delta.message()
            assert message["fromRev"] == self.revs.get(session.id, message["fromRev"])
            self.revs[session.id] = message["rev"]
            self.threads[session.id] = apply_ops(self.threads.get(session.id, []), message["ops"])
            self.seen.append(("thread", message))
        except Exception as fault:
            self.faults.append(fault)

    def session_changed(self, session: Session) -> None:
        self.seen.append(("session", session.summary()))

    def agent_changed(self, agent: Json) -> None:
        self.seen.append(("agent", agent["state"]))

    def permission_requested(self, session: Session, request: Json) -> None:
        self.seen.append(("requested", request))

    def permission_resolved(self, session: Session, request_id: str, outcome: Json, by: str) -> None:
        self.seen.append(("resolved", (request_id, outcome, by)))

    def elicitation_requested(self, session: Session | None, request: Json) -> None: ...
    def elicitation_resolved(self, request_id: str, action: str, by: str) -> None: ...
    def progress(self, session: Session, percent: float | None, message: str | None) -> None:
        self.seen.append(("progress", message))

    def log(self, agent_id: str, stream: str, text: str) -> None:
        self.seen.append(("log", text))

    def of(self, kind: str) -> list[Any]:
        return [value for name, value in self.seen if name == kind]

    def kinds(self, session: Session) -> list[str]:
        return [entry["kind"] for entry in self.threads[session.id]]


class Stage:
    """A running host with one puppet agent, a UI, and a session in `cwd` once `open` is called."""

    def __init__(self, host: Host, ui: Ui, cwd: str) -> None:
        self.host = host
        self.ui = ui
        self.cwd = cwd
        self.puppets: list[Puppet] = []

    @property
    def puppet(self) -> Puppet:
        return self.puppets[-1]

    async def open(self, **params: Any) -> Session:
        session = await self.host.new_session(agent="puppet", cwd=self.cwd, **params)
        self.ui.threads[session.id] = session.thread.entries()
        self.ui.revs[session.id] = session.thread.rev
        return session

    async def settle(self) -> None:
        """Let everything that is ready run."""
        for _ in range(20):
            await anyio.lowlevel.checkpoint()

    async def until(self, condition: Callable[[], Any]) -> None:
        with anyio.fail_after(30):
            while not condition():
                await anyio.sleep(0.002)


@asynccontextmanager
async def stage(
    monkeypatch: pytest.MonkeyPatch,
    cwd: str,
    prepare: Callable[[Puppet], None] = lambda puppet: None,
    **entry: Any,
) -> AsyncIterator[Stage]:
    server = AgentServer(id="puppet", name="Puppet", protocol="demo", **entry)
    host = Host(Configuration({"puppet": server}, [], Settings()), environ={})
    ui = Ui()
    here = Stage(host, ui, cwd)

    def create(server: AgentServer, client: Client, **_: Any) -> Puppet:
        puppet = Puppet(client)
        prepare(puppet)
        here.puppets.append(puppet)
        return puppet

    monkeypatch.setattr(dialects, "create", create)
    async with host.running():
        host.attach(ui)
        yield here
    assert ui.faults == []
