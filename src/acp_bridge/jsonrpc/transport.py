"""Move bytes between a pair of file descriptors and a receiver, without ever blocking the loop.

Two backends behind one interface: `asyncio` (non-blocking descriptors watched by the loop, this module)
and `threads` (module `threads`: Windows pipes, regular files, terminals). Chosen by `open_fds(..., backend=)`
or the environment variable ACP_BRIDGE_IO; what the loop cannot watch goes to threads by itself.

Guarantees
- The transport owns the descriptors it was given and closes them.
- `data_received` and `drained` are called on the loop, never from within `write`; after `eof_received`, which
  comes once, nothing more is received. `close` by our side is silent: nothing is called after it.
- Bytes leave in the order they were written, all of them unless the reader is gone or `close` is called.
- A reader that went away (EPIPE) drops what is queued and what is still written, and frees whoever waits.
"""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections import deque
from itertools import islice
from typing import Literal, Protocol

Backend = Literal["asyncio", "threads"]

READ_SIZE = 65536
"""Bytes a read: what a Linux pipe holds. More costs CPU on large lines and gains nothing."""

HIGH_WATER = 262144
"""Unsent bytes above which a stream counts as congested, until a quarter of them is left."""

_GATHER = 64
"""Queued pieces handed to one writev."""


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


async def open_fds(
    read_fd: int | None,
    write_fd: int | None,
    receiver: Receiver,
    *,
    backend: Backend | None = None,
    high_water: int = HIGH_WATER,
) -> Transport:
    """Take over a pair of descriptors (both may be one socket; None leaves a side out).

    Nothing is called before this returns. Raises ValueError for an unknown ACP_BRIDGE_IO, OSError for a
    descriptor that is not open.
    """
    chosen = backend or _backend_from_environment()
    if write_fd is not None and write_fd == read_fd:
        write_fd = os.dup(write_fd)
    if chosen == "asyncio" and all(_watchable(fd) for fd in (read_fd, write_fd) if fd is not None):
        return _LoopTransport(read_fd, write_fd, receiver, high_water)
    from acp_bridge.jsonrpc.threads import ThreadTransport

    return ThreadTransport(read_fd, write_fd, receiver, high_water)


def _backend_from_environment() -> Backend:
    wanted = os.environ.get("ACP_BRIDGE_IO", "")
    if wanted in ("", "asyncio"):
        return "asyncio"
    if wanted == "threads":
        return "threads"
    raise ValueError(f"ACP_BRIDGE_IO is {wanted!r}; set it to asyncio or threads, or leave it out")


def _watchable(fd: int) -> bool:
    """Whether an event loop can watch it. A terminal it could, but O_NONBLOCK would then hold for every
    program on that terminal, our own stderr included."""
    mode = os.fstat(fd).st_mode
    return sys.platform != "win32" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))


def end_of_writing(fd: int) -> None:
    """Close the writing side so that the reader sees EOF, on a socket whose reading side stays open too."""
    if sys.platform != "win32" and stat.S_ISSOCK(os.fstat(fd).st_mode):
        import socket

        with socket.socket(fileno=fd) as connection:
            try:
                connection.shutdown(socket.SHUT_WR)
            except OSError:
                return
        return
    os.close(fd)


class _LoopTransport:
    """The `asyncio` backend: write at once what fits, queue the rest, let the loop say when to go on."""

    def __init__(
        self, read_fd: int | None, write_fd: int | None, receiver: Receiver, high_water: int
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._receiver = receiver
        self._high = high_water
        self._low = high_water // 4
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._was_blocking = {fd: os.get_blocking(fd) for fd in (read_fd, write_fd) if fd is not None}
        self._paused = False
        self._queue: deque[memoryview] = deque()
        self._unsent = 0
        self._congested = False
        self._ending = False
        self._waiters: list[asyncio.Future[None]] = []
        for fd in self._was_blocking:
            os.set_blocking(fd, False)
        if read_fd is not None:
            self._loop.add_reader(read_fd, self._readable)

    @property
    def unsent(self) -> int:
        return self._unsent

    @property
    def congested(self) -> bool:
        return self._congested

    def write(self, data: bytes) -> None:
        fd = self._write_fd
        if fd is None or self._ending or not data:
            return
        sent = 0
        if not self._queue:
            try:
                sent = os.write(fd, data)
            except (BlockingIOError, InterruptedError):
                pass
            except OSError:
                self._loop.call_soon(self._drop_writing)
                self._ending = True
                return
            if sent == len(data):
                return
            self._loop.add_writer(fd, self._writable)
        self._queue.append(memoryview(data)[sent:])
        self._unsent += len(data) - sent
        if self._unsent > self._high:
            self._congested = True

    def pause_reading(self) -> None:
        if self._read_fd is not None and not self._paused:
            self._loop.remove_reader(self._read_fd)
        self._paused = True

    def resume_reading(self) -> None:
        if self._read_fd is not None and self._paused:
            self._loop.add_reader(self._read_fd, self._readable)
        self._paused = False

    def close_write(self) -> None:
        self._ending = True
        if not self._queue:
            self._drop_writing()

    async def flushed(self) -> None:
        if not self._unsent:
            return
        waiter: asyncio.Future[None] = self._loop.create_future()
        self._waiters.append(waiter)
        await waiter

    def close(self) -> None:
        self._congested = False
        self._drop_reading()
        self._drop_writing()

    def _readable(self) -> None:
        fd = self._read_fd
        if fd is None:
            return
        try:
            data = os.read(fd, READ_SIZE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if data:
            self._receiver.data_received(data)
            return
        self._drop_reading()
        self._receiver.eof_received()

    def _writable(self) -> None:
        fd = self._write_fd
        if fd is None:
            return
        try:
            sent = os.writev(fd, list(islice(self._queue, _GATHER)))
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self._drop_writing()
            return
        self._unsent -= sent
        while sent:
            piece = self._queue[0]
            if sent < len(piece):
                self._queue[0] = piece[sent:]
                break
            sent -= len(piece)
            self._queue.popleft()
        self._written(fd)

    def _written(self, fd: int) -> None:
        if not self._queue:
            self._loop.remove_writer(fd)
            self._wake()
            if self._ending:
                self._drop_writing()
        if self._congested and self._unsent <= self._low:
            self._congested = False
            self._receiver.drained()

    def _drop_reading(self) -> None:
        fd, self._read_fd = self._read_fd, None
        if fd is None:
            return
        self._loop.remove_reader(fd)
        self._restore_blocking(fd)
        os.close(fd)

    def _drop_writing(self) -> None:
        """Also after EPIPE: whoever held back because of congestion must hear that it is over."""
        fd, self._write_fd = self._write_fd, None
        if fd is None:
            return
        self._loop.remove_writer(fd)
        self._restore_blocking(fd)
        end_of_writing(fd)
        self._queue.clear()
        self._unsent = 0
        self._wake()
        if self._congested:
            self._congested = False
            self._receiver.drained()

    def _restore_blocking(self, fd: int) -> None:
        """O_NONBLOCK belongs to the open file, which other processes may share."""
        if self._was_blocking[fd]:
            os.set_blocking(fd, True)

    def _wake(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)
