"""What a UI does with thread ops, written from docs/editor-protocol.md alone: the judge of Delta."""

from __future__ import annotations

import copy
from typing import Any

Json = dict[str, Any]


def apply_ops(entries: list[Json], ops: list[Json]) -> list[Json]:
    """The entries after the ops; asserts that each op can be applied."""
    entries = copy.deepcopy(entries)
    for op in ops:
        ids = [entry["id"] for entry in entries]
        if op["op"] == "put":
            entry = copy.deepcopy(op["entry"])
            if entry["id"] in ids:
                entries[ids.index(entry["id"])] = entry
            elif "after" not in op:
                entries.append(entry)
            else:
                entries.insert(0 if op["after"] is None else ids.index(op["after"]) + 1, entry)
        elif op["op"] == "append":
            entry = entries[ids.index(op["id"])]
            entry[op["field"]] = entry.get(op["field"], "") + op["text"]
        elif op["op"] == "patch":
            entry = entries[ids.index(op["id"])]
            for key, value in op["set"].items():
                if value is None:
                    entry.pop(key, None)
                else:
                    entry[key] = value
        elif op["op"] == "remove":
            del entries[ids.index(op["id"])]
        else:
            raise AssertionError(op)
    return entries
