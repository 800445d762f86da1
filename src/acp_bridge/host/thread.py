"""The thread: the entries of one conversation, their revisions, and what changed since any of them.

Guarantees
- Every change raises `rev` by one. `Delta` turns any span of revisions into the fewest ops that lead from the
  one state to the other; the same mechanism serves each flush, a UI that fell behind, and `acp/thread/get`.
- Ops carry no copies until they are asked for: text lives once, as UTF-8, in its entry.
"""

from __future__ import annotations

import re
import secrets
import uuid
from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec

from acp_bridge.host.errors import HostError
from acp_bridge.host.ids import series
from acp_bridge.jsonrpc.messages import dumps

Json = dict[str, Any]

TEXT_FIELDS = ("text", "output")
LOG_LENGTH = 4096
PIECE = 65536
"""A text of more bytes than this is long."""

Render = Callable[[bytearray, int], Any]
"""How a growing text, from a byte on, is put into a JSON value."""

_PLACE = secrets.token_hex(16).encode()


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _plain(buffer: bytearray, start: int) -> str:
    return bytes(memoryview(buffer)[start:]).decode()


class _LongTexts:
    """Keeps long texts out of a JSON value while it is encoded, and puts them into its bytes afterwards, in
    pieces: they are held once, and never as Python characters, which may take four times the room."""

    def __init__(self) -> None:
        self._texts: list[list[bytes]] = []

    def __call__(self, buffer: bytearray, start: int) -> str | msgspec.Raw:
        """The text as a JSON value: itself if it is short, else its place."""
        if len(buffer) - start <= PIECE:
            return _plain(buffer, start)
        self._texts.append(_pieces(buffer, start))
        return msgspec.Raw(b'"%b-%d"' % (_PLACE, len(self._texts) - 1))

    def parts(self, body: bytes) -> list[bytes]:
        """The encoded value with the texts in their places."""
        if not self._texts:
            return [body]
        parts = re.split(rb'"%b-(\d+)"' % _PLACE, body)
        for index in range(len(parts) - 2, 0, -2):
            parts[index : index + 1] = [b'"', *self._texts[int(parts[index])], b'"']
        return parts


def _pieces(buffer: bytearray, start: int) -> list[bytes]:
    """The text from byte `start` on as the inside of a JSON string, cut between characters."""
    pieces = []
    while start < len(buffer):
        end = min(start + PIECE, len(buffer))
        while end < len(buffer) and buffer[end] & 0xC0 == 0x80:
            end -= 1
        pieces.append(dumps(bytes(memoryview(buffer)[start:end]).decode())[1:-1])
        start = end
    return pieces


class Entry:
    """One row: `fields` are JSON values in wire spelling, `texts` the growing ones."""

    __slots__ = ("fields", "id", "kind", "parent", "texts", "turn_id")

    def __init__(
        self,
        entry_id: str,
        kind: str,
        turn_id: str | None,
        parent: str | None,
        fields: Json,
        text_field: str | None,
    ) -> None:
        self.id = entry_id
        self.kind = kind
        self.turn_id = turn_id
        self.parent = parent
        self.texts: dict[str, bytearray] = {}
        self.fields = fields
        for name in TEXT_FIELDS:
            if name in fields:
                self.texts[name] = bytearray(_encode(fields.pop(name)))
        if text_field is not None:
            self.texts.setdefault(text_field, bytearray())

    def text(self, field: str = "text", start: int = 0) -> str:
        """The text of a field from byte `start` on; "" where there is none."""
        buffer = self.texts.get(field)
        return bytes(memoryview(buffer)[start:]).decode() if buffer else ""

    def value(self, field: str) -> Any:
        """The JSON value of a field, None if it has none."""
        return self.text(field) if field in self.texts else self.fields.get(field)

    def as_json(self, render: Render = _plain) -> Json:
        """The entry as `{id, kind, turnId, parent?, …}`, its growing texts as `render` puts them."""
        head: Json = {"id": self.id, "kind": self.kind, "turnId": self.turn_id}
        if self.parent is not None:
            head["parent"] = self.parent
        head.update(self.fields)
        for name, buffer in self.texts.items():
            head[name] = render(buffer, 0)
        return head


class _Touch:
    """What happened to one entry within a delta."""

    __slots__ = ("created", "fields", "starts")

    def __init__(self, created: bool) -> None:
        self.created = created
        self.fields: dict[str, None] = {}
        self.starts: dict[str, int] = {}


