"""Find what a test left running, by a marker in the environment: /proc alone, no names, no guesses."""

from __future__ import annotations

import asyncio
import os
import time
import uuid
from pathlib import Path

MARKER = "ACP_BRIDGE_TEST_MARKER"


def mark(environ: dict[str, str] | None = None) -> tuple[str, dict[str, str]]:
    """A fresh marker and an environment that carries it (children inherit it)."""
    marker = uuid.uuid4().hex
    return marker, {**(os.environ if environ is None else environ), MARKER: marker}


def marked(marker: str) -> dict[int, str]:
    """Every living process that carries the marker: pid to command line. Zombies do not count."""
    wanted = f"{MARKER}={marker}".encode()
    found: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
    return found


async def until_gone(marker: str, timeout: float = 15.0) -> None:
    """Wait until no process carries the marker; AssertionError naming those left (which are then killed)."""
    end = time.monotonic() + timeout
    while left := marked(marker):
        if time.monotonic() > end:
            for pid in left:
                os.kill(pid, 9)
            raise AssertionError(f"still running after {timeout} s: {left}")
        await asyncio.sleep(0.05)
