"""The newest of what an agent prints on stderr: bounded, decoded, fit to be shown.

`StderrRing` does no I/O: bytes in (any split), finished lines out. It keeps at most LINES lines and BYTES
characters; a line longer than LINE characters is cut into pieces, so that no agent can make it grow.
"""

from __future__ import annotations

import re
from collections import deque

LINES = 1000
BYTES = 256 * 1024
LINE = 8 * 1024

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC, DCS, SOS, PM, APC: titles, links
    r"|[ -/]*[0-~])?"  # the two- and three-character ones, and a lone ESC
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def clean(raw: bytes) -> str:
    """One line as a person would see it: UTF-8 with replacement, no ANSI escapes or control characters, and
    of text overwritten by carriage returns the last state."""
    text = raw.decode("utf-8", "replace").rstrip("\r")
    if "\r" in text:
        text = text[text.rindex("\r") + 1 :]
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    return text if text.isprintable() else _CONTROLS.sub("", text)


class StderrRing:
    """Feed bytes, get finished lines; `tail` also shows the unfinished one."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque()
        self._size = 0
        self._partial = b""

    def feed(self, data: bytes) -> list[str]:
        """Take what one read delivered; return the lines it completes, in order."""
        *whole, self._partial = (self._partial + data).split(b"\n")
        lines = [clean(piece) for line in whole for piece in _pieces(line)]
        if len(self._partial) > LINE:
            *pieces, self._partial = _pieces(self._partial)
            lines += [clean(piece) for piece in pieces]
        self._keep(lines)
        return lines

    def end(self) -> list[str]:
        """The stream ended: return the line that was left without an end, if any."""
        if not self._partial:
            return []
        lines = [clean(self._partial)]
        self._partial = b""
        self._keep(lines)
        return lines

    def note(self, line: str) -> None:
        """Add a line of the bridge's own about this agent."""
        self._keep([line])

    def tail(self, lines: int) -> list[str]:
        """The newest `lines` lines, oldest first."""
        if lines <= 0:
            return []
        shown = list(self._lines)
        if self._partial:
            shown.append(clean(self._partial))
        return shown[-lines:]

    def _keep(self, lines: list[str]) -> None:
        self._lines.extend(lines)
        self._size += sum(map(len, lines))
        while len(self._lines) > LINES or self._size > BYTES:
            self._size -= len(self._lines.popleft())


def _pieces(line: bytes) -> list[bytes]:
    if len(line) <= LINE:
        return [line]
    return [line[start : start + LINE] for start in range(0, len(line), LINE)]
