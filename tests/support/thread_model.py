"""A thread rebuilt from `acp/thread/changed` alone, by the editor protocol; nothing of acp_bridge."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


class ThreadModel:
    """`entries` in order. Strict: a gap, a foreign epoch or an op on an unknown entry raises."""

    def __init__(self, epoch: str, rev: int, entries: list[Json]) -> None:
        self.epoch = epoch
        self.rev = rev
        self.entries = entries

    @classmethod
    def of(cls, thread: Json) -> ThreadModel:
        """From the `thread` of `acp/session/new` or the result of `acp/thread/get`."""
        return cls(thread["epoch"], thread["rev"], [dict(e) for e in thread["entries"]])

    def changed(self, params: Json) -> None:
        """Apply one `acp/thread/changed`."""
        assert params["epoch"] == self.epoch, f"epoch {params['epoch']} where {self.epoch} was known"
        if params["rev"] <= self.rev:
            return
        assert params["fromRev"] <= self.rev, f"a gap: {params['fromRev']} after {self.rev}"
        for op in params["ops"]:
            self.apply(op)
        self.rev = params["rev"]

    def apply(self, op: Json) -> None:
        match op["op"]:
            case "put":
                self._put(op)
            case "append":
                entry = self.entry(op["id"])
                entry[op["field"]] = entry.get(op["field"], "") + op["text"]
            case "patch":
                self._patch(op)
            case "remove":
                self.entries.remove(self.entry(op["id"]))
            case other:
                raise AssertionError(f"an op nobody knows: {other}")

    def entry(self, entry_id: str) -> Json:
        for entry in reversed(self.entries):
            if entry["id"] == entry_id:
                return entry
        raise AssertionError(f"an op on an entry that does not exist: {entry_id}")

    def _put(self, op: Json) -> None:
        entry = dict(op["entry"])
        at = next((i for i, e in enumerate(self.entries) if e["id"] == entry["id"]), None)
        if "after" not in op and at is not None:
            self.entries[at] = entry
            return
        if at is not None:
            del self.entries[at]
        if "after" not in op:
            self.entries.append(entry)
        elif op["after"] is None:
            self.entries.insert(0, entry)
        else:
            self.entries.insert(self.entries.index(self.entry(op["after"])) + 1, entry)

    def _patch(self, op: Json) -> None:
        entry = self.entry(op["id"])
        for name, value in op["set"].items():
            if value is None:
                entry.pop(name, None)
            else:
                entry[name] = value
