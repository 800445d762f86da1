"""How a turn ends for the shell: one table from stop reasons and error kinds to exit statuses.

0 end_turn · 1 the agent failed or died · 2 usage or configuration · 3 refusal, max_tokens or
max_turn_requests · 4 authentication required · 130 cancelled, whoever cancelled. A stop reason that is in
no table gives 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from acp_bridge.host.errors import HostError

Json = dict[str, Any]

OK = 0
FAILED = 1
USAGE = 2
STOPPED = 3
AUTHENTICATION = 4
CANCELLED = 130
TERMINATED = 143

_STOP_REASONS = {
    "end_turn": OK,
    "refusal": STOPPED,
    "max_tokens": STOPPED,
    "max_turn_requests": STOPPED,
    "cancelled": CANCELLED,
}
_KINDS = {
    "authRequired": AUTHENTICATION,
    "agentUnavailable": USAGE,
    "badParam": USAGE,
    "config": USAGE,
    "notFound": USAGE,
    "unknownAgent": USAGE,
    "unknownSession": USAGE,
    "unsupported": USAGE,
    "untrusted": USAGE,
    "cancelled": CANCELLED,
}


@dataclass(frozen=True, slots=True)
class Ended:
    """The turn ended with a stop reason; `tokens` as in the thread's `stop` entry. `cancelled`: we ended it,
    whatever the agent called that."""

    stop_reason: str
    tokens: Json | None = None
    cancelled: bool = False

    @property
    def status(self) -> int:
        if self.cancelled:
            return CANCELLED
        return _STOP_REASONS.get(self.stop_reason, FAILED)

    def as_event(self) -> Json:
        """The last line of `run --json`."""
        event: Json = {"event": "end", "stopReason": self.stop_reason}
        if self.tokens:
            event["tokens"] = self.tokens
        return event


@dataclass(frozen=True, slots=True)
class Failed:
    """The turn did not happen or failed; `kind` is a word of the editor protocol."""

    kind: str
    message: str
    hint: str = ""
    detail: str = ""

    @property
    def status(self) -> int:
        return _KINDS.get(self.kind, FAILED)

    def as_event(self) -> Json:
        """The last line of `run --json`; `code` is the kind."""
        error: Json = {"code": self.kind, "message": self.message, "hint": self.hint}
        if self.detail:
            error["detail"] = self.detail
        return {"event": "error", "error": error}

    @classmethod
    def of(cls, error: HostError) -> Failed:
        return cls(error.kind, error.message, error.hint, error.detail)


Outcome = Ended | Failed
