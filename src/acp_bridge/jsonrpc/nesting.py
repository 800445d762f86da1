"""How deep a JSON text is nested, found without decoding it.

A decoder, an encoder and whoever walks a value recurse, each with a limit of its own that depends on the
stack it is called from: what one has read another may fail to write. So a message is judged at the door.
"""

from __future__ import annotations

import re

LIMIT = 200
"""Levels of lists and objects in one message; real ones have about ten."""

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)
_OPEN = b"[{"
_NO_BRACKET = bytes(set(range(256)) - set(b"[]{}"))


def too_deep(body: bytes, limit: int = LIMIT) -> bool:
    """Whether lists and objects stand in more than `limit` others. `body` is JSON, or nearly."""
    if body.count(b"{") + body.count(b"[") <= limit:
        return False
    depth = 0
    for bracket in _STRING.sub(b"", body).translate(None, _NO_BRACKET):
        depth += 1 if bracket in _OPEN else -1
        if depth > limit:
            return True
    return False
