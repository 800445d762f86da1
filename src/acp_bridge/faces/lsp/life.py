"""When the language server ends: the editor's process, signals, and the exit status of each end.

`exit` after `shutdown` 0, `exit` without it 1 (LSP 3.17, Exit Notification); the end of the stream and a
signal give 0 after `shutdown`, else 1.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

POLL_SECONDS = 2.0


@contextmanager
def on_signals(end: Callable[[str], None]) -> Iterator[None]:
    """Call `end(name)` on SIGTERM, SIGHUP and SIGINT instead of dying in the middle."""
    if sys.platform == "win32":
        yield
        return
    loop = asyncio.get_running_loop()
    names = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    for number in names:
        loop.add_signal_handler(number, end, number.name)
    try:
        yield
    finally:
        for number in names:
            loop.remove_signal_handler(number)


async def parent_gone(pid: int) -> None:
    """Return when process `pid` has ended; never, where it is not visible from here."""
    if not _visible(pid):
        await asyncio.get_running_loop().create_future()
    if hasattr(os, "pidfd_open"):
        await _by_pidfd(pid)
        return
    await _by_polling(pid)


async def _by_polling(pid: int) -> None:
    while _visible(pid):  # noqa: ASYNC110 - a foreign process signals nothing
        await asyncio.sleep(POLL_SECONDS)


def _visible(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OSError):
        return True
    return True


async def _by_pidfd(pid: int) -> None:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    except OSError:
        await _by_polling(pid)
        return
    loop = asyncio.get_running_loop()
    gone = asyncio.Event()
    loop.add_reader(descriptor, gone.set)
    try:
        await gone.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
