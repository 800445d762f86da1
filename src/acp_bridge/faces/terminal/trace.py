"""`--trace`: the raw line, the events made of it and the ops they became, side by side.

One JSON object a line: `{t, dir, raw, events, ops}`. `t` is RFC 3339 in UTC; `dir` is in (from the agent),
out, noise, stderr, or host (a change that no line of the agent's caused; `raw` is null). Secrets are masked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec

from acp_bridge.agents.events import AnyEvent
from acp_bridge.host.secrets import Masker
from acp_bridge.jsonrpc.messages import dumps

Json = dict[str, Any]


class Trace:
    """A host.host.Tracer. An incoming line is held back until what it became is known: at most until the
    loop has finished what it does now."""

    def __init__(self, write: Callable[[bytes], None], mask: Masker) -> None:
        self._write = write
        self._mask = mask
        self._open: Json | None = None

    def wire(self, agent_id: str, direction: str, raw: bytes) -> None:
        """One raw line."""
        self.flush()
        record = _record(direction, raw.decode("utf-8", "replace").rstrip("\r\n"))
        if direction == "in":
            self._hold(record)
        else:
            self._emit(record)

    def event(self, agent_id: str, event: AnyEvent) -> None:
        """One event made of the newest line."""
        self._current()["events"].append(event_json(event))

    def ops(self, message: Json) -> None:
        """The ops that the newest line became."""
        self._current()["ops"].extend(message["ops"])

    def flush(self) -> None:
        """Write what is held back."""
        if self._open is not None:
            self._emit(self._open)
            self._open = None

    def _current(self) -> Json:
        return self._open if self._open is not None else self._hold(_record("host", None))

    def _hold(self, record: Json) -> Json:
        self._open = record
        asyncio.get_running_loop().call_soon(self.flush)
        return record

    def _emit(self, record: Json) -> None:
        self._write(dumps(self._mask.json(record)) + b"\n")


def event_json(event: AnyEvent) -> Json:
    """An event as `{event: its class, …}`, without what it leaves unsaid."""
    told = {"event": type(event).__name__}
    for field in msgspec.structs.fields(event):
        value = getattr(event, field.name)
        if field.name != "reply" and value is not field.default:
            told[field.name] = msgspec.to_builtins(value)
    return told


def _record(direction: str, raw: str | None) -> Json:
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"t": now, "dir": direction, "raw": raw, "events": [], "ops": []}
