"""One conversation: its turns, its thread, what it waits for, and the agent behind it.

Guarantees
- What the agent says is applied in wire order, requests included.
- One turn at a time; each that starts ends with exactly one `stop` entry, whatever happens to the agent.
- The conversation outlives its agent: a dead one is started again by the next prompt.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from msgspec import UNSET

from acp_bridge.agents.agent import Agent, AgentError, Exit, SessionParams
from acp_bridge.agents.events import (
    AnyEvent,
    Commands,
    ConfigOptions,
    Event,
    ExtensionRequest,
    Notice,
    PermissionRequest,
    Progress,
    ReadFile,
    Request,
    SessionInfo,
    TurnState,
    Usage,
    WriteFile,
)
from acp_bridge.host import export
from acp_bridge.host.content import usage_json
from acp_bridge.host.errors import HostError
from acp_bridge.host.files import Files
from acp_bridge.host.ids import mint
from acp_bridge.host.outside import ask_outside
from acp_bridge.host.permissions import CANCELLED, Pending, request_of_agent
from acp_bridge.host.ports import Documents
from acp_bridge.host.roots import Roots
from acp_bridge.host.thread import Thread
from acp_bridge.host.transcript import Transcript
from acp_bridge.host.turn_taking import Turns
from acp_bridge.host.visible import one_line
from acp_bridge.jsonrpc.messages import INTERNAL_ERROR, METHOD_NOT_FOUND

if TYPE_CHECKING:
    from acp_bridge.host.host import Host
    from acp_bridge.host.runner import Runner

Json = dict[str, Any]


class Session:
    """Made by `Host.new_session`. `native_id` is the agent's own id of it."""

    def __init__(self, host: Host, runner: Runner, params: SessionParams, documents: Documents) -> None:
        self.id = mint("ses")
        self.host = host
        self.runner = runner
        self.agent_id = runner.server.id
        self.params = params
        self.cwd = params.cwd
        self.profile: str | None = None
        self.documents = documents
        self.roots = Roots([params.cwd, *params.additional_directories])
        self.native_id: str | None = None
        self.title: str | None = None
        self.thread = Thread(self.id)
        self.transcript = Transcript(self.thread)
        self.turns = Turns(self)
        self.files = Files(
            documents, self.roots, lambda: partial(ask_outside, self, self.turns.running), self._room
        )
        self.config_options: list[Json] = []
        self.commands: list[Json] = []
        self.usage: Json | None = None
        self.published = False
        self.detached = False
        self.closed = False
        self._attaching = anyio.Lock()
        self._renamed = False
        self._handlers: dict[type, Callable[[Any], None]] = {
            PermissionRequest: self._permission,
            ReadFile: lambda event: host.spawn(self._serve, self.files.read, event),
            WriteFile: lambda event: host.spawn(self._serve, self.files.write, event),
            ExtensionRequest: self._refuse,
            TurnState: self.turns.state_changed,
            Usage: self._usage,
            Commands: lambda event: self._set("commands", event.commands),
            ConfigOptions: lambda event: self._set("config_options", event.options),
            SessionInfo: self._session_info,
            Progress: lambda event: host.audience.progress(self, event.percent, event.message),
        }

    # what it looks like

    @property
    def state(self) -> str:
        """idle | running | requires_action | cancelling | detached."""
        running = self.turns.running
        if running is not None and running.cancelled:
            return "cancelling"
        if self.host.permissions.of(self):
            return "requires_action"
        if running is not None:
            return "running"
        return "detached" if self.detached else "idle"

    def summary(self) -> Json:
        """The `session` object of `acp/session/changed`."""
        summary: Json = {
            "sessionId": self.id,
            "agent": self.agent_id,
            "profile": self.profile,
            "cwd": self.cwd,
            "title": self.title,
            "state": self.state,
            "taskState": self.turns.task_state,
            "configOptions": self.config_options,
            "commands": self.commands,
            "usage": self.usage,
            "queue": self.turns.queue.as_json(),
            "pending": self.pending(),
        }
        if self.turns.running is not None:
            summary["turnId"] = self.turns.running.id
        return summary

    def pending(self) -> list[Json]:
        """What waits for the user: `[{kind, request}]`."""
        return [{"kind": "permission", "request": p.request} for p in self.host.permissions.of(self)]

    def changed(self) -> None:
        """Something of the summary changed: the next flush tells it."""
        self.host.audience.session_changed(self)

    # what a user does

    def prompt(
        self,
        prompt: Any,
        client_message_id: str | None = None,
        mode: str = "queue",
        turn_id: str | None = None,
    ) -> Json:
        """Take a prompt: `{turnId, queuedAt}`. Its turn starts after the caller has returned to the loop.

        Raises HostError badParam (empty or malformed), unsupported (a block or steering the agent cannot).
        """
        if self.closed:
            raise HostError("unknownSession", f"session {self.id} is closed", "start a new one")
        return self.turns.prompt(prompt, client_message_id, mode, turn_id)

    def cancel(self, turn_id: str | None = None, reason: str | None = None) -> bool:
        """Cancel the running turn, or take a queued one out; False if there is nothing to cancel."""
        return self.turns.cancel(turn_id, reason)

    def queue_action(self, action: str, turn_id: str | None = None, prompt: Any = None) -> Json:
        """`acp/session/queue`: list, edit, remove, sendNow, resume; returns the queue."""
        return self.turns.action(action, turn_id, prompt)

    async def wait_idle(self) -> Json | None:
        """Wait until no turn runs and none will start by itself; the last turn's `{turnId, stopReason,
        cancelled?, error?}` (cancelled true: by us, whatever the agent called it; error = `{kind, message,
        hint, detail}`), None if there was none."""
        return await self.turns.wait_idle()

    def close(self) -> None:
        """No more turns: what runs is cancelled, what waits is dropped."""
        self.turns.close()
        self.closed = True
        self.host.permissions.resolve_all(self, "cancel")

    async def set_config_option(self, config_id: str, value: Any) -> list[Json]:
        """Set one option; returns the whole list as the agent then has it."""
        if not any(option.get("id") == config_id for option in self.config_options):
            known = ", ".join(str(option.get("id")) for option in self.config_options) or "none"
            raise HostError("badParam", f"unknown option {config_id!r}", f"known: {known}", param="configId")
        agent, native_id = self.require()
        try:
            await agent.set_config_option(native_id, config_id, value)
        except AgentError as error:
            raise HostError.of_param(error, "value") from error
        return self.config_options

    def rename(self, title: str) -> None:
        """Give it a title that the agent's own no longer replaces."""
        self.title = one_line(title, 200)
        self._renamed = True
        self.changed()

    def export(self, format: str = "markdown") -> str:
        """The conversation as `markdown` or `json`, without secrets. Raises HostError badParam."""
        writers = {"markdown": export.as_markdown, "json": export.as_json}
        if format not in writers:
            raise HostError("badParam", f"unknown format {format!r}", "use markdown or json", param="format")
        return self.host.mask(writers[format](self.summary(), self.thread.entries()))

    # the agent behind it

    def live(self) -> tuple[Agent, str] | None:
        """The running agent that has this conversation and its own id of it; None if none has it now."""
        agent = self.runner.agent
        if agent is None or self.native_id is None or self.detached or self.closed:
            return None
        return agent, self.native_id

    async def _room(self) -> None:
        live = self.live()
        if live is not None:
            await live[0].room()

    def require(self) -> tuple[Agent, str]:
        """`live`, or HostError agentDied."""
        live = self.live()
        if live is None:
            raise HostError("agentDied", f"{self.runner.label} is not running", "send a prompt or restart it")
        return live

    async def attach(self) -> None:
        """Make sure that a running agent has this conversation. Raises HostError."""
        if not self.detached:
            return
        async with self._attaching:
            if not self.detached:
                return
            await self.runner.open(self)
            title = f"{self.runner.label} was started again"
            told = "It does not remember the conversation above."
            self.transcript.apply(Notice(severity="warning", title=title, description=told))
            self.changed()

    def opened(self, native_id: str) -> None:
        """The running agent has this conversation under its id `native_id`."""
        self.native_id = native_id
        self.detached = False

    def interrupt(self) -> None:
        """The bridge ends: a turn that runs is over, what waits is kept."""
        self.turns.interrupt()
        self.host.permissions.resolve_all(self, "exit")

    def lost(self, exit: Exit) -> None:
        """The agent is gone: end what runs, answer what waits, keep the thread."""
        self.detached = True
        self.host.permissions.resolve_all(self, "exit")
        self.turns.lost(exit)
        self.changed()

    def logged_in(self) -> None:
        """The user has logged in: a prompt that was refused for want of it is sent now."""
        self.turns.logged_in()

    # what the agent says

    def apply(self, event: AnyEvent) -> None:
        """Apply one event, in wire order."""
        handler = self._handlers.get(type(event))
        if handler is not None:
            handler(event)
        elif isinstance(event, Request):
            self._refuse(event)
        elif isinstance(event, Event):
            self.transcript.apply(event)

    def _set(self, name: str, value: Any) -> None:
        if getattr(self, name) != value:
            setattr(self, name, value)
            self.changed()

    def _usage(self, event: Usage) -> None:
        self._set("usage", usage_json(event, self.usage))

    def _session_info(self, event: SessionInfo) -> None:
        if event.native_session_id is not UNSET and event.native_session_id != self.native_id:
            self.runner.renamed(self, event.native_session_id)
        if event.title is not UNSET and not self._renamed:
            self._set("title", one_line(event.title, 200) if event.title else None)

    def _permission(self, event: PermissionRequest) -> None:
        turn = self.turns.running
        entry = None
        if event.tool_call is not None:
            entry = self.transcript.tool_call(event.tool_call)
        if turn is not None and turn.cancelled:
            event.reply.answer(CANCELLED)
            return
        if entry is None:
            entry = self.transcript.put("permission", {"title": one_line(event.title or "Permission")})
        request = request_of_agent(event, self, entry)

        def settle(outcome: Json, by: str) -> None:
            if by != "agent":
                event.reply.answer(outcome)

        self.ask(Pending(request, self, entry, settle))
        event.reply.on_cancel(lambda: self._withdrawn(request["requestId"], event))

    def _withdrawn(self, request_id: str, event: PermissionRequest) -> None:
        if self.host.permissions.resolve(request_id, CANCELLED, "agent"):
            event.reply.answer(CANCELLED)

    def ask(self, pending: Pending) -> None:
        """Show a permission request to every UI."""
        self.thread.patch(pending.entry, {"requestId": pending.id})
        self.host.permissions.add(pending)
        self.changed()
        self.host.audience.permission_requested(self, pending.request)

    def permission_resolved(self, pending: Pending, outcome: Json, by: str) -> None:
        """Called by Permissions once a request is settled."""
        entry = pending.entry
        if entry.id in self.thread and entry.kind == "permission":
            self.thread.patch(entry, {"outcome": outcome})
        elif entry.id in self.thread:
            others = [other.id for other in self.host.permissions.of(self) if other.entry is entry]
            self.thread.patch(entry, {"requestId": others[-1] if others else None})
        self.changed()
        self.host.audience.permission_resolved(self, pending.id, outcome, by)

    async def _serve(self, serve: Callable[[Any], Awaitable[None]], event: Request) -> None:
        """Serve a request in a task, until the agent takes it back; one that fails is answered too."""
        scope = anyio.CancelScope()
        event.reply.on_cancel(scope.cancel)
        try:
            with scope:
                if self.live() is not None:
                    await serve(event)
        finally:
            event.reply.fail(INTERNAL_ERROR, "the request could not be served")

    def _refuse(self, event: Request) -> None:
        method = event.method if isinstance(event, ExtensionRequest) else type(event).__name__
        event.reply.fail(METHOD_NOT_FOUND, f"{method} is not served by this client")
