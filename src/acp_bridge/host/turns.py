"""The turn queue of one session, without I/O: one turn at a time, later prompts wait in order.

Rules (docs/editor-protocol.md, `acp/session/prompt` and `acp/session/cancel`)
- A turn that ends other than `end_turn` holds what waits; `resume` lets it go on.
- A new prompt while held and idle runs at once; the held ones go on waiting.
- `send_now` runs one queued turn as soon as the running one has ended, held or not.
- A turn put back for want of a log-in is the head of a held queue.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import anyio

from acp_bridge.host.thread import Entry

Json = dict[str, Any]


@dataclass(slots=True, eq=False)
class Turn:
    """One prompt and what became of it. `entry`: its user entry, once it stands; `sent`: the agent has it;
    `start`: the scope of its way to the agent."""

    id: str
    blocks: list[Json]
    queued_at: str
    client_message_id: str | None = None
    entry: Entry | None = None
    sent: bool = False
    cancelled: bool = False
    start: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    def as_json(self) -> Json:
        """An item of `queue.items`."""
        item: Json = {"turnId": self.id, "blocks": self.blocks, "queuedAt": self.queued_at}
        if self.client_message_id is not None:
            item["clientMessageId"] = self.client_message_id
        return item


class TurnQueue:
    """What runs and what waits."""

    def __init__(self) -> None:
        self.running: Turn | None = None
        self.items: list[Turn] = []
        self.held = False
        self._jump: Turn | None = None

    def as_json(self) -> Json:
        """`{held, items}`."""
        return {"held": self.held, "items": [turn.as_json() for turn in self.waiting_turns()]}

    def waiting_turns(self) -> list[Turn]:
        """What waits, in the order in which it would run."""
        return [self._jump, *self.items] if self._jump is not None else list(self.items)

    @property
    def waiting(self) -> bool:
        """Whether a turn would start if the running one ended well."""
        return self._jump is not None or (bool(self.items) and not self.held)

    def add(self, turn: Turn) -> None:
        """Queue a new prompt."""
        if self.held and self.running is None and self._jump is None:
            self._jump = turn
        else:
            self.items.append(turn)

    def next(self) -> Turn | None:
        """Take the turn that may start now and count it as running; None if none may."""
        if self.running is not None:
            return None
        turn, self._jump = self._jump, None
        if turn is None and self.items and not self.held:
            turn = self.items.pop(0)
        self.running = turn
        return turn

    def finished(self, stop_reason: str) -> None:
        """The running turn has ended."""
        self.running = None
        if stop_reason != "end_turn":
            self.held = True
        self._settle()

    def put_back(self) -> None:
        """The running turn could not be done for want of a log-in: head of a held queue, behind those that
        wait for the same already."""
        if self.running is not None:
            earlier = sum(turn.entry is not None for turn in self.items)
            self.items.insert(earlier, self.running)
        self.running = None
        self.held = True

    def clear(self) -> list[Turn]:
        """Take everything out that waits."""
        waiting = self.waiting_turns()
        self._jump = None
        self.items.clear()
        self.held = False
        return waiting

    def resume(self) -> None:
        """Let what is held go on."""
        self.held = False

    def find(self, turn_id: str) -> Turn | None:
        """A waiting turn."""
        return next((turn for turn in self.waiting_turns() if turn.id == turn_id), None)

    def remove(self, turn_id: str) -> bool:
        """Take a waiting turn out; False if none has that id."""
        turn = self.find(turn_id)
        if turn is None:
            return False
        if turn is self._jump:
            self._jump = None
        else:
            self.items.remove(turn)
        self._settle()
        return True

    def send_now(self, turn: Turn) -> None:
        """Let a waiting turn be the next one, whatever holds the others."""
        if turn is self._jump:
            return
        self.items.remove(turn)
        if self._jump is not None:
            self.items.insert(0, self._jump)
        self._jump = turn

    def _settle(self) -> None:
        if not self.items:
            self.held = False
