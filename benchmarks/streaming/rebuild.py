"""What an editor read, put together again: the judge of every run.

The text of the agent's messages is rebuilt from the frames alone and must be exactly what the agent sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def frames(data: bytes) -> Iterator[Any]:
    """The decoded bodies of a stream of Content-Length frames."""
    at = 0
    while at < len(data):
        head = data.index(b"\r\n\r\n", at)
        fields = data[at:head].split(b"\r\n")
        size = int(next(f for f in fields if f.lower().startswith(b"content-length")).split(b":")[1])
        at = head + 4 + size
        if at > len(data):
            return
        yield json.loads(data[head + 4 : at])


def text_of(data: bytes) -> str:
    """The agent's text, from thread ops (ours) or from raw updates (sdk, relay)."""
    parts: list[str] = []
    rev = None
    for message in frames(data):
        params = message.get("params") or {}
        if message.get("method") == "acp/thread/changed":
            assert rev in (None, params["fromRev"]), f"a gap: {rev} then {params['fromRev']}"
            rev = params["rev"]
            parts += _of_ops(params["ops"])
        elif "update" in params:
            parts.append(params["update"]["content"]["text"])
    return "".join(parts)


def _of_ops(ops: list[dict[str, Any]]) -> Iterator[str]:
    for op in ops:
        if op["op"] == "append":
            yield op["text"]
        elif op["op"] == "put" and op["entry"]["kind"] == "agent":
            yield op["entry"]["text"]


def check(received: Path, sent: Path) -> int:
    """Raises AssertionError unless the text is the same; returns its size in bytes."""
    expected = sent.read_text()
    text = text_of(received.read_bytes())
    assert text == expected, f"received {len(text)} characters, sent {len(expected)}: the text differs"
    return len(expected.encode())
