"""Lines a person types in answer to a question, read on the event loop.

What was typed before the question is thrown away: nobody answers a permission without having read it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

try:
    import termios
except ImportError:
    termios = None  # type: ignore[assignment]


class Keyboard:
    """A terminal to read from; `fd` stays open."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._loop = asyncio.get_running_loop()
        self._asking = False

    @classmethod
    def of_stdin(cls) -> Keyboard | None:
        """The terminal on stdin; None if stdin is none, or cannot be waited for (Windows)."""
        try:
            return cls(0) if termios is not None and os.isatty(0) else None
        except OSError:
            return None

    def ask(self, answered: Callable[[str | None], None]) -> None:
        """Call `answered` with each line typed from now on (None at end of input), until `stop`."""
        self.stop()
        termios.tcflush(self._fd, termios.TCIFLUSH)
        self._asking = True
        self._loop.add_reader(self._fd, self._read, answered)

    def stop(self) -> None:
        """Listen no more."""
        if self._asking:
            self._loop.remove_reader(self._fd)
            self._asking = False

    def _read(self, answered: Callable[[str | None], None]) -> None:
        try:
            line = os.read(self._fd, 4096)
        except OSError:
            line = b""
        if not line:
            self.stop()
        answered(line.decode("utf-8", "replace") if line else None)