class Delta:
    """What changed in a thread since `from_rev`, gathered as it happens, put into ops when asked."""

    def __init__(self, thread: Thread) -> None:
        self.thread = thread
        self.from_rev = thread.rev
        self.pending = 0
        self._touched: dict[str, _Touch] = {}
        self._removed: dict[str, None] = {}

    def __bool__(self) -> bool:
        return self.from_rev != self.thread.rev

    def reset(self) -> None:
        """Forget: everything up to the thread's `rev` has been delivered."""
        self.from_rev = self.thread.rev
        self.pending = 0
        self._touched.clear()
        self._removed.clear()

    def note_put(self, entry_id: str) -> None:
        self._touched[entry_id] = _Touch(created=True)
        self.pending += 256

    def note_append(self, entry_id: str, field: str, start: int, size: int) -> None:
        self.pending += size
        touch = self._touched.get(entry_id)
        if touch is None:
            touch = self._touched[entry_id] = _Touch(created=False)
        if not touch.created and field not in touch.fields:
            touch.starts.setdefault(field, start)

    def note_patch(self, entry_id: str, fields: Any) -> None:
        self.pending += 256
        touch = self._touched.get(entry_id)
        if touch is None:
            touch = self._touched[entry_id] = _Touch(created=False)
        if touch.created:
            return
        for field in fields:
            touch.fields[field] = None
            touch.starts.pop(field, None)

    def note_remove(self, entry_id: str) -> None:
        touch = self._touched.pop(entry_id, None)
        if touch is None or not touch.created:
            self._removed[entry_id] = None

    def ops(self, render: Render = _plain) -> list[Json]:
        """The ops, in an order in which they can be applied; `render` as in `Entry.as_json`."""
        ops: list[Json] = [{"op": "remove", "id": entry_id} for entry_id in self._removed]
        for entry_id, touch in self._touched.items():
            if touch.created:
                continue
            entry = self.thread.entry(entry_id)
            if touch.fields:
                changed = {field: entry.value(field) for field in touch.fields}
                ops.append({"op": "patch", "id": entry_id, "set": changed})
            for field, start in touch.starts.items():
                buffer = entry.texts[field]
                text = render(buffer, start)
                ops.append({"op": "append", "id": entry_id, "field": field, "text": text})
        return ops + self._puts(render)

    def _puts(self, render: Render) -> list[Json]:
        created = {entry_id for entry_id, touch in self._touched.items() if touch.created}
        if not created:
            return []
        order = self.thread.order
        first_of_tail = len(order)
        while first_of_tail and order[first_of_tail - 1] in created:
            first_of_tail -= 1
        ops: list[Json] = []
        if len(created) > len(order) - first_of_tail:
            for index, entry_id in enumerate(order[:first_of_tail]):
                if entry_id in created:
                    after = order[index - 1] if index else None
                    entry = self.thread.entry(entry_id).as_json(render)
                    ops.append({"op": "put", "entry": entry, "after": after})
        ops += [{"op": "put", "entry": self.thread.entry(i).as_json(render)} for i in order[first_of_tail:]]
        return ops

    def encoded(self) -> list[bytes]:
        """`message()` as JSON, in parts: a long text is neither copied nor ever held as Python characters."""
        texts = _LongTexts()
        return texts.parts(dumps(self.message(texts)))

    def message(self, render: Render = _plain) -> Json:
        """The params of `acp/thread/changed`; `render` as in `Entry.as_json`."""
        thread = self.thread
        return {
            "sessionId": thread.session_id,
            "epoch": thread.epoch,
            "fromRev": self.from_rev,
            "rev": thread.rev,
            "ops": self.ops(render),
        }


