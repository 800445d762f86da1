"""Move bytes between a pair of file descriptors and a receiver, without ever blocking the loop.

Two backends behind one interface: `asyncio` protocol callbacks (default) and `threads` (Windows pipes,
regular files). Chosen by `open_fds(..., backend=)` or the environment variable ACP_BRIDGE_IO.
"""

from __future__ import annotations

from typing import Literal, Protocol

Backend = Literal["asyncio", "threads"]


class Receiver(Protocol):
    """Who gets what a transport reads. Called on the event loop."""

    def data_received(self, data: bytes) -> None: ...
    def eof_received(self) -> None: ...
    def drained(self) -> None:
        """The write buffer fell below the low-water mark after it was above the high-water mark."""
        ...


class Transport(Protocol):
    """One full-duplex byte stream."""

    @property
    def unsent(self) -> int:
        """Bytes written and not yet taken by the operating system."""
        ...

    @property
    def congested(self) -> bool:
        """True from the moment `unsent` passes the high-water mark until it is below the low one."""
        ...

    def write(self, data: bytes) -> None:
        """Queue bytes; never blocks; silently dropped once the stream is closed."""
        ...

    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...
    def close_write(self) -> None:
        """Flush what is queued, then close the writing side (the reader sees EOF)."""
        ...

    async def flushed(self) -> None:
        """Wait until `unsent` is 0 or the stream is gone."""
        ...

    def close(self) -> None:
        """Drop both sides now."""
        ...
