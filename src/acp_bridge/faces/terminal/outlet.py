"""stdout and stderr of a running turn, written by one thread: a reader that stalls never blocks the loop.

One queue for both keeps their order on a shared terminal. A broken stdout is reported once, a broken stderr
is ignored. `fd` numbers are the caller's; they are not closed here.
"""

from __future__ import annotations

import asyncio
import io
import os
import select
import stat
import sys
import threading
from collections import deque
from collections.abc import Callable

HIGH_WATER = 1 << 20
LOW_WATER = 1 << 16


class Outlet:
    """Made and used on the event loop; `broken` and `drained` are called there."""

    def __init__(self, stdout: int, broken: Callable[[], None], drained: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._stdout = stdout
        self._broken = broken
        self._drained = drained
        self._queue: deque[tuple[int, bytes]] = deque()
        self._ready = threading.Condition()
        self._dead: set[int] = set()
        self._unsent = 0
        self._congested = False
        self._idle = asyncio.Event()
        self._idle.set()
        self._closed = False
        self._watched = self._watch(stdout)
        self._thread = threading.Thread(target=self._work, name="outlet", daemon=True)
        self._thread.start()

    @property
    def congested(self) -> bool:
        """True from the moment more than `HIGH_WATER` bytes wait until fewer than `LOW_WATER` do."""
        return self._congested

    def write(self, fd: int, data: bytes) -> None:
        """Queue `data`; dropped once `fd` is broken."""
        if not data or fd in self._dead:
            return
        with self._ready:
            self._queue.append((fd, data))
            self._unsent += len(data)
            self._congested = self._congested or self._unsent > HIGH_WATER
            self._ready.notify()
        self._idle.clear()

    async def flushed(self) -> None:
        """Return when everything written so far is out or its reader is gone."""
        while self._unsent:
            self._idle.clear()
            if self._unsent:
                await self._idle.wait()

    def _watch(self, fd: int) -> bool:
        """Notice a reader that goes away even while there is nothing to write. Only a pipe can tell."""
        if sys.platform != "linux" or not stat.S_ISFIFO(os.fstat(fd).st_mode):
            return False
        self._loop.add_reader(fd, self._break, fd)
        return True

    def _break(self, fd: int) -> None:
        self._dead.add(fd)
        if fd != self._stdout:
            return
        if self._watched:
            self._loop.remove_reader(fd)
            self._watched = False
        self._broken()

    def close(self) -> None:
        """Let the thread end once the queue is empty; does not wait for it."""
        if self._watched:
            self._loop.remove_reader(self._stdout)
        with self._ready:
            self._closed = True
            self._ready.notify()

    def file(self, fd: int) -> OutletFile:
        """A text file for libraries (Rich) that writes to `fd` through this outlet."""
        return OutletFile(self, fd)

    def _work(self) -> None:
        while True:
            with self._ready:
                while not self._queue and not self._closed:
                    self._ready.wait()
                if not self._queue:
                    return
                fd, data = self._queue.popleft()
            alive = fd in self._dead or _write_all(fd, data)
            self._tell(self._sent, fd, len(data), alive)

    def _tell(self, call: Callable[[int, int, bool], None], fd: int, size: int, alive: bool) -> None:
        try:
            self._loop.call_soon_threadsafe(call, fd, size, alive)
        except RuntimeError:
            self._closed = True

    def _sent(self, fd: int, size: int, alive: bool) -> None:
        with self._ready:
            self._unsent -= size
        if not alive and fd not in self._dead:
            self._break(fd)
        if not self._unsent:
            self._idle.set()
        if self._congested and self._unsent < LOW_WATER:
            self._congested = False
            self._drained()


def _write_all(fd: int, data: bytes) -> bool:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:
            select.select([], [fd], [])
        except OSError:
            return False
    return True


class OutletFile(io.TextIOBase):
    """The write side of a text file over an `Outlet`, always UTF-8."""

    encoding = "utf-8"

    def __init__(self, outlet: Outlet, fd: int) -> None:
        super().__init__()
        self._outlet = outlet
        self._fd = fd

    def write(self, text: str) -> int:
        self._outlet.write(self._fd, text.encode("utf-8", "replace"))
        return len(text)

    def put(self, text: str) -> None:
        """`write` for those who want no answer."""
        self.write(text)

    def isatty(self) -> bool:
        return os.isatty(self._fd)

    def writable(self) -> bool:
        return True
