"""Positions of LSP in a text: to offsets and back, incremental changes, the smallest edit between two texts.

Sans I/O. Offsets count code points of a Python string; lines end with LF, CRLF or CR (LSP 3.17, text
documents); characters are counted in the negotiated encoding. What lies outside the text is clamped to it.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

Encoding = Literal["utf-8", "utf-16", "utf-32"]
Json = dict[str, Any]


class Change(NamedTuple):
    """`text` stands where `start` to `end` (offsets into the text before) stood."""

    start: int
    end: int
    text: str

    def apply(self, before: str) -> str:
        """The text after."""
        return before[: self.start] + self.text + before[self.end :]


def offset_of(text: str, position: Json, encoding: Encoding) -> int:
    """The offset of an LSP position. Raises KeyError or TypeError if it is no position."""
    line, character = position["line"], position["character"]
    if not isinstance(line, int) or not isinstance(character, int):
        raise TypeError(f"not a position: {position!r}")
    start = _line_start(text, line)
    content = text[start : _line_end(text, start)]
    return start + _index(content, max(character, 0), encoding)


def position_of(text: str, offset: int, encoding: Encoding) -> Json:
    """The LSP position of an offset."""
    if "\r" not in text:
        start = text.rfind("\n", 0, offset) + 1
        return {"line": text.count("\n", 0, start), "character": _units(text[start:offset], encoding)}
    line, start = 0, 0
    while (following := _next_line(text, start)) is not None and following <= offset:
        line, start = line + 1, following
    return {"line": line, "character": _units(text[start:offset], encoding)}


def range_of(text: str, start: int, end: int, encoding: Encoding) -> Json:
    """The LSP range between two offsets."""
    return {"start": position_of(text, start, encoding), "end": position_of(text, end, encoding)}


def apply_changes(text: str, changes: list[Json], encoding: Encoding) -> tuple[str, list[Change]]:
    """The text after `contentChanges` of a didChange, and what they were as offsets, one after the other.

    Raises KeyError, TypeError or ValueError if they make no sense; nothing is half applied.
    """
    applied: list[Change] = []
    for change in changes:
        new_text = change["text"]
        if not isinstance(new_text, str):
            raise TypeError("the text of a change is no string")
        where = change.get("range")
        start, end = 0, len(text)
        if where is not None:
            start = offset_of(text, where["start"], encoding)
            end = offset_of(text, where["end"], encoding)
        if start > end:
            raise ValueError("the range of a change ends before it starts")
        done = Change(start, end, new_text) if where is not None else minimal_change(text, new_text)
        applied.append(done)
        text = done.apply(text)
    return text, applied


def minimal_change(old: str, new: str) -> Change:
    """The one replacement that leads from `old` to `new`; it never cuts a CRLF in two."""
    limit = min(len(old), len(new))
    start = _common(old, new, limit)
    if 0 < start < max(len(old), len(new)) and old[start - 1] == "\r":
        start -= 1
    tail = _common_tail(old, new, limit - start)
    if (
        tail
        and old[len(old) - tail] == "\n"
        and "\r" in (old[len(old) - tail - 1 : len(old) - tail], new[len(new) - tail - 1 : len(new) - tail])
    ):
        tail -= 1
    return Change(start, len(old) - tail, new[start : len(new) - tail])


def same_lines(one: str, other: str) -> bool:
    """Equal but for the kind of line ends, and one final line end an editor may add or hide."""
    return one == other or _plain(one) == _plain(other)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")


def _common(old: str, new: str, limit: int) -> int:
    low, high = 0, limit
    if old[:limit] == new[:limit]:
        return limit
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_tail(old: str, new: str, limit: int) -> int:
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]:
            low = middle
        else:
            high = middle - 1
    return low


def _next_line(text: str, start: int) -> int | None:
    feed = text.find("\n", start)
    back = text.find("\r", start, feed if feed >= 0 else len(text))
    if back >= 0:
        return back + 2 if back + 1 == feed else back + 1
    return feed + 1 if feed >= 0 else None


def _line_start(text: str, line: int) -> int:
    start = 0
    for _ in range(line):
        following = _next_line(text, start)
        if following is None:
            return len(text)
        start = following
    return start


def _line_end(text: str, start: int) -> int:
    following = _next_line(text, start)
    if following is None:
        return len(text)
    return following - 2 if text[following - 2 : following] == "\r\n" else following - 1


def _width(char: str, encoding: Encoding) -> int:
    code = ord(char)
    if encoding == "utf-16":
        return 2 if code > 0xFFFF else 1
    return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4


def _units(content: str, encoding: Encoding) -> int:
    if encoding == "utf-32" or content.isascii():
        return len(content)
    return sum(_width(char, encoding) for char in content)


def _index(content: str, units: int, encoding: Encoding) -> int:
    if encoding == "utf-32" or content.isascii():
        return min(units, len(content))
    seen = 0
    for index, char in enumerate(content):
        seen += _width(char, encoding)
        if seen > units:
            return index
    return len(content)
