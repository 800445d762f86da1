"""The `threads` transport backend: one thread that reads, one that writes, both blocking. For what an event
loop cannot watch: Windows pipes, regular files, terminals.

Guarantees those of `transport`, and
- A thread closes its own descriptor, so that no other thread can read or write a number that was given away.
- `close` returns at once. A thread that is blocked in the system then ends with the other side's next move
  (its data, its end); both are daemons, so that neither keeps the process alive.
- At most `_READS_AHEAD` reads wait for the loop: a fast writer is slowed down, not buffered.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections import deque
from collections.abc import Callable

from acp_bridge.jsonrpc.transport import READ_SIZE, Receiver, end_of_writing

_READS_AHEAD = 4


class ThreadTransport:
    """See `transport.Transport`."""

    def __init__(
        self, read_fd: int | None, write_fd: int | None, receiver: Receiver, high_water: int
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._receiver = receiver
        self._high = high_water
        self._low = high_water // 4
        self._closed = False
        self._paused = False
        self._held: deque[bytes] = deque()
        self._reads = threading.Semaphore(_READS_AHEAD)
        self._queue: deque[bytes] = deque()
        self._unsent = 0
        self._congested = False
        self._ending = write_fd is None
        self._changed = threading.Condition()
        self._waiters: list[asyncio.Future[None]] = []
        for fd in (read_fd, write_fd):
            if fd is not None:
                _make_blocking(fd)
        if read_fd is not None:
            self._start(self._read_all, read_fd)
        if write_fd is not None:
            self._start(self._write_all, write_fd)

    @property
    def unsent(self) -> int:
        return self._unsent

    @property
    def congested(self) -> bool:
        return self._congested

    def write(self, data: bytes) -> None:
        with self._changed:
            if self._ending or not data:
                return
            self._queue.append(data)
            self._unsent += len(data)
            if self._unsent > self._high:
                self._congested = True
            self._changed.notify()

    def pause_reading(self) -> None:
        self._paused = True

    def resume_reading(self) -> None:
        if self._paused:
            self._paused = False
            self._loop.call_soon(self._deliver)

    def close_write(self) -> None:
        with self._changed:
            self._ending = True
            self._changed.notify()

    async def flushed(self) -> None:
        waiter: asyncio.Future[None] = self._loop.create_future()
        with self._changed:
            if not self._unsent:
                return
            self._waiters.append(waiter)
        await waiter

    def close(self) -> None:
        with self._changed:
            self._closed = self._ending = True
            self._congested = False
            self._forget_queue()
            self._changed.notify()
        self._held.clear()
        self._reads.release()
        self._wake()

    @staticmethod
    def _start(run: Callable[[int], None], fd: int) -> None:
        threading.Thread(target=run, args=(fd,), name=f"jsonrpc-fd-{fd}", daemon=True).start()

    def _read_all(self, fd: int) -> None:
        try:
            while True:
                self._reads.acquire()
                if self._closed:
                    return
                data = _read(fd)
                if not self._post(self._arrived, data) or not data:
                    return
        finally:
            os.close(fd)

    def _write_all(self, fd: int) -> None:
        try:
            while piece := self._next_piece():
                self._write_piece(fd, memoryview(piece))
        except OSError:
            pass
        finally:
            end_of_writing(fd)
            with self._changed:
                self._ending = True
                self._forget_queue()
            self._post(self._progress)

    def _next_piece(self) -> bytes:
        """Wait for something to write: b"" at the end. Small pieces are joined up to one write's worth."""
        with self._changed:
            while not self._queue and not self._ending:
                self._changed.wait()
            if not self._queue:
                return b""
            parts = [self._queue.popleft()]
            size = len(parts[0])
            while self._queue and size + len(self._queue[0]) <= READ_SIZE:
                parts.append(self._queue.popleft())
                size += len(parts[-1])
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _write_piece(self, fd: int, piece: memoryview) -> None:
        while piece and not self._closed:
            sent = os.write(fd, piece[:READ_SIZE])
            piece = piece[sent:]
            with self._changed:
                if self._closed:
                    return
                self._unsent -= sent
                awaited = self._congested and self._unsent <= self._low
                awaited = awaited or (not self._unsent and bool(self._waiters))
            if awaited:
                self._post(self._progress)

    def _post(self, callback: Callable[..., None], *arguments: bytes) -> bool:
        """Run it on the loop; False once the loop is gone."""
        try:
            self._loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:
            return False
        return True

    def _arrived(self, data: bytes) -> None:
        self._held.append(data)
        self._deliver()

    def _deliver(self) -> None:
        """One read a call, so that a receiver that raises does not lose the next."""
        if self._paused or self._closed or not self._held:
            return
        data = self._held.popleft()
        if self._held:
            self._loop.call_soon(self._deliver)
        self._reads.release()
        if data:
            self._receiver.data_received(data)
        else:
            self._receiver.eof_received()

    def _progress(self) -> None:
        with self._changed:
            drained = self._congested and self._unsent <= self._low
            if drained:
                self._congested = False
            empty = not self._unsent
        if empty:
            self._wake()
        if drained:
            self._receiver.drained()

    def _forget_queue(self) -> None:
        self._queue.clear()
        self._unsent = 0

    def _wake(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, READ_SIZE)
    except OSError:
        return b""


def _make_blocking(fd: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(fd, os.O_BINARY)
    else:
        os.set_blocking(fd, True)
