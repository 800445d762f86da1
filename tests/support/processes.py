"""Real processes in tests: an owner that records, processes found again by a mark in their environment."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

MARK = "TEST_PROCESS_MARK"
PATIENCE = 30.0


class Recorder:
    """A ProcessOwner that writes down every callback, in order."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.output = b""
        self.lines: list[str] = []
        self.ends: list[tuple[int | None, str | None]] = []
        self._news = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.output += data
        self._note("data")

    def eof_received(self) -> None:
        self._note("eof")

    def drained(self) -> None:
        self._note("drained")

    def stderr_line(self, line: str) -> None:
        self.lines.append(line)
        self._note("line")

    def exited(self, code: int | None, signal: str | None) -> None:
        self.ends.append((code, signal))
        self._note("exited")

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until a callback has made `condition` true."""
        async with asyncio.timeout(PATIENCE):
            while not condition():
                self._news.clear()
                await self._news.wait()

    async def until_output(self, text: bytes) -> None:
        await self.until(lambda: text in self.output)

    def _note(self, call: str) -> None:
        if not self.calls or self.calls[-1] != call:
            self.calls.append(call)
        self._news.set()


def marked(mark: str) -> list[int]:
    """Process ids alive now whose environment holds MARK=mark."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def alive(pid: int) -> bool:
    """Whether the process exists and is no zombie."""
    try:
        stat = Path("/proc", str(pid), "stat").read_text()
    except OSError:
        return False
    return stat[stat.rindex(")") + 2] != "Z"


def wait_until(condition: Callable[[], object], limit: float = PATIENCE) -> None:
    """Look again and again (other processes send us no event) until `condition` is true."""
    end = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


async def wait_until_async(condition: Callable[[], object], limit: float = PATIENCE) -> None:
    """`wait_until` beside a running loop."""
    async with asyncio.timeout(limit):
        while not condition():
            await asyncio.sleep(0.02)


def end_marked(mark: str) -> None:
    """Clean up after a test, also a failed one."""
    for pid in marked(mark):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            continue
