"""Make bytes valid UTF-8: msgspec.Raw does not check what it skips, so the peer does, once a message."""

from __future__ import annotations

import codecs

_PIECE = 1 << 20
"""A long message is checked in pieces: its text as Python characters would take up to four times its size."""


def valid_utf8(body: bytes) -> bytes:
    """`body` itself if it is valid UTF-8, else a copy with U+FFFD for each malformed part."""
    try:
        if len(body) <= _PIECE:
            body.decode()
        else:
            decoder = codecs.getincrementaldecoder("utf-8")()
            for at in range(0, len(body), _PIECE):
                decoder.decode(body[at : at + _PIECE])
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return body.decode("utf-8", "replace").encode()
    return body
