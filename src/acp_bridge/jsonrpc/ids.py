"""A table keyed by JSON-RPC ids, forgiving about how the other side writes them."""

from __future__ import annotations

import re
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_NUMBER = re.compile(r"-?[0-9]{1,19}")


class IdTable(Generic[T]):
    """Entries by id. An id is matched by type and value, then by text: "1" finds 1 where no "1" is.

    1.0 is 1, as in JSON; true, null, lists and objects match themselves alone.
    """

    def __init__(self) -> None:
        self._entries: dict[int | str, T] = {}

    def __setitem__(self, message_id: Any, entry: T) -> None:
        self._entries[_key(message_id)] = entry

    def find(self, message_id: Any) -> T | None:
        """The entry, None if there is none."""
        key = self._matching(message_id)
        return None if key is None else self._entries[key]

    def take(self, message_id: Any) -> T | None:
        """Remove and return the entry, None if there is none."""
        key = self._matching(message_id)
        return None if key is None else self._entries.pop(key)

    def discard(self, message_id: Any, entry: T) -> None:
        """Remove the entry unless another one has taken its id."""
        key = _key(message_id)
        if self._entries.get(key) is entry:
            del self._entries[key]

    def take_all(self) -> list[T]:
        """Empty the table; the entries in the order in which they came."""
        entries = list(self._entries.values())
        self._entries.clear()
        return entries

    def _matching(self, message_id: Any) -> int | str | None:
        key = _key(message_id)
        if key in self._entries:
            return key
        if isinstance(key, int):
            return str(key) if str(key) in self._entries else None
        number = int(key) if _NUMBER.fullmatch(key) else None
        return number if number in self._entries else None


def _key(message_id: Any) -> int | str:
    if isinstance(message_id, float) and message_id.is_integer():
        return int(message_id)
    return message_id if type(message_id) in (int, str) else f"\0{message_id!r}"
