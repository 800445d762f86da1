"""What a peer writes: framed bodies, gathered into one write while corked, large ones never copied.

`with outbox:` corks: what is sent inside leaves as one write at the end (as few as large bodies allow).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from acp_bridge.jsonrpc.framing import Framing

LARGE = 65536
"""From this size on (bytes) copying a body costs more than another write."""


class Outbox:
    """Frames bodies and hands them to `write`, in order; nothing more once closed."""

    def __init__(self, framing: Framing, write: Callable[[bytes], None]) -> None:
        self._framing = framing
        self._write = write
        self._corks = 0
        self._corked: list[bytes] = []
        self._closed = False

    def close(self) -> None:
        """Send nothing more; what is corked still leaves."""
        self._closed = True

    def send(self, body: bytes) -> None:
        """Send one body."""
        if not self._closed:
            self._put(self._framing.frame(body))

    def send_large(self, *parts: bytes) -> None:
        """Send one body that comes in parts, without joining them."""
        if self._closed:
            return
        with self:
            self._put(self._framing.head(sum(map(len, parts))))
            for part in (*parts, self._framing.tail):
                self._put(part)

    def __enter__(self) -> Self:
        self._corks += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._corks -= 1
        if not self._corks and self._corked:
            self._uncork()

    def _put(self, data: bytes) -> None:
        if self._corks:
            self._corked.append(data)
        else:
            self._write(data)

    def _uncork(self) -> None:
        parts, self._corked = self._corked, []
        if len(parts) > 1 and sum(map(len, parts)) <= LARGE:
            parts = [b"".join(parts)]
        for part in parts:
            if part:
                self._write(part)
