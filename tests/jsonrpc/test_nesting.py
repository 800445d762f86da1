"""The depth of a JSON text: exact, deaf to strings, and quick whatever the text."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_bridge.jsonrpc.nesting import LIMIT, too_deep

VALUES = st.recursive(
    st.text(alphabet='[]{}"\\ab') | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet='[{"\\'), inner, max_size=3),
)


def depth(value: Any) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


@given(VALUES)
def test_it_is_the_depth_of_the_value(value: Any) -> None:
    body = json.dumps(value).encode()
    assert not too_deep(body, depth(value))
    assert depth(value) == 0 or too_deep(body, depth(value) - 1)


@pytest.mark.parametrize("pair", [b"[]", b"{}"])
def test_the_limit_itself_is_allowed(pair: bytes) -> None:
    assert not too_deep(pair[:1] * LIMIT + pair[1:] * LIMIT)
    assert too_deep(pair[:1] * (LIMIT + 1) + pair[1:] * (LIMIT + 1))


@pytest.mark.parametrize(
    "body", [b'"' * 10**6 + b"[" * 300, b'\\"' * 10**6 + b"[" * 300, b"[]" * 10**6, b"[" * 10**7]
)
def test_no_text_takes_long(body: bytes) -> None:
    begin = time.monotonic()
    too_deep(body)
    assert time.monotonic() - begin < 10
