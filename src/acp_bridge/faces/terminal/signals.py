"""Ctrl-C and termination, seen on the event loop: a turn is cancelled before anything is killed."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def signals_to(handle: Callable[[signal.Signals], None]) -> Iterator[None]:
    """Within the block SIGINT, SIGTERM and SIGHUP call `handle` on the running loop and do nothing else."""
    loop = asyncio.get_running_loop()
    names = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
    caught = [getattr(signal, name) for name in names if hasattr(signal, name)]

    def received(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(handle, signal.Signals(number))

    before = {number: signal.signal(number, received) for number in caught}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
