"""`run --json`: one JSON object a line, and nothing else. No I/O: lines go to the function it is given.

session · ops (as in `acp/thread/changed`) · permission · log · and last end or error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from acp_bridge.faces.terminal.screen import Screen
from acp_bridge.faces.terminal.status import Outcome
from acp_bridge.jsonrpc.messages import dumps

Json = dict[str, Any]
_LOGGED = ("stderr", "noise")


class JsonLines:
    """A printer like `Screen`, for programs; what only a person can answer goes to the `person`'s screen."""

    def __init__(self, out: Callable[[bytes], None], person: Screen) -> None:
        self._out = out
        self._person = person

    def session(self, summary: Json) -> None:
        self._line({"event": "session", **summary})

    def ops(self, message: Json) -> None:
        told = {key: message[key] for key in ("epoch", "fromRev", "rev", "ops")}
        self._line({"event": "ops", **told})

    def permission_requested(self, request: Json, asked: bool) -> None:
        if asked:
            self._person.permission_requested(request, asked)

    def permission_resolved(self, request: Json, outcome: Json, by: str, why: str) -> None:
        self._line({"event": "permission", "request": request, "outcome": outcome, "by": by})

    def note(self, text: str) -> None:
        self._person.note(text)

    def question(self, text: str) -> None:
        self._person.question(text)

    def answered(self) -> None:
        self._person.answered()

    def progress(self, percent: float | None, message: str | None) -> None:
        """Changes no entry, and has no event of its own."""

    def log(self, agent: str, stream: str, text: str) -> None:
        if stream in _LOGGED:
            self._line({"event": "log", "stream": stream, "text": text})
        else:
            self._person.log(agent, stream, text)

    def end(self, outcome: Outcome) -> None:
        self._line(outcome.as_event())

    def _line(self, event: Json) -> None:
        self._out(dumps(event) + b"\n")
