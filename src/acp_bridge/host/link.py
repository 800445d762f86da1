"""What one launched agent talks to: the host as `agents.agent.Client`, cut when the agent is replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_bridge.agents.agent import Exit
from acp_bridge.agents.events import AnyEvent, Request
from acp_bridge.jsonrpc.messages import INVALID_PARAMS

if TYPE_CHECKING:
    from acp_bridge.host.runner import Runner


class Link:
    """Passes on what the agent says, until `cut`; after that a request is refused and the rest is nothing."""

    def __init__(self, runner: Runner) -> None:
        self._runner: Runner | None = runner

    def cut(self) -> None:
        self._runner = None

    def event(self, session_id: str | None, event: AnyEvent) -> None:
        if self._runner is not None:
            self._runner.event(session_id, event)
        elif isinstance(event, Request):
            event.reply.fail(INVALID_PARAMS, "this connection is closing")

    def flush(self) -> None:
        if self._runner is not None:
            self._runner.host.flush()

    def exited(self, exit: Exit) -> None:
        if self._runner is not None:
            self._runner.exited(exit)

    def wire(self, direction: str, raw: bytes) -> None:
        if self._runner is not None:
            self._runner.wire(direction, raw)

    @property
    def tracing(self) -> bool:
        return self._runner is not None and (
            self._runner.host.tracer is not None or bool(self._runner.followers)
        )
