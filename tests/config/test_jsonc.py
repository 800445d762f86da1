import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_bridge.config.jsonc import JsonError, decode

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(json_values, st.sampled_from([None, 1, 2]))
def test_plain_json_is_read_as_it_is(value, indent):
    assert decode(json.dumps(value, indent=indent).encode()).value == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1,}', {"a": 1}),
        ("[1, 2, ]", [1, 2]),
        ("[[1,],]", [[1]]),
        ('{"a": [1,\n // last\n ], /* and */ }', {"a": [1]}),
        (
            '// head\n{"a": "x // no comment, }", "b": "/* nor */ ,]"}',
            {"a": "x // no comment, }", "b": "/* nor */ ,]"},
        ),
        ('{"a": "quote \\" , ]",}', {"a": 'quote " , ]'}),
        ('{"a": true, // why\n}', {"a": True}),
        ("\ufeff[]", []),
        ('[""]', [""]),
        ("/* über */ [1] // end", [1]),
        ("[1] /* never closed", [1]),
        ('["\\ud800"]', ["\ud800"]),
    ],
)
def test_comments_and_trailing_commas(text, value):
    assert decode(text.encode()).value == value


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (b"", "line 1, column 1"),
        (b'{\n  "a" 1\n}', "line 2, column 7"),
        (b"[1,,2]", "line 1, column 4"),
        (b"[,]", "line 1, column 2"),
        (b"{,}", "line 1, column 2"),
        (b"/* c\n c */ [1,\n/* d */ oops]", "line 3, column 9"),
        (b'{"a": 1} {"b": 2}', "line 1, column 10"),
        (b'["ok",\n "\xff"]', "line 2, column 3"),
        (b"hello", "line 1, column 1"),
        (b'{"a": "open', "line 1, column 7"),
        (b"[NaN]", "NaN"),
        (b"[" * 200_000, "too deeply"),
        (b"[" + b"9" * 5000 + b"]", "digits"),
    ],
)
def test_what_is_no_json_says_where(text, where):
    with pytest.raises(JsonError, match=where):
        decode(text)


def test_the_first_of_two_equal_keys_counts():
    decoded = decode(b'{"a": {"x": 1, "x": 2}, "b": 3, "a": 4}')
    assert decoded.value == {"a": {"x": 1}, "b": 3}
    assert decoded.repeated == ["x", "a"]