class Thread:
    """The entries in order; every mutator raises `rev` and tells the deltas that watch."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.epoch = uuid.uuid4().hex[:16]
        self.rev = 0
        self.order: list[str] = []
        self._entries: dict[str, Entry] = {}
        self._watchers: list[Delta] = []
        self._log: deque[tuple[int, str, str, Any, int]] = deque(maxlen=LOG_LENGTH)
        self._mint = series("ent")

    def __contains__(self, entry_id: str) -> bool:
        return entry_id in self._entries

    def entry(self, entry_id: str) -> Entry:
        """The entry of that id; KeyError if there is none."""
        return self._entries[entry_id]

    def entries(self) -> list[Json]:
        """Every entry as JSON, in order."""
        return [self._entries[entry_id].as_json() for entry_id in self.order]

    def watch(self) -> Delta:
        """A delta that gathers from now on, until `unwatch`."""
        delta = Delta(self)
        self._watchers.append(delta)
        return delta

    def unwatch(self, delta: Delta) -> None:
        if delta in self._watchers:
            self._watchers.remove(delta)

    def put(
        self,
        kind: str,
        fields: Json,
        *,
        turn_id: str | None,
        parent: str | None = None,
        text_field: str | None = None,
        after: str | None = None,
    ) -> Entry:
        """Add an entry at the end, or directly behind `after`; returns it."""
        entry = Entry(self._mint(), kind, turn_id, parent, fields, text_field)
        self._entries[entry.id] = entry
        if after is None:
            self.order.append(entry.id)
        else:
            self.order.insert(self.order.index(after) + 1, entry.id)
        self.rev += 1
        self._log.append((self.rev, "put", entry.id, None, 0))
        for watcher in self._watchers:
            watcher.note_put(entry.id)
        return entry

    def append(self, entry: Entry, field: str, text: str) -> None:
        """Append text to a text field (an absent one starts empty)."""
        data = _encode(text)
        buffer = entry.texts.get(field)
        if buffer is None:
            buffer = entry.texts[field] = bytearray()
        start = len(buffer)
        buffer += data
        self.rev += 1
        self._log.append((self.rev, "append", entry.id, field, start))
        for watcher in self._watchers:
            watcher.note_append(entry.id, field, start, len(data))

    def patch(self, entry: Entry, changes: Json) -> None:
        """Set whole top-level fields (None clears); does nothing where nothing differs."""
        changed = {key: value for key, value in changes.items() if entry.value(key) != value}
        if not changed:
            return
        for key, value in changed.items():
            if key in TEXT_FIELDS:
                entry.texts[key] = bytearray(_encode(value or ""))
            elif value is None:
                entry.fields.pop(key, None)
            else:
                entry.fields[key] = value
        self.rev += 1
        keys = tuple(changed)
        self._log.append((self.rev, "patch", entry.id, keys, 0))
        for watcher in self._watchers:
            watcher.note_patch(entry.id, keys)

    def remove(self, entry: Entry) -> None:
        """Take an entry out."""
        del self._entries[entry.id]
        self.order.remove(entry.id)
        self.rev += 1
        self._log.append((self.rev, "remove", entry.id, None, 0))
        for watcher in self._watchers:
            watcher.note_remove(entry.id)

    def get(
        self,
        epoch: str | None = None,
        since_rev: int | None = None,
        before: str | None = None,
        limit: int = 200,
    ) -> Json:
        """The result of `acp/thread/get`: `{epoch, rev, ops}` if the log reaches back to `since_rev`, else
        `{epoch, rev, entries, prevCursor?}` with the newest `limit` entries (those older than the cursor
        `before`, if given). Raises HostError badParam for a bad limit or cursor."""
        if limit < 1:
            raise HostError("badParam", f"limit must be at least 1, not {limit}", param="limit")
        if before is None and since_rev is not None and epoch == self.epoch:
            delta = self._since(since_rev)
            if delta is not None:
                return {"epoch": self.epoch, "rev": self.rev, "ops": delta.ops()}
        end = len(self.order)
        if before is not None:
            if before not in self._entries:
                hint = "fetch the thread again without a cursor"
                raise HostError("badParam", f"unknown cursor {before!r}", hint, param="before")
            end = self.order.index(before)
        start = max(0, end - limit)
        page: Json = {
            "epoch": self.epoch,
            "rev": self.rev,
            "entries": [self._entries[entry_id].as_json() for entry_id in self.order[start:end]],
        }
        if start > 0:
            page["prevCursor"] = self.order[start]
        return page

    def _since(self, rev: int) -> Delta | None:
        reaches = not self._log or self._log[0][0] <= rev + 1
        if rev > self.rev or rev < 0 or not (reaches or rev == self.rev):
            return None
        delta = Delta(self)
        for number, op, entry_id, detail, start in self._log:
            if number <= rev:
                continue
            if op == "put":
                delta.note_put(entry_id)
            elif op == "append":
                delta.note_append(entry_id, detail, start, 0)
            elif op == "patch":
                delta.note_patch(entry_id, detail)
            else:
                delta.note_remove(entry_id)
        return delta
