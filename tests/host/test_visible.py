"""What a person decides on holds nothing that cannot be seen."""

from __future__ import annotations

import sys
import unicodedata

from acp_bridge.host.visible import visible


def test_every_character_that_only_formats_is_made_visible() -> None:
    kinds = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    hidden = [chr(n) for n in range(sys.maxunicode + 1) if unicodedata.category(chr(n)) in kinds]
    assert [c for c in hidden if visible(c) == c] == ["\t", "\n"]
    assert visible("a\r\nb é 漢 👩") == "a\r\nb é 漢 👩"


def test_hidden_characters_are_made_visible() -> None:
    assert visible("a\u2800b\rc") == "a<U+2800>b<U+000D>c"
    assert visible("a\u202eb\x1b[0m\u200b\ttab\nline") == "a<U+202E>b<U+001B>[0m<U+200B>\ttab\nline"
