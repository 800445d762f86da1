"""Split a byte stream into messages: `Ndjson` (ACP) and `ContentLength` (LSP). No I/O."""

from __future__ import annotations

from typing import Protocol


class Framing(Protocol):
    """How messages lie in a byte stream."""

    def feed(self, data: bytes) -> list[bytes]:
        """Take what one read delivered; return the bodies it completes, in order."""
        ...

    def eof(self) -> bytes:
        """The stream ended: return what was left without an end (b"" if nothing)."""
        ...

    def frame(self, body: bytes) -> bytes:
        """Wrap one encoded message for writing."""
        ...
