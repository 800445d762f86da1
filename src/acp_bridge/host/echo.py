"""Some agents repeat the user's prompt as they take it. `Echo` tells such a repetition from real news."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


class Echo:
    """Knows the prompt of the running turn and swallows its parts in order, however they are cut."""

    def __init__(self) -> None:
        self._text = ""
        self._others: list[Json] = []

    def expect(self, blocks: list[Json]) -> None:
        """A turn with this prompt begins (an empty list: none runs)."""
        self._text = "".join(block.get("text", "") for block in blocks if block.get("type") == "text")
        self._others = [block for block in blocks if block.get("type") != "text"]

    def swallows(self, block: Json) -> bool:
        """Whether this user block repeats a part of the prompt that has not been repeated yet."""
        if block.get("type") != "text":
            same = [other for other in self._others if other.get("type") == block.get("type")]
            if not same:
                return False
            self._others.remove(same[0])
            return True
        text = block.get("text", "")
        if not text.strip():
            return True
        at = self._text.find(text)
        if at < 0:
            return False
        self._text = self._text[at + len(text) :]
        return True
