"""The hot path: text chunks of one read become one event a run, less than a microsecond a chunk.

`ChunkRun.take(line)` decodes exactly the shape a streamed text chunk has, with a strict typed decoder, and
says False to everything else, which then takes the tolerant way (`updates`). `take_all(lines)` does the same
for a read that is nothing but chunks, with one call of the decoder. Consecutive chunks of the same
session, kind, message id and parent are joined; `flush` emits what has gathered and must be called before
anything else of the connection is handled. A high surrogate at the end of a run (JavaScript agents cut an
emoji in two) waits for its other half.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Literal

import msgspec
from msgspec import Struct

from acp_bridge.agents.acp.tools import parent_hint
from acp_bridge.agents.events import AnyEvent, MessageChunk, ThoughtChunk

_MARK = b'_chunk"'
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


class _Text(Struct, tag_field="type", tag="text", forbid_unknown_fields=True, gc=False):
    text: str


class _Chunk(Struct, forbid_unknown_fields=True, gc=False):
    kind: Literal["agent_message_chunk", "agent_thought_chunk", "user_message_chunk"] = msgspec.field(
        name="sessionUpdate"
    )
    content: _Text
    message_id: str | None = msgspec.field(default=None, name="messageId")
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class _Params(Struct, forbid_unknown_fields=True, gc=False):
    session_id: str = msgspec.field(name="sessionId")
    update: _Chunk


class _Line(Struct, forbid_unknown_fields=True, gc=False):
    method: Literal["session/update"]
    params: _Params
    jsonrpc: str = "2.0"


class ChunkRun:
    """Gathers consecutive text chunks. `emit(session_id, event)` gets each finished run."""

    def __init__(self, emit: Callable[[str, AnyEvent], None]) -> None:
        self._emit = emit
        self._decode = msgspec.json.Decoder(_Line).decode
        self._decode_all = msgspec.json.Decoder(list[_Line]).decode
        self._key: tuple[str, str, str | None, str | None] | None = None
        self._texts: list[str] = []

    def take(self, line: bytes) -> bool:
        """Consume `line` if it is a plain text chunk."""
        if _MARK not in line:
            return False
        try:
            params = self._decode(line).params
        except (msgspec.DecodeError, RecursionError):
            cut = _decode_cut(line)
            if cut is None:
                return False
            params = cut.params
        chunk = params.update
        parent = None if chunk.meta is None else parent_hint({"_meta": chunk.meta})
        self.add(params.session_id, chunk.kind, chunk.message_id, parent, chunk.content.text)
        return True

    def take_all(self, lines: list[bytes]) -> bool:
        """Consume the lines of one read if each is a plain text chunk, else none of them."""
        if _MARK not in lines[0] or _MARK not in lines[-1]:
            return False
        for line in lines:
            if not (line.startswith(b"{") and line.endswith(b"}")):
                return False
        try:
            decoded = self._decode_all(b"[%b]" % b",".join(lines))
        except (msgspec.DecodeError, RecursionError):
            return False
        if len(decoded) != len(lines):
            return False
        for each in decoded:
            params = each.params
            chunk = params.update
            parent = None if chunk.meta is None else parent_hint({"_meta": chunk.meta})
            self.add(params.session_id, chunk.kind, chunk.message_id, parent, chunk.content.text)
        return True

    def add(self, session_id: str, kind: str, message_id: str | None, parent: str | None, text: str) -> None:
        """Append one text; another session, kind, message or parent ends the run before it."""
        key = (session_id, kind, message_id, parent)
        if key != self._key:
            self.flush()
            self._key = key
        self._texts.append(text)

    def flush(self, *, more_to_come: bool = False) -> None:
        """Emit the run. With `more_to_come` (the end of a read) half an emoji is held back."""
        key = self._key
        if key is None:
            return
        text = self._texts[0] if len(self._texts) == 1 else "".join(self._texts)
        self._texts = []
        held = ""
        if not text.isascii():
            text, held = _whole(text, more_to_come)
        if held:
            self._texts.append(held)
        else:
            self._key = None
        if text or not held:
            self._emit(key[0], _event(key, text))


def _decode_cut(line: bytes) -> _Line | None:
    """A chunk that msgspec refuses because its text was cut inside a surrogate pair."""
    if _SURROGATE.search(line) is None:
        return None
    try:
        return msgspec.convert(json.loads(line), _Line)
    except (ValueError, RecursionError):
        return None


def _whole(text: str, more_to_come: bool) -> tuple[str, str]:
    """`text` with surrogate pairs joined and lone ones replaced, and a trailing high one to hold back."""
    try:
        text.encode()
    except UnicodeEncodeError:
        held = text[-1] if more_to_come and "\ud800" <= text[-1] <= "\udbff" else ""
        whole = text[: len(text) - len(held)].encode("utf-16-le", "surrogatepass")
        return whole.decode("utf-16-le", "replace"), held
    return text, ""


def _event(key: tuple[str, str, str | None, str | None], text: str) -> AnyEvent:
    _, kind, message_id, parent = key
    if kind == "agent_thought_chunk":
        return ThoughtChunk(text=text, message_id=message_id, parent=parent)
    role: Literal["user", "agent"] = "user" if kind == "user_message_chunk" else "agent"
    return MessageChunk(role=role, text=text, message_id=message_id, parent=parent)
