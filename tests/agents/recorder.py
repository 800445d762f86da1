"""A `Client` for tests: keeps events in order, answers requests by rule, lets a test wait for a state."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from acp_bridge.agents.agent import Exit
from acp_bridge.agents.events import (
    AnyEvent,
    MessageChunk,
    PermissionRequest,
    ReadFile,
    Request,
    TurnState,
    WriteFile,
)

E = TypeVar("E")
PATIENCE = 60.0


class Recorder:
    """`files` serve reads and take writes; `permission` chooses an option id or "cancelled", or is None to
    leave requests open (they wait in `open_requests`)."""

    def __init__(self, *, permission: str | None = "allow", tracing: bool = False) -> None:
        self.events: list[tuple[str | None, AnyEvent]] = []
        self.files: dict[str, str] = {}
        self.permission = permission
        self.open_requests: list[Request] = []
        self.flushes = 0
        self.exit: Exit | None = None
        self.traced: list[tuple[str, bytes]] = []
        self.tracing = tracing
        self.on_event: Callable[[AnyEvent], None] = lambda event: None
        self._changed = asyncio.Event()

    def event(self, session_id: str | None, event: AnyEvent) -> None:
        self.events.append((session_id, event))
        self.on_event(event)
        if isinstance(event, Request):
            self._serve(event)
        self._changed.set()

    def flush(self) -> None:
        self.flushes += 1

    def exited(self, exit: Exit) -> None:
        self.exit = exit
        self._changed.set()

    def wire(self, direction: str, raw: bytes) -> None:
        self.traced.append((direction, raw))

    def _serve(self, request: Request) -> None:
        if isinstance(request, ReadFile):
            if request.path in self.files:
                request.reply.answer(self.files[request.path])
            else:
                request.reply.fail(-32002, f"{request.path} does not exist")
        elif isinstance(request, WriteFile):
            self.files[request.path] = request.content
            request.reply.answer(None)
        elif isinstance(request, PermissionRequest) and self.permission is not None:
            outcome = {"outcome": "cancelled"}
            if self.permission != "cancelled":
                outcome = {"outcome": "selected", "optionId": self.permission}
            request.reply.answer(outcome)
        else:
            self.open_requests.append(request)

    def of(self, kind: type[E], session_id: str | None = None) -> list[E]:
        """Every event of one kind, in order."""
        return [e for sid, e in self.events if isinstance(e, kind) and session_id in (None, sid)]

    def text(self, session_id: str | None = None) -> str:
        """All the agent's message text."""
        return "".join(c.text for c in self.of(MessageChunk, session_id) if c.role == "agent")

    async def until(self, true: Callable[[], Any]) -> None:
        """Wait until `true()` holds; it is asked again after every event."""
        async with asyncio.timeout(PATIENCE):
            while not true():
                self._changed.clear()
                await self._changed.wait()

    async def idle(self, turns: int = 1) -> TurnState:
        """Wait for the end of the `turns`-th turn."""

        def ends() -> list[TurnState]:
            return [state for state in self.of(TurnState) if state.state == "idle"]

        await self.until(lambda: len(ends()) >= turns)
        return ends()[turns - 1]
