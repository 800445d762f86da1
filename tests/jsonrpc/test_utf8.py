"""valid_utf8: short and long bodies alike, wherever the malformed part lies."""

from __future__ import annotations

import pytest

from acp_bridge.jsonrpc.utf8 import valid_utf8

LONG = 3 << 20


@pytest.mark.parametrize("padding", [0, LONG], ids=["short", "long"])
@pytest.mark.parametrize(
    ("bad", "good"),
    [
        (b"\xff", "\ufffd"),
        (b"\xe2\x82", "\ufffd"),
        (b"\xed\xa0\xbd", "\ufffd\ufffd\ufffd"),
        (b"\xc0\x80", "\ufffd\ufffd"),
    ],
)
def test_malformed_parts_are_replaced(bad: bytes, good: str, padding: int) -> None:
    pad = b"x" * padding
    for before, after in ((b"", pad), (pad, b""), (pad, pad)):
        assert valid_utf8(before + bad + after) == before + good.encode() + after


def test_a_character_across_the_pieces_of_a_long_body_is_whole() -> None:
    for shift in range(4):
        body = b"x" * shift + "🎉".encode() * (LONG // 4)
        assert valid_utf8(body) is body
