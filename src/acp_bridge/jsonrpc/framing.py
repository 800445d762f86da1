"""Split a byte stream into messages: `Ndjson` (ACP) and `ContentLength` (LSP). No I/O.

Guarantees
- Any split of the stream gives the same bodies; the work is linear in the bytes, whatever the pieces.
- Nothing is too long, and nothing the other side writes raises.
- Lines may end in `\\n` or `\\r\\n`; blank lines are nothing.
- Text around Content-Length frames (a library that prints to stdout) is put into `junk`, and the next header
  is found behind it, even on the same line. Between NDJSON lines every line is a body: the peer judges it.
"""

from __future__ import annotations

import re
from typing import Protocol


class Framing(Protocol):
    """How messages lie in a byte stream."""

    junk: list[bytes]
    """What lay between the messages; whoever feeds empties it."""

    def feed(self, data: bytes) -> list[bytes]:
        """Take what one read delivered; return the bodies it completes, in order."""
        ...

    def eof(self) -> bytes:
        """The stream ended: return what was left without an end (b"" if nothing)."""
        ...

    tail: bytes
    """What follows a body."""

    def head(self, size: int) -> bytes:
        """What precedes a body of `size` bytes."""
        ...

    def frame(self, body: bytes) -> bytes:
        """Wrap one encoded message for writing: head, body, tail."""
        ...


LONGEST_LINE = 256 * 1024 * 1024
"""Bytes of one line that are kept; a longer one would be the end of the bridge, and is junk."""
_SHOWN = 200


class Ndjson:
    """One message a line; one longer than `longest` bytes is junk, and the next line counts again. A body
    that is written must hold no raw line end (compact JSON holds none)."""

    tail = b"\n"

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self.junk: list[bytes] = []
        self._tail = bytearray()
        self._longest = longest
        self._skipping = False

    def feed(self, data: bytes) -> list[bytes]:
        if self._skipping:
            end = data.find(b"\n")
            if end < 0:
                return []
            self._skipping = False
            data = data[end + 1 :]
        lines = data.split(b"\n")
        rest = lines.pop()
        if lines and self._tail:
            self._tail += lines[0]
            lines[0] = bytes(self._tail)
            self._tail = bytearray()
        if rest:
            self._tail += rest
            if len(self._tail) > self._longest:
                self.junk.append(bytes(self._tail[:_SHOWN]))
                self._tail = bytearray()
                self._skipping = True
        if b"\r" in data or (lines and lines[0].endswith(b"\r")):
            lines = [_without_cr(line) for line in lines]
        return [line for line in lines if line and not line.isspace()]

    def eof(self) -> bytes:
        rest, self._tail = bytes(self._tail), bytearray()
        return rest.strip()

    def head(self, size: int) -> bytes:
        return b""

    def frame(self, body: bytes) -> bytes:
        return body + b"\n"


def _without_cr(line: bytes) -> bytes:
    return line[:-1] if line.endswith(b"\r") else line


_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*(\d{1,10})[ \t]*$", re.IGNORECASE)
_OTHER_HEADER = re.compile(rb"content-type[ \t]*:", re.IGNORECASE)


class ContentLength:
    """Header lines, an empty line, then exactly as many bytes as `Content-Length` says (LSP)."""

    tail = b""

    def __init__(self) -> None:
        self.junk: list[bytes] = []
        self._tail = bytearray()
        self._announced = 0
        self._missing = 0

    def feed(self, data: bytes) -> list[bytes]:
        bodies: list[bytes] = []
        at = 0
        while at < len(data):
            at = self._body(data, at, bodies) if self._missing else self._header_line(data, at)
        return bodies

    def eof(self) -> bytes:
        rest, self._tail = bytes(self._tail), bytearray()
        self._announced = self._missing = 0
        return rest.strip()

    def head(self, size: int) -> bytes:
        return b"Content-Length: %d\r\n\r\n" % size

    def frame(self, body: bytes) -> bytes:
        return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)

    def _body(self, data: bytes, at: int, bodies: list[bytes]) -> int:
        piece = data[at : at + self._missing]
        self._missing -= len(piece)
        if self._missing:
            self._tail += piece
        elif self._tail:
            self._tail += piece
            bodies.append(bytes(self._tail))
            self._tail = bytearray()
        else:
            bodies.append(piece)
        return at + len(piece)

    def _header_line(self, data: bytes, at: int) -> int:
        end = data.find(b"\n", at)
        if end < 0:
            self._tail += data[at:]
            return len(data)
        line = data[at:end]
        if self._tail:
            self._tail += line
            line, self._tail = bytes(self._tail), bytearray()
        self._header(_without_cr(line))
        return end + 1

    def _header(self, line: bytes) -> None:
        if not line:
            self._missing, self._announced = self._announced, 0
            return
        found = _LENGTH.search(line)
        if found is not None:
            self._announced = int(found[1])
            line = line[: len(line) - len(found[0])]
        elif _OTHER_HEADER.match(line):
            return
        if line and not line.isspace():
            self.junk.append(line)
